/** Three instances on one database behind a balancer, under load. One instance is killed and started again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { openStore } from "../../src/store/open.ts";
import type { LoggedChange } from "../../src/store/port/change-log.ts";
import { logStart, toPlace } from "../../src/store/port/log-place.ts";
import { createClient, end, type Program, startStore } from "../durability/program.ts";
import { until } from "../until.ts";
import { startBalancer } from "./balancer.ts";
import { databaseFor, query } from "./databases.ts";

type Client = ReturnType<typeof createClient>;

/** The time of the load, in milliseconds. */
const loadMs = Number(process.env.HOLDFAST_TEST_LOAD_MS ?? 5_000);
const writers = 8;
const counters = 3;

/** The acknowledged writes of the clients. */
interface Account {
  /** The keys of acknowledged creates. */
  created: Set<string>;
  /** The number of acknowledged updates of each counter, by its id. */
  raised: Map<string, number>;
  /** The keys of acknowledged batches. */
  batches: Set<string>;
  losses: number;
}

/** Repeats a request until its outcome is certain. A lost response and 5xx leave it unknown. */
async function untilAnswered(
  account: Account,
  send: () => ReturnType<Client["send"]>,
): Promise<NonNullable<Awaited<ReturnType<Client["send"]>>>> {
  let answer: Awaited<ReturnType<typeof send>>;
  await until("the request is answered", async () => {
    answer = await send();
    const isKnown = answer !== undefined && answer.status < 500 && answer.status !== 409;
    if (!isKnown) account.losses++;
    return isKnown;
  });
  return answer as NonNullable<typeof answer>;
}

async function create(client: Client, account: Account, key: string): Promise<void> {
  const headers = { "idempotency-key": key };
  const answer = await untilAnswered(account, () => client.send("POST", "/things", { key }, headers));
  assert.equal(answer.status, 201, answer.text);
  account.created.add(key);
}

/** Raises a counter by one, unless another client has changed it. The key distinguishes a retry from another client. */
async function raise(
  client: Client,
  account: Account,
  { counter, key }: { counter: string; key: string },
): Promise<void> {
  const path = `/counters/${counter}`;
  const seen = await untilAnswered(account, () => client.send("GET", path));
  const { n } = JSON.parse(seen.text) as { n: number };
  const headers = {
    "if-match": String(seen.headers.etag),
    "idempotency-key": key,
    "content-type": "application/merge-patch+json",
  };
  const answer = await untilAnswered(account, () => client.send("PATCH", path, { n: n + 1 }, headers));
  assert.ok(answer.status === 200 || answer.status === 412, answer.text);
  if (answer.status === 200) account.raised.set(counter, (account.raised.get(counter) ?? 0) + 1);
}

/** Sends two creates in a batch. The store must have both resources or none. */
async function pair(client: Client, account: Account, key: string): Promise<void> {
  const operations = ["left", "right"].map((side) => ({
    method: "POST",
    path: "/pairs",
    body: { key, side },
  }));
  const answer = await untilAnswered(account, () =>
    client.send("POST", "/_batch", { operations }, { "idempotency-key": key }),
  );
  assert.equal(answer.status, 200, answer.text);
  account.batches.add(key);
}

async function write(port: number, account: Account, name: string): Promise<void> {
  const end = performance.now() + loadMs;
  const ids = [...account.raised.keys()];
  for (let n = 0; n === 0 || performance.now() < end; n++) {
    const client = createClient(port);
    for (let same = 0; same < 5; same++) {
      const key = `${name}-${n}-${same}`;
      if (same % 5 < 2) await create(client, account, key);
      else if (same % 5 < 4) await raise(client, account, { counter: ids[n % counters] ?? "", key });
      else await pair(client, account, key);
    }
    client.close();
  }
}

