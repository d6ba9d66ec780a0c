import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";
import { threadsToTry } from "../threads/count.ts";
import { pause, until } from "../until.ts";
import { createClient, end, startProgram } from "./program.ts";

/** A short form. `npm run prove kills` repeats it 200 times. */
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 2);
const clients = 32;

/** The possible states of a resource: the acknowledged state, or the state after a write without a response. */
type Expectation = { acknowledged: State; attempted?: State };
type State = { turn: number; pad: string } | "absent";

const textOf = (id: string, state: State) =>
  state === "absent" ? "absent" : JSON.stringify({ id, turn: state.turn, pad: state.pad });

const stateFor = (turn: number): State & object => ({ turn, pad: "x".repeat(turn % 700) });

/** Writes to its own resources until the service ends, and records each write. */
async function writeUntilGone(port: number, account: Map<string, Expectation>): Promise<void> {
  const client = createClient(port);
  const own: string[] = [];
  for (let turn = 1; ; turn++) {
    const state = stateFor(turn);
    const id = own[turn % Math.max(1, own.length)];
    if (id === undefined || turn % 3 === 0) {
      const answer = await client.send("POST", "/things", state);
      if (answer === undefined) break;
      assert.equal(answer.status, 201, answer.text);
      const created = (JSON.parse(answer.text) as { id: string }).id;
      own.push(created);
      account.set(created, { acknowledged: state });
      continue;
    }
    const isDelete = turn % 11 === 0;
    const next: State = isDelete ? "absent" : state;
    const before = account.get(id) as Expectation;
    account.set(id, { ...before, attempted: next });
    const answer = isDelete
      ? await client.send("DELETE", `/things/${id}`)
      : await client.send("PUT", `/things/${id}`, { id, ...state });
    if (answer === undefined) break;
    assert.equal(answer.status, isDelete ? 205 : 200, answer.text);
    account.set(id, { acknowledged: next });
    if (isDelete) own.splice(own.indexOf(id), 1);
  }
  client.close();
}

async function requireAccount(port: number, account: Map<string, Expectation>): Promise<void> {
  const client = createClient(port);
  for (const [id, { acknowledged, attempted }] of account) {
    const answer = await client.send("GET", `/things/${id}`);
    assert.ok(answer !== undefined);
    const found = answer.status === 404 ? "absent" : answer.text;
    const allowed = [acknowledged, ...(attempted === undefined ? [] : [attempted])].map((state) =>
      textOf(id, state),
    );
    assert.ok(allowed.includes(found), `${id} is ${found}, and should be ${allowed.join(" or ")}`);
    account.set(id, {
      acknowledged: found === "absent" ? "absent" : attemptedOr(acknowledged, attempted, id, found),
    });
  }
  client.close();
}

function attemptedOr(acknowledged: State, attempted: State | undefined, id: string, found: string): State {
  return attempted !== undefined && textOf(id, attempted) === found ? attempted : acknowledged;
}

/** Resources, head row and change log must tell the same story: no half of any write. */
function requireWholeStore(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true });
  const one = (sql: string) => ({ ...db.prepare(sql).get() }) as Record<string, unknown>;
  assert.deepEqual(one("pragma integrity_check"), { integrity_check: "ok" });
  const { number } = one("select number from collections where name = 'things'");
  const head = one(`select sequence, count from heads where number = ${number}`);
  assert.deepEqual(one(`select count(*) as count from resources_${number}`), { count: head.count });
  const changes = one(`select count(*) as n, max(sequence) as last from changes_${number}`);
  assert.deepEqual(changes, { n: head.sequence, last: head.sequence }, "the log has a gap");
  const lastChanges = `select id, kind, version, max(sequence) from changes_${number} group by id`;
  const odd = one(
    `select count(*) as odd from (${lastChanges}) c left join resources_${number} r on r.id = c.id
     where (c.kind = 'deleted') <> (r.id is null) or r.version <> c.version`,
  );
  assert.deepEqual(odd, { odd: 0 }, "a resource is not what its last change made of it");
  db.close();
}

const random = generator();

for (const threads of threadsToTry(1, 4)) {
  const flags = ["--threads", String(threads)];
  test(`${kills} times killed under ${clients} writing clients with ${threads} threads, every acknowledged write is there and no half of any other`, async (t) => {
    const folder = makeFolder();
    const path = join(folder, "kill.db");
    const account = new Map<string, Expectation>();
    for (let kill = 0; kill < kills; kill++) {
      const program = await startProgram(path, [], flags);
      const writers = Array.from({ length: clients }, () => writeUntilGone(program.port, account));
      const enough = account.size + 10 + random() * 200;
      await until("some resources are there", () => account.size > enough);
      await pause(random() * 50);
      await end(program, "SIGKILL");
      await Promise.all(writers);
      const again = await startProgram(path, [], flags);
      try {
        await requireAccount(again.port, account);
      } finally {
        await end(again, kill % 2 === 0 ? "SIGKILL" : "SIGTERM");
      }
      requireWholeStore(path);
    }
    t.diagnostic(`${account.size} resources, ${kills} kills`);
    assert.ok(account.size > kills * 10, "the clients hardly wrote anything");
  });
}
