/** What commands say about consumers, and do with them. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { startFor } from "../../http/service.ts";
import { until } from "../../until.ts";
import { noteCalls } from "./consumers/noted-calls.ts";

const calls = noteCalls();
const configuration = (name: string) =>
  `${calls.source} export default { collections: { orders: { after: { ${name}: { run: noteEvent } } } } };`;

test("check names a consumer that the configuration no longer has", async (t) => {
  const cwd = makeFolder();
  const store = { kind: "sqlite", path: join(cwd, "holdfast.db") } as const;
  const service = await startFor(t, { module: configuration("mail"), store });
  await service.stop();
  writeFileSync(join(cwd, "holdfast.config.js"), configuration("letters"));
  const { exitCode, stdout, stderr } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(
    stdout,
    /^warning: orders\/mail: the store keeps the position of this consumer, and the configuration no longer has it\./m,
  );
  writeFileSync(join(cwd, "holdfast.config.js"), configuration("mail"));
  assert.doesNotMatch((await run(t, ["check"], { cwd })).stdout, /warning: orders/);
});

test("the consumers of a copy are disabled, and say why", async (t) => {
  const cwd = makeFolder();
  const store = { kind: "sqlite", path: join(cwd, "one.db") } as const;
  const service = await startFor(t, { module: configuration("mail"), store });
  await service.stop();
  const copied = await run(
    t,
    ["copy", "--from", "sqlite:one.db", "--to", "sqlite:two.db", "--new-identity"],
    { cwd },
  );
  assert.equal(copied.exitCode, 0, copied.stderr);
  assert.match(copied.stdout + copied.stderr, /disabled 1 consumer/);
  const copy = await startFor(t, {
    module: configuration("mail"),
    store: { ...store, path: join(cwd, "two.db") },
  });
  await copy.create("orders");
  const status = async () =>
    (await copy.send({ path: "/api/v1/_consumers/orders/mail" })).json as { state: string; reason?: string };
  const { state, reason } = await status();
  assert.deepEqual(
    [state, reason],
    ["disabled", "The store is a copy. Enable the consumer to let it handle changes here too."],
  );
  await copy.send({ method: "PATCH", path: "/api/v1/_consumers/orders/mail", content: { enabled: true } });
  await until("it handles the change", () => calls.read().length === 1);
  assert.equal((await status()).state, "active");
});

test("check names a consumer that gets nothing", async (t) => {
  const cwd = makeFolder();
  writeFileSync(
    join(cwd, "holdfast.config.js"),
    `export default { auth: { keys: true }, collections: { orders: {
      access: { read: { role: "reader" }, write: { role: "editor" } },
      after: { mail: { as: { roles: ["raeder"] }, run: () => {} }, list: { as: { roles: ["reader"] }, run: () => {} } },
    } } };`,
  );
  const { stdout } = await run(t, ["check"], { cwd });
  const warnings = stdout.split("\n").filter((line) => line.includes("orders/"));
  assert.deepEqual(warnings, [
    'warning: orders/mail: the consumer gets nothing. Callers with the roles "raeder" cannot read the collection "orders". Give the consumer a role that can, or as: "service"',
  ]);
});
