/** The configurations of the pages are accepted, and the faults of a wrong one are those that the reference shows. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { run } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { blockLike, blocksOf, pageFiles, readPage } from "./markdown.ts";

test("every configuration of the pages is accepted", async () => {
  const start = "export default defineConfig(";
  const found = pageFiles
    .filter((file) => readFileSync(file, "utf8").includes(start))
    .flatMap((file) => blocksOf(readPage(file)))
    .filter(({ text }) => text.includes(start));
  assert.ok(found.length >= 15, `${found.length} configurations`);
  for (const { place, language, text } of found) {
    const import_ = text.includes('from "holdfast"') ? "" : 'import { defineConfig } from "holdfast";\n';
    const cwd = makeFolder({ [`holdfast.config.${language}`]: import_ + text });
    await mkdir(join(cwd, "node_modules"));
    await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
    const { collections } = await loadConfig({ cwd, env: {}, flags: {} });
    assert.equal(collections.size > 0, /collections: (?:\{|withConsumers)/.test(text), place);
  }
});

test("the faults of the configuration reference are those that the command prints", async (t) => {
  const reference = readPage("docs/reference/configuration.md");
  const [command = "", ...lines] = blockLike(reference, /^\$ npx holdfast serve/).text.split("\n");
  const properties = { placedAt: { type: "string", format: "datetime" } };
  const collections = { articles: { id: "uuid4" }, orders: { schema: { type: "object", properties } } };
  const cwd = makeFolder({ "holdfast.config.ts": `export default ${JSON.stringify({ collections })};` });
  const { stderr } = await run(t, command.replace("$ npx holdfast ", "").split(" "), { cwd });
  assert.deepEqual(stderr.trimEnd().split("\n"), lines);
});
