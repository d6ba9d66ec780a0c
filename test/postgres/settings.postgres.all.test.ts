/** Databases whose owner has changed what statements mean by default. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { openStore } from "../../src/store/open.ts";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { transact, transactionModes } from "../../src/store/postgres/connection/transaction.ts";
import { declaration } from "../store/contract/fixture.ts";
import { until } from "../until.ts";
import { databaseFor, openDatabase, query } from "./databases.ts";
import { create, serveOn } from "./served.ts";

const unusual = [
  "standard_conforming_strings to off",
  "escape_string_warning to off",
  "default_transaction_isolation to 'serializable'",
  "extra_float_digits to -15",
  `"DateStyle" to 'SQL, DMY'`,
  "transform_null_equals to on",
  "quote_all_identifiers to on",
  "statement_timeout to 1000",
];

async function openUnusual(t: TestContext): Promise<string> {
  const url = await databaseFor(t);
  const name = new URL(url).pathname.slice(1);
  for (const setting of unusual) await query(url, `alter database ${name} set ${setting}`);
  return url;
}

test("no name of an attribute is anything but a name, whatever a backslash is to the database", async (t) => {
  const { ask } = await serveOn(t, await openUnusual(t));
  const names = ["\\", "a\\", "\\'", "\\' or 1=1 --", "b\\\\' is null) or (true", "'", "''"];
  for (const [n, name] of names.entries()) {
    assert.equal((await ask("POST", "things", { [name]: "it", n })).status, 201);
    for (const how of [`${encodeURIComponent(name)}:eq=it`, `${encodeURIComponent(name)}:startsWith=IT`]) {
      const { status, content } = await ask("GET", `things?${how}&sort=-${encodeURIComponent(name)}`);
      assert.equal(status, 200, JSON.stringify(content));
      assert.deepEqual(
        (content as { n: number }[]).map((each) => each.n),
        [n],
        name,
      );
    }
  }
});

test("instances get their integer ids also where the database isolates transactions more than they need", async (t) => {
  const url = await openUnusual(t);
  const stores = await Promise.all([1, 2, 3].map(() => openStore({ kind: "postgres", url })));
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const record = declaration("orders", { idKind: "integer" });
  for (const store of stores) await store.migrate([record]);
  const given: number[] = [];
  const reserve = async (store: (typeof stores)[number]) => {
    for (let n = 0; n < 20; n++) given.push(await store.reserveIds("orders", 1));
  };
  await Promise.all(stores.map(reserve));
  assert.equal(new Set(given).size, 60);
});

test("what may take long is not ended by a timeout that the database gives to all", async (t) => {
  const connections = new Connections({
    url: await openUnusual(t),
    max: 1,
    connectTimeoutMs: 5_000,
    onIdleError() {},
  });
  t.after(() => connections.close());
  for (const begin of [transactionModes.longWrite, transactionModes.snapshot]) {
    const shown = await transact(connections, begin, (transaction) =>
      transaction.run({ sql: "show statement_timeout" }),
    );
    assert.deepEqual(shown.rows, [["0"]]);
  }
});

/** A new user with these rights, who can create tables in an empty database. */
async function makeRole(
  t: TestContext,
  name: string,
  rights = "create, usage",
): Promise<{ url: string; role: string; urlOfRole: string }> {
  const { url, releaseLater } = await openDatabase({ isEmpty: true });
  const role = `holdfast_${name}_${process.pid}`;
  await query(url, `create role ${role} login; grant ${rights} on schema public to ${role}`);
  const asRole = new URL(url);
  asRole.username = role;
  t.after(async () => {
    await query(url, `drop owned by ${role} cascade; drop role ${role}`);
    releaseLater();
  });
  return { url, role, urlOfRole: asRole.href };
}

test("where the database denies a right, reads go on, writes are 503 and readiness warns, until it is granted", async (t) => {
  const { url, role, urlOfRole } = await makeRole(t, "denied");
  const served = await serveOn(t, urlOfRole);
  const id = await create(served, 1);
  const { ask } = served;
  await query(url, `revoke all on schema public from ${role}; grant usage on schema public to ${role}`);
  assert.deepEqual(
    [(await ask("POST", "others", {})).code, (await ask("GET", `things/${id}`)).status],
    ["UNAVAILABLE", 200],
  );
  await create(served, 2);
  const [resources] = (
    await query(url, "select relname from pg_class where relname like 'holdfast_resources__'")
  ).rows as [{ relname: string }];
  await query(url, `revoke insert on ${resources.relname} from ${role}`);
  const denied = await ask("POST", "things", {});
  assert.deepEqual([denied.status, denied.code], [503, "UNAVAILABLE"]);
  assert.equal(((await ask("GET", "/readyz")).content as { status: string }).status, "warn");
  assert.equal((await ask("GET", `things/${id}`)).status, 200);
  await query(url, `grant insert on ${resources.relname} to ${role}`);
  await create(served, 3);
  assert.equal(((await ask("GET", "/readyz")).content as { status: string }).status, "pass");
});

test("a user that may not log in any more makes the service unready, and ends its start with a message", async (t) => {
  const { url, role, urlOfRole } = await makeRole(t, "locked");
  const served = await serveOn(t, urlOfRole);
  const id = await create(served, 1);
  await query(
    url,
    `alter role ${role} nologin; select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
  );
  const { ask } = served;
  await until("nothing works", async () => (await ask("GET", `things/${id}`)).status !== 200);
  assert.equal((await ask("GET", `things/${id}`)).code, "UNAVAILABLE");
  assert.equal((await ask("GET", "/readyz")).status, 503);
  const start = openStore({ kind: "postgres", url: urlOfRole }, { mayWait: true });
  await assert.rejects(
    start,
    (error: unknown) => error instanceof StartError && /log in/.test(error.message),
  );
  await query(url, `alter role ${role} login`);
  await until("it is ready again", async () => (await ask("GET", "/readyz")).status === 200);
  assert.equal((await ask("GET", `things/${id}`)).status, 200);
});

test("a start without the right to make tables ends with a message, and does not wait for it", async (t) => {
  const { urlOfRole } = await makeRole(t, "poor", "usage");
  const start = openStore({ kind: "postgres", url: urlOfRole }, { mayWait: true });
  await assert.rejects(
    start,
    (error: unknown) =>
      error instanceof StartError && /permission denied for schema public/.test(error.message),
  );
});
