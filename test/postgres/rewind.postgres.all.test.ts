/** A rewind on one instance while another one writes: the rewind comes before or after each write, and loses none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { Problem } from "../../src/errors.ts";
import { planRewind } from "../../src/rewind/rewind-plan.ts";
import { openStore } from "../../src/store/open.ts";
import { logStart, toNumber } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import { declaration } from "../store/contract/fixture.ts";
import { until } from "../until.ts";
import { openDatabase } from "./databases.ts";

const key = (id: string) => ({ collection: "plain", id });
const start = Date.UTC(2026, 0, 2);

test("writes of another instance wait for a rewind, and none is lost", async (t) => {
  const { url, releaseLater } = await openDatabase();
  const [first, second] = (await Promise.all([1, 2].map(() => openStore({ kind: "postgres", url })))) as [
    Store,
    Store,
  ];
  t.after(async () => {
    await Promise.all([first.close(), second.close()]);
    releaseLater();
  });
  await first.migrate([declaration("plain")]);
  await first.commit({ changes: [{ key: key("old"), expect: "absent", next: '{"id":"old"}' }], at: start });
  const written = new Map<string, number>();
  let isOver = false;
  const writing = (async () => {
    for (let n = 0; !isOver; n++) {
      const id = `new-${n}`;
      const change = { key: key(id), expect: "absent", next: JSON.stringify({ id }) } as const;
      const outcome = await second
        .commit({ changes: [change], at: start + 1_000 })
        .catch((error: unknown) => {
          if (!(error instanceof Problem) || error.code !== "UNAVAILABLE") throw error;
          return undefined; // it waited too long, and nothing was written
        });
      if (outcome !== undefined) written.set(id, toNumber(outcome[0]?.sequence ?? logStart));
    }
  })();
  const rewinds: { from: number; to: number }[] = [];
  for (let round = 0; round < 5; round++) {
    const before = written.size;
    await until("the other instance has written", () => written.size > before + 5);
    const committed = await first.exclusively(["plain"], async (commit) => {
      const asked = {
        collections: [openCollection("plain")],
        to: start,
        now: start + 2_000,
        maxBytes: 2 ** 30,
      };
      return commit((await planRewind(first, asked)).commit);
    });
    const sequences = committed.map(({ sequence }) => toNumber(sequence));
    rewinds.push({ from: Math.min(...sequences), to: Math.max(...sequences) });
  }
  isOver = true;
  await writing;
  assert.ok(await first.read(key("old")));
  const { to: last } = rewinds.at(-1) ?? { to: 0 };
  for (const [id, sequence] of written) {
    assert.ok(!rewinds.some(({ from, to }) => from <= sequence && sequence <= to));
    const isThere = (await first.read(key(id))) !== undefined;
    assert.equal(isThere, sequence > last, `${id} at ${sequence}, rewound at ${last}`);
  }
});
