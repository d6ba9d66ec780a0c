/** The service is killed during a rewind: all of it took effect, or nothing. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";
import { machineTime, nextMillisecond, pause } from "../until.ts";
import { end, startProgram } from "./program.ts";

/** A short form. `npm run prove kills` repeats it. */
const kills = Math.ceil(Number(process.env.HOLDFAST_TEST_KILLS ?? 4) * 1.5);

const resources = 4_000; // as many as one commit can change

interface Sent {
  status: number;
  text: string;
}

/** Sends a request; `undefined` if the service ends before its response. */
async function send(
  port: number,
  path: string,
  body: string,
  type = "application/json",
): Promise<Sent | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
      method: "POST",
      headers: { "content-type": type },
      body,
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

/** How many resources the store has, and how many of them are as they were. Also checks the file. */
function countIn(path: string): { there: number; changes: number; sequence: number } {
  const db = new DatabaseSync(path, { readOnly: true });
  assert.equal(db.prepare("pragma integrity_check").get()?.integrity_check, "ok");
  const number = db.prepare("select number from collections where name = 'things'").get()?.number;
  const there = Number(db.prepare(`select count(*) as n from resources_${number}`).get()?.n);
  const changes = Number(db.prepare(`select count(*) as n from changes_${number}`).get()?.n);
  const sequence = Number(db.prepare(`select sequence from heads where number = ${number}`).get()?.sequence);
  db.close();
  return { there, changes, sequence };
}

test(`${kills} times killed during a rewind, all of it or nothing is there`, async (t) => {
  const folder = makeFolder();
  const path = join(folder, "kill.db");
  let program = await startProgram(path);
  const lines = Array.from({ length: resources }, (_, n) => `{"id":"${n}","pad":"${"x".repeat(n % 200)}"}\n`);
  for (const part of [lines.slice(0, resources / 2), lines.slice(resources / 2)]) {
    const imported = await send(program.port, "things/_import", part.join(""), "application/x-ndjson");
    assert.equal(imported?.status, 200);
  }
  const full = machineTime();
  await nextMillisecond();
  for (let n = 0; n < resources; n += 1_000) {
    const page = await fetch(`http://127.0.0.1:${program.port}/api/v1/things?limit=1000&fields=id`);
    const ids = ((await page.json()) as { id: string }[]).map(({ id }) => id);
    const filter = { id: { in: ids } };
    const deleted = await send(
      program.port,
      "things/_bulk",
      JSON.stringify({ filter, max: 1_000, delete: true }),
    );
    assert.equal(deleted?.status, 200);
  }
  await end(program, "SIGTERM");
  const empty = machineTime();
  await nextMillisecond();
  let whole = 0;
  let longestMs = 0;
  const random = generator();
  for (let round = 0; round < kills; round++) {
    program = await startProgram(path);
    const before = countIn(path);
    const start = performance.now();
    const to = before.there === 0 ? full : empty;
    const rewinding = send(program.port, "_rewind", JSON.stringify({ to, max: resources }));
    const killed = program;
    if (round > 0) void pause(random() * 1.2 * longestMs).then(() => end(killed, "SIGKILL"));
    const answer = await rewinding;
    assert.ok(answer === undefined || answer.status === 200, JSON.stringify(answer));
    if (round === 0) longestMs = performance.now() - start;
    await end(program, "SIGKILL");
    await end(await startProgram(path), "SIGTERM");
    const after = countIn(path);
    const isDone = after.there === resources - before.there;
    assert.ok(isDone || after.there === before.there, `round ${round}: ${after.there} of ${resources}`);
    assert.equal(after.changes - before.changes, isDone ? resources : 0);
    assert.equal(after.sequence - before.sequence, isDone ? resources : 0);
    assert.ok(answer === undefined || isDone, `round ${round} was confirmed and is lost`);
    if (isDone) whole++;
  }
  t.diagnostic(`${whole} of ${kills} rewinds took effect`);
  assert.ok(whole > 0);
});
