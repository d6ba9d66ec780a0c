/** The statements that the service sends are such that a Citus cluster carries them out on one node, as they are meant. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { defaultPageSize } from "../../src/store/core/copy/copy.ts";
import { openStore, type StoreAddress } from "../../src/store/open.ts";
import { makeBusy } from "../copy/busy.ts";
import { observe } from "../copy/observe.ts";
import { askEach, copy } from "../copy/run.ts";
import { openDatabase, query } from "./databases.ts";
import { startOfferingProxy } from "./offering-proxy.ts";

/**
 * The functions behind `||` with an operand that is no text. They are not immutable, and a cluster rebuilds some statements with them
 * wrongly: `'gaps_' || number` became `AND ( IS NOT NULL)`. A cast makes the operator immutable: `'gaps_' || number::text`.
 */
const unstable = "function textanycat(text, anynonarray), anytextcat(anynonarray, text)";

let roles = 0;

/** An empty database whose user cannot call those functions, behind a proxy that notes the statements. */
async function openNoted(
  t: TestContext,
): Promise<{ address: StoreAddress & { kind: "postgres" }; sent: ReadonlySet<string> }> {
  const { url, releaseLater } = await openDatabase({ isEmpty: true });
  const role = `holdfast_statements_${process.pid}_${++roles}`;
  const proxy = await startOfferingProxy(Number(new URL(url).port));
  await query(
    url,
    `create role ${role} login; alter schema public owner to ${role}; revoke execute on ${unstable} from public`,
  );
  t.after(async () => {
    await proxy.close();
    await query(
      url,
      `grant execute on ${unstable} to public; drop owned by ${role} cascade; drop role ${role};
      create schema public`,
    );
    releaseLater();
  });
  const through = new URL(proxy.urlOf(url));
  through.username = role;
  return { address: { kind: "postgres", url: through.href }, sent: proxy.sent };
}

/** In a Citus cluster, such a statement goes through the coordinator: it makes the commit a two-phase commit. */
const insertSelect = /^\s*insert\s+into\s+(\w+)(?:(?!\bvalues\b).)*\bselect\b/is;

/** Words that can stand before a parenthesis, and are no functions. */
const keywords = /^(?:any|coalesce|greatest|in|values|exists|from|as|next|and|or|where|not|select)$/;

/** Functions that are not immutable, in expressions without columns. The coordinator calls them. */
const withoutColumns = /^(?:current_schema|to_regclass)$/;

/**
 * In an UPDATE or DELETE, a cluster refuses functions and casts over columns that are not immutable. PostgreSQL too: in an index. Throws an
 * Error that names the first one.
 */
async function requireImmutable(url: string, sql: string): Promise<void> {
  const functions = [...sql.matchAll(/\b([a-z_]+)\s*\((?!\$)/g)].flatMap(([, name = ""]) =>
    keywords.test(name) || withoutColumns.test(name) ? [] : [name],
  );
  const mutable =
    "select proname from pg_proc where proname = any($1) and provolatile <> 'i' and prokind = 'f'";
  const { rows } = await query(
    url,
    mutable.replace("$1", `'{${functions.filter((name) => !name.startsWith("holdfast_")).join(",")}}'`),
  );
  assert.deepEqual(rows, [], sql);
  for (const [cast = ""] of sql.matchAll(/(?:[a-z_]+\([^()]*\)|\b[a-z_.]+)::[a-z]+(?:\[\])?/g))
    await query(
      url,
      `create temporary table probe (key text, keys text, value bigint, version bigint, number integer);
      create index on probe ((${cast.replaceAll(/\b[a-z]+\./g, "")}))`,
    ).catch((error: Error) => assert.fail(`${error.message}: ${cast} in ${sql}`));
}

test("each statement is carried out on the node of the store, and none has a function that depends on settings", async (t) => {
  const { address, sent } = await openNoted(t);
  await makeBusy(address, 7);
  await (await openStore(address, { history: "none" })).close();
  const withoutHistory = await openStore(address, { history: "none" });
  const { version = 0 } = (await withoutHistory.read({ collection: "long", id: "l1" })) ?? {};
  const change = { key: { collection: "long", id: "l1" }, expect: version, next: '{"id":"l1"}' };
  await withoutHistory.commit({ changes: [change], at: 1 });
  await withoutHistory.close();
  await askEach([address], observe); // notes the gap at its start
  const target = await openNoted(t);
  await copy(address, target.address, { pageSize: defaultPageSize });
  const all = [...sent, ...target.sent];
  const holding = all.filter((sql) => /advisory/i.test(sql));
  for (const lock of ["pg_advisory_xact_lock", "pg_try_advisory_xact_lock_shared"])
    assert.ok(
      holding.some((sql) => sql.includes(`${lock}(`)),
      `${lock} is sent`,
    );
  assert.deepEqual(
    holding.filter((sql) => !/ from holdfast_heads /.test(sql)),
    [],
    "only a statement that reads a table of the store takes a lock on the node of the store",
  );
  const into = new Set(all.flatMap((sql) => /^\s*insert\s+into\s+(holdfast_[a-z]+)/i.exec(sql)?.[1] ?? []));
  assert.deepEqual(
    [...into].sort(),
    [
      "changes",
      "collections",
      "copying",
      "deleted",
      "folds",
      "heads",
      "ids",
      "keys",
      "meta",
      "receipts",
      "refers",
      "resources",
      "words",
    ].map((name) => `holdfast_${name}`),
    "the test sees an insert into every table",
  );
  assert.deepEqual(
    all.filter((sql) => insertSelect.test(sql)),
    [],
    "use `insert … values`",
  );
  const settings = all.filter((sql) => /\bset local\b/i.test(sql));
  assert.ok(settings.length > 0, "the test sees the settings of transactions");
  assert.deepEqual(
    settings.filter((sql) => !/^\s*set local\b/i.test(sql) || /\b(?:begin|start)\b/i.test(sql)),
    [],
    "a cluster sends the whole message of a setting to its nodes",
  );
  const changing = all.filter((sql) => /^\s*(?:update|delete)\b/i.test(sql));
  for (const sql of changing) await requireImmutable(address.url, sql);
  assert.ok(
    changing.some((sql) => sql.includes("string_to_array")),
    "the keys of resources are changed",
  );
});
