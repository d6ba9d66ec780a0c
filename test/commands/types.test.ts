/** `holdfast types`, and what the compiler makes of it. Takes about ten seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder, run } from "./cli.ts";

const configuration = {
  collections: {
    topics: {
      id: "integer",
      schema: {
        type: "object",
        required: ["title", "status"],
        properties: {
          title: { type: "string", description: "What it is\nabout: */ `" },
          status: { enum: ["open", "done"] },
          views: { type: ["integer", "null"], minimum: -1 },
          secret: { type: "string", writeOnly: true },
        },
      },
      defaults: { status: "open" },
      timestamps: true,
    },
    notes: {},
  },
};

const usage = `
import { createClient } from "holdfast-client";
import type { Service } from "./service.d.ts";

const client = createClient<Service>({ baseUrl: "" });
export async function use(): Promise<number | null | undefined> {
  const topic = await client.topics.create({ title: "One", secret: "x" });
  const status: "open" | "done" = topic.status;
  const time: string | undefined = topic.updatedAt;
  await client.notes.create({ anything: [status, time] });
  // @ts-expect-error: nobody can read it
  topic.secret;
  // @ts-expect-error: no such collection
  client.topic;
  // @ts-expect-error: no such operator
  client.topics.list({ filter: { views: { startsWith: "1" } } });
  return (await client.topics.get(1)).views;
}
`;

test("types are written that the client understands", async (t) => {
  const cwd = await folder(t, {
    "holdfast.config.json": JSON.stringify(configuration),
    "package.json": '{"type":"module"}',
    "use.ts": usage,
  });
  const options = {
    paths: { "holdfast-client": [resolve("client/src/index.ts")] },
    typeRoots: [],
    types: [],
  };
  const tsconfig = {
    extends: resolve("client/tsconfig.json"),
    compilerOptions: { ...options, rootDir: "/" },
    include: ["."],
  };
  await writeFile(join(cwd, "tsconfig.json"), JSON.stringify(tsconfig));
  const written = await run(t, ["types", "-o", "service.d.ts"], { cwd });
  assert.deepEqual([written.exitCode, written.stdout, written.stderr], [0, "", ""]);
  const shown = await run(t, ["types"], { cwd });
  assert.equal(shown.stdout, await readFile(join(cwd, "service.d.ts"), "utf8"));
  const tsc = resolve("node_modules/.bin/tsc");
  await promisify(execFile)(tsc, ["--noEmit", "-p", cwd]).catch((error: { stdout: string }) =>
    assert.fail(error.stdout),
  );
});

test("without declared collections any name has any attributes, and what cannot be written is one line", async (t) => {
  const cwd = await folder(t, {});
  const { stdout } = await run(t, ["types"], { cwd });
  assert.match(stdout, /readonly collections: Record<string, object>;/);
  const failed = await run(t, ["types", "-o", "missing/service.d.ts"], { cwd });
  assert.equal(failed.exitCode, 1);
  assert.equal(failed.stderr, "holdfast: missing/service.d.ts cannot be written: its folder is not there.\n");
});
