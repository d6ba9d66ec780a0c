/** Resources in memory never differ from the file, even if other writes change the file. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { NumberedCollection } from "../../src/store/core/catalogue.ts";
import type { Stored } from "../../src/store/port/stored.ts";
import { createMarksMemory, Marks } from "../../src/store/sqlite/marks.ts";
import { HotResources } from "../../src/store/sqlite/read/hot-reads.ts";

const topics = { number: 1, name: "topics" } as NumberedCollection;

function stored(id: string, version = 1, text = `{"id":"${id}"}`): Stored {
  return { id, version, text, updatedAt: 0 };
}

/** A cache, and the marks as the writer's thread has them. */
function open() {
  const memory = createMarksMemory();
  const writer = new Marks(memory);
  const marks = new Marks(memory);
  const hot = new HotResources(marks);
  return { hot, writer, keep: (resource: Stored, ended = marks.ended) => hot.keep(topics, resource, ended) };
}

describe("resources kept in memory", () => {
  test("leave when many others come, unless somebody asks for them now and then", () => {
    const { hot, keep } = open();
    keep(stored("wanted"));
    keep(stored("unwanted"));
    for (let n = 0; n < 60_000; n++) {
      keep(stored(`n${n}`));
      if (n % 1_000 === 0) assert.ok(hot.get("topics", "wanted"), `after ${n}`);
    }
    assert.equal(hot.get("topics", "unwanted"), undefined);
    assert.equal(hot.get("topics", "n0"), undefined);
  });

  test("leave when others bring much text", () => {
    const { hot, keep } = open();
    keep(stored("early"));
    for (let n = 0; n < 400; n++) keep(stored(`n${n}`, 1, "x".repeat(50_000)));
    assert.equal(hot.get("topics", "early"), undefined);
    keep(stored("huge", 1, "x".repeat(100_000)));
    assert.equal(hot.get("topics", "huge"), undefined);
  });

  test("equal the file after any history of reads and transactions", () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b", "c"),
      kind: fc.constantFrom("open", "read", "get", "begin", "change", "commit", "roll back"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { hot, writer, keep } = open();
        let file = new Map([..."abc"].map((id) => [id, 1]));
        let snapshot: { ended: number; file: ReadonlyMap<string, number> } | undefined;
        let transaction: Map<string, number> | undefined;
        for (const { id, kind } of steps) {
          if (kind === "begin" && transaction === undefined) {
            writer.begin();
            transaction = new Map(file);
          } else if (kind === "change" && transaction !== undefined) {
            writer.mark(topics.number, id);
            transaction.set(id, (transaction.get(id) ?? 0) + 1);
          } else if ((kind === "commit" || kind === "roll back") && transaction !== undefined) {
            if (kind === "commit") file = transaction;
            transaction = undefined;
            assertFresh(hot, file); // the change is visible, and the writer has not ended the transaction
            writer.end();
          } else if (kind === "open") {
            snapshot = { ended: writer.ended, file: new Map(file) };
          } else if (kind === "read" && snapshot !== undefined) {
            keep(stored(id, snapshot.file.get(id)), snapshot.ended);
          }
          assertFresh(hot, file);
        }
      }),
    );
  });
});

function assertFresh(hot: HotResources, file: ReadonlyMap<string, number>): void {
  for (const [id, version] of file) assert.equal(hot.get("topics", id)?.version ?? version, version);
}
