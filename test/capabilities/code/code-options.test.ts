import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compileConfig, loadConfig, originOf, remakeConfig } from "../../../src/config.ts";
import { makeFolder } from "../../folder.ts";

/** Reads a configuration with collections, whose source is JavaScript. */
function read(collections: string, { name = "holdfast.config.mjs" } = {}) {
  const cwd = makeFolder();
  const isJson = name.endsWith(".json");
  writeFileSync(
    join(cwd, name),
    isJson ? `{"collections":${collections}}` : `export default { collections: ${collections} };`,
  );
  return loadConfig({ cwd, flags: {}, env: {} });
}

const faults: readonly (readonly [collections: string, message: RegExp])[] = [
  ["{ a: { hooks: {} } }", /holdfast\.config\.mjs: collections\.a\.hooks has neither before nor validate/],
  ["{ a: { hooks: 5 } }", /collections\.a\.hooks must be an object with before or validate, not 5/],
  ["{ a: { hooks: { before: 5 } } }", /collections\.a\.hooks\.before must be a function, not 5/],
  [
    "{ a: { hooks: { before: async () => {} } } }",
    /collections\.a\.hooks\.before is async, but it must be synchronous\. Remove "async"\. To call other services, use a consumer or a route\./,
  ],
  ["{ a: { hooks: { async validate() {} } } }", /collections\.a\.hooks\.validate is async/],
  ['{ a: { hooks: { before: { $function: "x" } } } }', /collections\.a\.hooks\.before must be a function/],
  ["{ a: { hooks: { befor: () => {} } } }", /collections\.a\.hooks\.befor is not an option/],
  [
    "{ a: { hooks: { before: () => {}, with: 5 } } }",
    /collections\.a\.hooks\.with must be a list of at most 10 names/,
  ],
  [
    '{ a: { hooks: { before: () => {}, with: ["b"] } } }',
    /hooks\.with: "b" is not a relation to a single resource.*declare it in references/,
  ],
  [
    '{ a: { references: { bId: "b" }, hooks: { before: () => {}, with: ["b"] } }, b: {} }',
    /hooks\.with: "b" is not a relation to a single resource\. The relation has no name: declare references: \{ "bId": \{ "collection": "b", "as": "b" \} \}/,
  ],
  ["{ a: { hook: { before: () => {} } } }", /collections\.a\.hook is not an option.*|hook.*function/],
  ["{ a: { schema: { default: () => {} } } }", /is a function, which is not a JSON value/],
];

for (const [collections, message] of faults)
  test(`the configuration ${collections} has a fault that names its place`, async () => {
    await assert.rejects(read(collections), message);
  });

test("consumers can be async", async () => {
  const { code } = await read("{ a: { after: { b: { run: async () => {} } } } }");
  assert.equal(code.consumers.length, 1);
});

test("in an application, an async hook is a fault too", async () => {
  await assert.rejects(
    compileConfig({ collections: { a: { hooks: { before: async () => {} } } } }, makeFolder()),
    /collections\.a\.hooks\.before is async/,
  );
});

test("only an application can say which file its workers import", async () => {
  await assert.rejects(
    read('{ a: { hooks: 5 } }, code: { file: "other.mjs" }'),
    /collections\.a\.hooks must be an object.*code\.file is only for an application that embeds the service\. This service imports its own configuration file\. Remove code\.file\./s,
  );
});

test("a JSON file cannot have hooks, and the message says what can", async () => {
  await assert.rejects(
    read('{ "a": { "hooks": { "before": { "$function": "x" } } } }', { name: "holdfast.config.json" }),
    /collections\.a\.hooks: a JSON file cannot have functions\. Write the configuration as holdfast\.config\.ts/,
  );
});

test("the configuration of another thread has the same hooks", async () => {
  const config = await read("{ a: { hooks: { before: () => {} } }, b: {} }");
  const origin = structuredClone(originOf(config));
  const { code } = await remakeConfig(origin);
  assert.deepEqual(code, config.code);
  assert.deepEqual([...code.collections.keys()], ["a"]);
  assert.match(code.module ?? "", /holdfast\.config\.mjs$/);
});
