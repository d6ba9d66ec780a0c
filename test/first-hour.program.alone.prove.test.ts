/**
 * The first hour of somebody who has a clone, npm and nothing else: the commands of the README, the examples and the tutorial, as
 * they are written, in a clean clone of the last commit. `npm ci` runs only in `npm run prove first-hour`; otherwise the clone gets
 * the packages of this checkout.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { jsonLines } from "./commands/cli.ts";
import { setUpClone } from "./first-hour/clone.ts";
import { runExamples } from "./first-hour/examples.ts";
import { serve, Terminal } from "./first-hour/terminal.ts";
import { follow } from "./first-hour/tutorial.ts";

test("the first hour in a clean clone", { timeout: 1_200_000 }, async (t) => {
  const clone = await setUpClone(t);
  if ("why" in clone) return t.skip(clone.why);
  const { path, service } = clone;
  const terminal = new Terminal(t, path);
  const readme = readFileSync(join(path, "README.md"), "utf8");
  /** The line of the README's blocks that begins like this. */
  const lineOf = (start: string): string => {
    const found = readme.split("\n").filter((line) => line.trim().startsWith(start));
    assert.equal(found.length, 1, start);
    return found[0]?.trim() ?? "";
  };

  await t.test("the first request of the README is answered", async (t) => {
    const command = lineOf("$ curl").replace("$ ", "").replace("http://127.0.0.1:3000", service.origin);
    const answer = await terminal.type(command);
    assert.match(answer, /^HTTP\/1\.1 201 Created\r?$/m);
    assert.match(answer, /^\{"id":"[^"]+","title":"Hello"\}$/m);
    t.diagnostic(`from the clone to the service: ${clone.seconds.toFixed(0)} s`);
  });

  await t.test("an export has the resources and nothing else", async () => {
    await terminal.type(lineOf("npx holdfast export topics"));
    const [topic, ...others] = jsonLines(await readFile(join(path, "topics.ndjson"), "utf8"));
    assert.equal((topic as { title: string }).title, "Hello");
    assert.deepEqual(others, []);
  });

  await runExamples(t, clone);
  await service.stop();

  await t.test("each import command of the README takes exported data", async () => {
    await mkdir(join(path, "before"));
    // without its lock file, the store is new
    for (const name of ["holdfast.db", "holdfast.db.lock"])
      await rename(join(path, name), join(path, "before", name));
    await terminal.type(lineOf("npx holdfast import topics"));
    await writeFile(join(path, "db.json"), '{"posts":[{"id":1,"title":"One"}]}');
    await terminal.type(lineOf("npx holdfast import db.json"));
    await terminal.type("cat topics.ndjson | npx holdfast import others -");
    assert.match(await terminal.type(lineOf("npx holdfast check")), /everything fits/);
    await terminal.type(lineOf("npx holdfast copy"));
    const copied = await terminal.type("npx holdfast export topics --store sqlite:copy.db");
    assert.equal(`${copied}\n`, await readFile(join(path, "topics.ndjson"), "utf8"));
  });

  await t.test("the README's command makes a key", async () => {
    const [, command = ""] = /`(npx holdfast keys create [^`]+)`/.exec(readme) ?? [];
    assert.match(await terminal.type(command), /^hf_\S+$/m);
  });

  await t.test("the tutorial works as it says", async (t) => {
    const tutorial = await readFile(join(path, "docs/tutorial/first-service.md"), "utf8");
    await follow(t, tutorial, { clone: path, project: join(dirname(path), "blog") });
  });

  await t.test("the command of the README installs the clone in a project", async (t) => {
    const project = new Terminal(t, dirname(path));
    await project.type("mkdir shop && cd shop && npm init -y");
    await project.type(lineOf("npm install ../holdfast"));
    await project.type("export PATH=$PWD/node_modules/holdfast/node_modules/.bin:$PATH");
    assert.match(await project.type("npx holdfast --version"), /^\d+\.\d+\.\d+$/);
    await runReadme(t, readme, { project, path: join(dirname(path), "shop") });
    await project.type("npm install ../holdfast/react-admin");
    const names = ["holdfast", "holdfast-client", "holdfast-react-admin"];
    const program = names.map((name) => `import "${name}"`).join("; ");
    assert.equal(await project.type(`node --input-type=module --eval '${program}'`), "");
  });
});

/** Writes the two programs of the README into a project, and runs them. */
async function runReadme(
  t: TestContext,
  readme: string,
  { project, path }: { project: Terminal; path: string },
): Promise<void> {
  const blocks = [...readme.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms)];
  assert.deepEqual(
    blocks.map(([, name]) => name),
    ["holdfast.config.ts", "titles.ts"],
  );
  const nodeOfTheClone = "export PATH=$PWD/node_modules/holdfast/node_modules/.bin:$PATH";
  await writeFile(join(path, "holdfast.config.ts"), String(blocks[0]?.[2]));
  await writeFile(join(path, "topics.json"), '[{"title":"A winter"},{"title":"A summer"}]');
  await project.type("npm pkg set type=module");
  await project.type("npx holdfast import topics topics.json");
  const service = await serve(t, path, [nodeOfTheClone, "npx holdfast serve"]);
  await writeFile(
    join(path, "titles.ts"),
    String(blocks[1]?.[2]).replace("http://127.0.0.1:3000", service.origin),
  );
  assert.equal(await project.type("node titles.ts"), "A winter");
  await service.stop();
}
