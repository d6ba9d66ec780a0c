/** A retry with an Idempotency-Key gets the first answer, whenever the service was killed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";
import { slowlyFlushing, whyNoTrace } from "../strace.ts";
import { pause, until } from "../until.ts";
import { createClient, end, type Program, startProgram } from "./program.ts";

/** A short form. `npm run prove kills` repeats it 200 times. */
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 3);
const clients = 16;

function storeIn(): string {
  const folder = makeFolder();
  return join(folder, "retry.db");
}

/** Runs the service while `work` talks to it. */
async function serving<T>(
  starting: Promise<Program>,
  signal: NodeJS.Signals,
  work: (client: ReturnType<typeof createClient>) => Promise<T>,
): Promise<T> {
  const program = await starting;
  const client = createClient(program.port);
  try {
    return await work(client);
  } finally {
    await end(program, signal);
    client.close();
  }
}

const keyed = (key: string) => ({ "idempotency-key": key });

/** Each flush of the disk works, and its caller gets the result two seconds later. */
const slowFlush = slowlyFlushing("delay_exit=2000000");

/** Whether the log has a whole commit with this text: its last page has a mark (https://sqlite.org/fileformat2.html#the_write_ahead_log). */
function hasCommit(store: string, text: string): boolean {
  const log = readFileSync(`${store}-wal`);
  const [headerLength, frameHeaderLength] = [32, 24];
  const frameLength = frameHeaderLength + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  for (let at = headerLength, isFound = false; at + frameLength <= log.length; at += frameLength) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) return false; // the rest is older
    isFound ||= log.subarray(at, at + frameLength).includes(text);
    if (isFound && log.readUInt32BE(at + 4) > 0) return true;
  }
  return false;
}

test("killed between commit and answer, the service answers the retry as it would have answered", {
  skip: whyNoTrace(),
}, async (t) => {
  const store = storeIn();
  await serving(startProgram(store), "SIGTERM", (client) => client.send("POST", "/things", { n: 0 }));
  const program = await startProgram(store, slowFlush);
  const client = createClient(program.port);
  t.after(() => client.close());
  t.after(() => end(program, "SIGKILL"));
  await client.send("POST", "/things", { n: 0 }); // starts the log, which needs a separate flush
  const unanswered = client.send("POST", "/things", { n: 1 }, keyed("k"));
  await until("the commit is in the log", () => hasCommit(store, '"n":1}'));
  await end(program, "SIGKILL");
  assert.equal(await unanswered, undefined, "the answer came too early for this test");

  await serving(startProgram(store), "SIGTERM", async (again) => {
    const list = JSON.parse((await again.send("GET", "/things?n=1"))?.text ?? "") as { id: string }[];
    assert.equal(list.length, 1);
    const retried = await again.send("POST", "/things", { n: 1 }, keyed("k"));
    assert.equal(retried?.status, 201);
    assert.equal(retried.headers["idempotent-replayed"], "true");
    assert.equal(retried.headers.location, `/api/v1/things/${list[0]?.id}`);
    assert.equal(retried.headers.etag, '"1"');
    assert.deepEqual(JSON.parse(retried.text), { id: list[0]?.id, n: 1 });
    const other = await again.send("POST", "/things", { n: 2 }, keyed("k"));
    assert.equal(other?.status, 422);
  });
});

test(`${kills} times killed under ${clients} clients that retry, each key is one resource`, async (t) => {
  const store = storeIn();
  const answers = new Map<string, string>();
  const open: string[] = [];
  let keys = 0;
  const random = generator();
  const create = async (client: ReturnType<typeof createClient>, key: string) => {
    const answer = await client.send("POST", "/things", { key }, keyed(key));
    if (answer === undefined) return false;
    assert.equal(answer.status, 201, answer.text);
    answers.set(key, answer.text);
    return true;
  };
  for (let kill = 0; kill < kills; kill++) {
    const program = await startProgram(store);
    const client = createClient(program.port);
    const writers = Array.from({ length: clients }, async () => {
      for (;;) {
        const key = open.pop() ?? `key-${++keys}`;
        if (await create(client, key)) continue;
        open.push(key);
        return;
      }
    });
    const enough = answers.size + clients + random() * 300;
    await until("some are answered", () => answers.size > enough);
    await pause(random() * 50);
    await end(program, "SIGKILL");
    await Promise.all(writers);
    client.close();
  }
  await serving(startProgram(store), "SIGTERM", async (client) => {
    for (const key of open) assert.ok(await create(client, key));
    const list = await client.send("GET", "/things?limit=1");
    assert.equal(Number(list?.headers["x-total-count"]), keys);
    const sample = [...answers].slice(-200);
    for (const [key, text] of sample) {
      const again = await client.send("POST", "/things", { key }, keyed(key));
      assert.deepEqual([again?.status, again?.text], [201, text]);
    }
  });
  t.diagnostic(`${keys} keys, ${open.length} open at the end`);
  assert.ok(keys > kills * clients, "the clients hardly wrote anything");
});

test("what was answered before a restart is answered after it", async () => {
  const store = storeIn();
  const send = (client: ReturnType<typeof createClient>) =>
    client.send("POST", "/things", { n: 1 }, keyed('"restart"'));
  const first = await serving(startProgram(store), "SIGTERM", send);
  const again = await serving(startProgram(store), "SIGTERM", send);
  assert.equal(first?.status, 201);
  assert.deepEqual([again?.status, again?.text], [first.status, first.text]);
  assert.equal(again?.headers["idempotent-replayed"], "true");
});
