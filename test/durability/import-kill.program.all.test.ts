/** The service is killed during an import: the store has all of its resources or none. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";
import { pause } from "../until.ts";
import { end, startProgram } from "./program.ts";

/** A short form. `npm run prove kills` repeats it. */
const kills = Math.ceil(Number(process.env.HOLDFAST_TEST_KILLS ?? 4) * 1.5);

const resources = 2_000;

/** Imports resources whose ids begin with a letter. Resolves to whether the service confirmed it. */
function importAll(port: number, round: number): Promise<boolean> {
  const lines: string[] = [];
  for (let n = 0; n < resources; n++) lines.push(`{"id":"${round}-${n}","pad":"${"x".repeat(n % 200)}"}\n`);
  return new Promise((resolve) => {
    const headers = { "content-type": "application/x-ndjson" };
    const path = "/api/v1/things/_import";
    const call = request({ host: "127.0.0.1", port, method: "POST", path, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode === 200));
      response.on("error", () => resolve(false));
    });
    call.on("error", () => resolve(false));
    call.end(lines.join(""));
  });
}

/** How many resources of each round the store has. Also checks the file. */
function countRounds(path: string): Map<string, number> {
  const db = new DatabaseSync(path, { readOnly: true });
  assert.equal(db.prepare("pragma integrity_check").get()?.integrity_check, "ok");
  const number = db.prepare("select number from collections where name = 'things'").get()?.number;
  const rounds = new Map<string, number>();
  if (number !== undefined) {
    const sql = `select substr(id, 1, instr(id, '-') - 1) as round, count(*) as n from resources_${number} group by 1`;
    for (const { round, n } of db.prepare(sql).all()) rounds.set(String(round), Number(n));
    const { n } = db.prepare(`select count(*) as n from changes_${number}`).get() as { n: number };
    assert.equal(
      n,
      [...rounds.values()].reduce((sum, each) => sum + each, 0),
      "the log has every change",
    );
  }
  db.close();
  return rounds;
}

test(`${kills} times killed during an import, all of it or nothing is there`, async (t) => {
  const folder = makeFolder();
  const path = join(folder, "kill.db");
  let whole = 0;
  let longestMs = 0;
  const random = generator();
  for (let round = 0; round < kills; round++) {
    const program = await startProgram(path);
    const start = performance.now();
    const importing = importAll(program.port, round);
    if (round > 0) void pause(random() * 1.2 * longestMs).then(() => end(program, "SIGKILL"));
    const isConfirmed = await importing;
    if (round === 0) longestMs = performance.now() - start;
    await end(program, "SIGKILL");
    await end(await startProgram(path), "SIGTERM");
    const count = countRounds(path).get(String(round)) ?? 0;
    assert.ok(count === 0 || count === resources, `round ${round}: ${count} of ${resources}`);
    assert.ok(!isConfirmed || count === resources, `round ${round} was confirmed and is lost`);
    if (count > 0) whole++;
  }
  t.diagnostic(`${whole} of ${kills} imports took effect`);
  assert.ok(whole > 0);
});
