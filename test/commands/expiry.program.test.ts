import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { put, Records } from "../../src/records.ts";
import { openStore } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { configuration, jsonLines, run, serveHere } from "./cli.ts";

const schema = {
  properties: {
    name: { type: "string", maxLength: 10 },
    expiresAt: { type: "string", format: "date-time" },
  },
};
const without = { sessions: { schema, unique: ["name"] } };
const expiring = { sessions: { schema, unique: ["name"], expires: "expiresAt" } };
const expired = { id: "a", name: "x", expiresAt: "2020-01-01T00:00:00.000Z" };
const sessions = [
  expired,
  { id: "b", name: "y", expiresAt: "9999-01-01T00:00:00.000Z" },
  { id: "c", name: "z" },
];
const linesOf = (items: readonly object[]) => items.map((each) => `${JSON.stringify(each)}\n`).join("");

async function declare(cwd: string, collections: object): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections)))
    await writeFile(join(cwd, name), text);
}

test("a new expires deletes no resource unless the start accepts it", async (t) => {
  const cwd = makeFolder({ "s.ndjson": linesOf(sessions), "t.ndjson": "{}\n", ...configuration(without) });
  assert.equal((await run(t, ["import", "sessions", "s.ndjson"], { cwd })).exitCode, 0);
  await declare(cwd, expiring);
  const checked = await run(t, ["check"], { cwd });
  assert.match(
    checked.stdout,
    /^sessions: 1 resource has expired by "expiresAt"; the service does not show/m,
  );
  for (const args of [["serve"], ["import", "sessions", "t.ndjson"]]) {
    const { exitCode, stderr } = await run(t, args, { cwd });
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      /^holdfast: collections\.sessions\.expires is new, and one resource has expired by "expiresAt"\. .* --accept, which deletes them\.\n$/,
    );
  }
  const service = await serveHere(t, { accept: true }, { cwd });
  const listed = (await (await fetch(`${service.base}/sessions`)).json()) as { id: string }[];
  assert.deepEqual(
    listed.map(({ id }) => id),
    ["b", "c"],
  );
  await service.stop();
  // It is known now, and does not stop the next start.
  await (await serveHere(t, {}, { cwd })).stop();
});

test("an export leaves out what has expired, and an import gets its values", async (t) => {
  const cwd = makeFolder({
    "live.ndjson": linesOf(sessions.slice(1)),
    "t.ndjson": '{"id":"d","name":"x"}\n',
    ...configuration(expiring),
  });
  assert.equal((await run(t, ["import", "sessions", "live.ndjson"], { cwd })).exitCode, 0);
  // An import would delete in its commit what is over. This resource has expired since it was written.
  const store = await openStore({ kind: "sqlite", path: join(cwd, "holdfast.db") });
  await new Records(store, []).commit([put("sessions", "a", undefined, expired)], 1);
  await store.close();
  const { stdout } = await run(t, ["export", "sessions"], { cwd });
  assert.deepEqual(jsonLines(stdout), sessions.slice(1));
  const { exitCode, stderr } = await run(t, ["import", "sessions", "t.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  const exported = jsonLines((await run(t, ["export", "sessions"], { cwd })).stdout);
  assert.deepEqual(exported, [...sessions.slice(1), { id: "d", name: "x" }]);
});

test("expires is refused where it cannot work, with all reasons", async (t) => {
  const note = { properties: { sessionId: { type: "string" } } };
  const cwd = makeFolder(
    configuration({
      sessions: { schema, expires: "expiresAt" },
      notes: { schema: note, references: { sessionId: "sessions" } },
      others: { schema, expires: "name" },
    }),
  );
  const { exitCode, stderr } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /others\.expires: the schema must declare "name" as a date/);
  await declare(cwd, {
    sessions: { schema, expires: "expiresAt" },
    notes: { schema: note, references: { sessionId: "sessions" } },
  });
  assert.match(
    (await run(t, ["check"], { cwd })).stderr,
    /sessions\.expires: the reference "sessionId" of "notes"/,
  );
});