/** Reads the change log from the last position, as a client with a bad connection does. */
async function follow(url: string, collection: string, isOver: () => boolean): Promise<LoggedChange[]> {
  const seen: LoggedChange[] = [];
  for (let isLast = false; ; ) {
    const store = await openStore({ kind: "postgres", url });
    for (let reads = 0; reads < 20; reads++) {
      let more: readonly LoggedChange[] = [];
      await until("there is another change, or the load is over", async () => {
        isLast = isOver();
        more = (await store.changesAfter(collection, seen.at(-1)?.sequence ?? logStart, 50)).changes;
        return isLast || more.length > 0;
      });
      seen.push(...more);
      if (isLast && more.length === 0) break;
    }
    await store.close();
    if (isLast && seen.length > 0 && (await isWhole(url, collection, seen))) return seen;
  }
}

async function isWhole(url: string, collection: string, seen: readonly LoggedChange[]): Promise<boolean> {
  const { rows } = await query(
    url,
    `select sequence from holdfast_heads natural join holdfast_collections where name = '${collection}'`,
  );
  return toPlace(Number(rows[0].sequence)) === seen.at(-1)?.sequence;
}

/** Requires that the log has every sequence once and in order, and the versions of each resource in order. */
function requireWholeLog(changes: readonly LoggedChange[]): void {
  assert.deepEqual(
    changes.map(({ sequence }) => sequence),
    changes.map((_, n) => n + 1),
  );
  const versions = new Map<string, number>();
  for (const { id, version } of changes) {
    assert.equal(version, (versions.get(id) ?? 0) + 1);
    versions.set(id, version);
  }
}

async function all(client: Client, path: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  for (let offset = 0; ; offset += 1_000) {
    const answer = await client.send("GET", `${path}?limit=1000&offset=${offset}`);
    assert.equal(answer?.status, 200);
    const page = JSON.parse(answer?.text ?? "") as Record<string, unknown>[];
    found.push(...page);
    if (page.length < 1_000) return found;
  }
}

test("three instances, of which one is killed, keep every acknowledged write once and the change log whole", async (t) => {
  const url = await databaseFor(t);
  const programs: Program[] = await Promise.all([1, 2, 3].map(() => startStore(url)));
  t.after(() => Promise.all(programs.map((program) => end(program, "SIGTERM"))));
  const balancer = await startBalancer(() => programs.map(({ port }) => port));
  t.after(() => balancer.close());
  const account: Account = { created: new Set(), raised: new Map(), batches: new Set(), losses: 0 };
  const client = createClient(balancer.port);
  t.after(() => client.close());
  for (let n = 0; n < counters; n++) {
    const key = { "idempotency-key": `counter-${n}` };
    const made = await untilAnswered(account, () => client.send("POST", "/counters", { n: 0 }, key));
    assert.equal(made.status, 201, made.text);
    account.raised.set((JSON.parse(made.text) as { id: string }).id, 0);
  }
  await create(client, account, "first");
  // The transaction of another program, with its own changes, stays open during the test.
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query("create table unrelated (n integer); begin; insert into unrelated values (1)");
  let isOver = false;
  const followed = ["things", "counters"].map((name) => follow(url, name, () => isOver));
  const load = Array.from({ length: writers }, (_, n) => write(balancer.port, account, `w${n}`));
  await until("the clients have written", () => account.created.size > writers);
  await end(programs[1] as Program, "SIGKILL");
  programs[1] = await startStore(url);
  await Promise.all(load);
  isOver = true;
  const logs = await Promise.all(followed);
  await other.query("commit");
  await other.end();

  for (const log of logs) requireWholeLog(log);
  const things = (await all(client, "/things")).map(({ key }) => String(key));
  assert.deepEqual(things.sort(), [...account.created].sort());
  const pairs = (await all(client, "/pairs")).map(({ key, side }) => `${key} ${side}`);
  const expected = [...account.batches].flatMap((key) => [`${key} left`, `${key} right`]);
  assert.deepEqual(pairs.sort(), expected.sort());
  const values = (await all(client, "/counters")).map(({ id, n }) => [id, n]);
  assert.deepEqual(new Map(values as [string, number][]), account.raised);
  t.diagnostic(
    `${things.length} creates, ${pairs.length / 2} batches, counters ${[...account.raised.values()]}, ${account.losses} tries without an answer`,
  );
  assert.ok(things.length > writers && pairs.length > 0, "the clients hardly wrote anything");
});
