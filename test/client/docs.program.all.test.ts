/** The examples of the pages about the typed client compile and run. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { serve } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { blocksOf, readPage } from "../pages/markdown.ts";

const configuration = `
import { defineConfig } from "holdfast";
const text = { type: "string" } as const;
export default defineConfig({
  collections: {
    authors: { schema: { type: "object", required: ["name"], properties: { name: text } } },
    articles: {
      schema: {
        type: "object",
        required: ["title"],
        properties: {
          title: text,
          status: { enum: ["draft", "published"] },
          views: { type: "integer" },
          authorId: text,
          author: { type: "object", properties: { name: text } },
        },
      },
      references: { authorId: { collection: "authors", as: "writer" } },
    },
    readers: {
      schema: {
        type: "object",
        required: ["email"],
        properties: { email: { type: "string", maxLength: 200 }, name: text, visits: { type: "integer" } },
      },
      unique: ["email"],
    },
    orders: { after: { mail: { run: () => {} } } },
  },
  jobs: { digest: { cron: "0 7 * * 1", run: () => {} } },
});
`;

/** The guides, and what each prints. */
const guides = {
  "docs/how-to/client.md": /^It is now \{[\s\S]+^articles \S+$/m,
  "client/README.md": /^\S+ Hello\n$/,
};

test("the examples of the guides compile, and run one after the other", async (t) => {
  const cwd = makeFolder({ "package.json": '{"type":"module"}', "holdfast.config.ts": configuration });
  await install(cwd);
  const programs = await Promise.all(
    Object.entries(guides).map(async ([guide, prints], n) => {
      const blocks = blocksOf(readPage(guide)).filter(
        ({ language, about }) => language === "ts" && about === "",
      );
      assert.ok(blocks.length > 0, guide);
      const service = await serve(t, ["--store", `sqlite:guide-${n}.db`], { cwd });
      const code = blocks.map(({ text }) => text).join("\n");
      const file = `guide-${n}.ts`;
      await writeFile(join(cwd, file), code.replaceAll("http://localhost:3000", service.origin));
      return { guide, file, prints };
    }),
  );
  await compile(cwd);
  for (const { guide, file, prints } of programs) {
    const args = ["--conditions=holdfast-source", file];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
    assert.match(stdout, prints, guide);
  }
});

/** The two packages, as a project has them. */
async function install(cwd: string): Promise<void> {
  await mkdir(join(cwd, "node_modules"));
  await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
  await symlink(resolve("client"), join(cwd, "node_modules", "holdfast-client"), "junction");
}

async function compile(cwd: string): Promise<void> {
  const paths = { holdfast: [resolve("src/index.ts")], "holdfast-client": [resolve("client/src/index.ts")] };
  const compilerOptions = {
    paths,
    types: ["node"],
    typeRoots: [resolve("node_modules/@types")],
    rootDir: "/",
  };
  const tsconfig = { extends: resolve("tsconfig.json"), compilerOptions, include: ["."] };
  await writeFile(join(cwd, "tsconfig.json"), JSON.stringify(tsconfig));
  const compiled = promisify(execFile)(resolve("node_modules/.bin/tsc"), ["--noEmit", "-p", cwd]);
  await compiled.catch((error: { stdout: string }) => assert.fail(error.stdout));
}
