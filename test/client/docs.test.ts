/** The examples of the guide for the typed client compile, one after the other. Takes about five seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder } from "../commands/cli.ts";

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
    },
  },
});
`;

test("the guide for the typed client compiles", async (t) => {
  const guide = await readFile("docs/how-to/client.md", "utf8");
  const code = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text).join("\n");
  const cwd = await folder(t, {
    "package.json": '{"type":"module"}',
    "holdfast.config.ts": configuration,
    "guide.ts": code,
  });
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
});
