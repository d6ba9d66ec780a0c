/** What a configuration can say about consumers, and the faults of one that says something else. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compileConfig, loadConfig } from "../../../src/config.ts";
import { makeFolder } from "../../folder.ts";

const run = () => {};
const schema = {
  type: "object",
  properties: { total: { type: "number" }, state: { type: "string" } },
  additionalProperties: false,
};

async function consumersOf(after: unknown, more: object = {}) {
  const content = { collections: { orders: { schema, after } }, store: "sqlite:store.db", ...more };
  const { code } = await compileConfig(content, makeFolder());
  return code.consumers;
}

test("a consumer needs only a function", async () => {
  assert.deepEqual(await consumersOf({ mail: { run } }), [
    {
      name: "orders/mail",
      collection: "orders",
      member: "mail",
      place: "collections.orders.after.mail.run",
      types: ["created", "updated", "deleted"],
      filter: undefined,
      fields: undefined,
      as: undefined,
      sees: "service",
      timeoutMs: 30_000,
      concurrency: 1,
      from: "now",
      own: false,
    },
  ]);
  const [reader] = await consumersOf({ mail: { run, as: { roles: ["reader"] } } });
  assert.deepEqual(reader?.sees, { roles: ["reader"] });
  const [seeing] = await consumersOf({ mail: { run, as: "service", roles: ["reader"] } });
  assert.deepEqual([seeing?.as, seeing?.sees], ["service", { roles: ["reader"] }]);
});

const at = "collections.orders.after";
const mail = (more: object) => ({ mail: { run, ...more } });

/** Each fault, and what the service says about it. */
const faults: readonly (readonly [after: unknown, text: string])[] = [
  [
    [],
    `${at} must be an object of consumers, such as { mail: { run: async ({ event }) => { … } } }, not [].`,
  ],
  [{}, `${at} has no consumer. Add one, or remove it.`],
  [{ mail: {} }, `${at}.mail.run must be a function, not undefined.`],
  [{ mail: { run: "run" } }, `${at}.mail.run must be a function, not "run".`],
  [
    { "1st": { run } },
    `${at}: "1st" cannot be the name of a consumer. A name is a letter followed by up to 62 letters, digits, "_" or "-".`,
  ],
  [mail({ type: ["created"] }), `${at}.mail.type is not an option. Did you mean "types"?`],
  [mail({ types: ["create"] }), `${at}.mail.types: "create" is no kind of change. Did you mean "created"?`],
  [mail({ types: [] }), `${at}.mail.types must be a list with some of created, updated, deleted, not [].`],
  [mail({ filter: "state" }), `${at}.mail.filter must be a filter, such as { status: "paid" }, not "state".`],
  [
    mail({ filter: { totl: 1 } }),
    `${at}.mail.filter.totl is not an attribute of "orders". Did you mean "total"?`,
  ],
  [mail({ fields: [] }), `${at}.mail.fields must be a list of names of attributes, not [].`],
  [
    mail({ fields: ["total", "-state"] }),
    `${at}.mail.fields names attributes, and leaves out "state". Do one of them.`,
  ],
  [
    mail({ as: { role: "editor" } }),
    `${at}.mail.as must be "service", or an object with roles, such as { roles: ["editor"] }, not {"role":"editor"}.`,
  ],
  [mail({ timeoutMs: 0 }), `${at}.mail.timeoutMs must be a whole number from 1 to 300000, not 0.`],
  [mail({ concurrency: 9 }), `${at}.mail.concurrency must be a whole number from 1 to 8, not 9.`],
  [mail({ from: "begin" }), `${at}.mail.from must be "now" or "start", not "begin".`],
  [mail({ own: 1 }), `${at}.mail.own must be true or false, not 1.`],
];

for (const [after, text] of faults)
  test(`refused: ${text}`, async () => {
    await assert.rejects(consumersOf(after), (error: Error) => {
      assert.equal(error.message, text);
      return true;
    });
  });

test("a service has at most 100 consumers", async () => {
  const after = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, { run }]));
  assert.equal((await consumersOf(after(100))).length, 100);
  await assert.rejects(consumersOf(after(101)), /101 consumers are declared in "after"\. .* at most 100\./);
});

test("consumers need the history", async () => {
  await assert.rejects(consumersOf({ mail: { run } }, { history: "none" }), {
    message: `${at}.mail: a consumer needs the history. Remove history: "none", or the consumer.`,
  });
});

test("a JSON file cannot have consumers", async () => {
  const cwd = makeFolder();
  writeFileSync(
    join(cwd, "holdfast.config.json"),
    JSON.stringify({ collections: { orders: { after: { mail: {} } } } }),
  );
  await assert.rejects(loadConfig({ cwd, flags: {}, env: {} }), {
    message: `holdfast.config.json: ${at}: a JSON file cannot have functions. Write the configuration as holdfast.config.ts: export default defineConfig({ … })`,
  });
});
