import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../../src/errors.ts";
import { formatCursor, listName, parseCursor } from "../../src/query/cursor.ts";
import { type CursorValues, sortValueOf } from "../../src/query/sort.ts";

const text = fc.string({ unit: "grapheme" }).filter((each) => each.isWellFormed() && !each.includes("\0"));
const id = fc.oneof(text, fc.maxSafeInteger());
const sortValue = fc
  .oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.constant([]),
  )
  .map(sortValueOf);
const position = fc
  .tuple(fc.array(sortValue, { maxLength: 5 }), id.map(sortValueOf))
  .map(([values, last]) => [...values, last]);

function isRefused(list: string, cursor: string, values: number): void {
  assert.throws(
    () => parseCursor(list, cursor, values),
    (error) => error instanceof Problem && error.code === "INVALID_CURSOR" && error.status === 400,
    `${list} ${cursor}`,
  );
}

/** A cursor that an attacker can forge. */
function forge(list: string, payload: string | Buffer): string {
  const bytes = Buffer.from(payload as string);
  const checksum = createHash("sha256").update(`${list}\0`).update(bytes).digest().subarray(0, 8);
  return Buffer.concat([checksum, bytes]).toString("base64url");
}

test("a cursor gives its position back to the list that it was made for", () => {
  fc.assert(
    fc.property(fc.string(), position, (list, at) => {
      assert.deepEqual(parseCursor(list, formatCursor(list, at), at.length), at);
    }),
  );
});

test("a cursor is text that a URL can carry as it is", () => {
  fc.assert(fc.property(position, (at) => assert.match(formatCursor("topics", at), /^[A-Za-z0-9_-]+$/)));
});

test("a cursor of one list is refused by another", () => {
  const cursor = formatCursor("topics", ["7"]);
  for (const list of ["posts", "topic", "topicss", ""]) isRefused(list, cursor, 1);
});

test("another filter, sort, search or time is another list", () => {
  const filter = { kind: "exists", path: ["a"], value: true } as const;
  const key = { path: ["a"], descending: false } as const;
  const plain = { filter: undefined, sort: [], words: undefined, at: undefined };
  const names = [
    listName("topics", plain),
    listName("posts", plain),
    listName("topics", { ...plain, filter }),
    listName("topics", { ...plain, filter: { kind: "not", filter } }),
    listName("topics", { ...plain, sort: [key] }),
    listName("topics", { ...plain, sort: [{ ...key, descending: true }] }),
    listName("topics", { ...plain, words: ["a"] }),
    listName("topics", { ...plain, words: [] }),
    listName("topics", { ...plain, at: 0 }),
    listName("topics", { ...plain, at: 1 }),
  ];
  assert.equal(new Set(names).size, names.length);
});

test("a cursor with any character changed, left out or added is refused", () => {
  const characters = [..."ABCabc019-_=+/ é"];
  fc.assert(
    fc.property(position, (at) => {
      const cursor = formatCursor("topics", at);
      for (let n = 0; n <= cursor.length; n++) {
        isRefused(
          "topics",
          cursor.slice(0, n) + cursor.slice(n + 1) + (n === cursor.length ? "A" : ""),
          at.length,
        );
        for (const each of characters) {
          if (each !== cursor[n])
            isRefused("topics", cursor.slice(0, n) + each + cursor.slice(n + 1), at.length);
          isRefused("topics", cursor.slice(0, n) + each + cursor.slice(n), at.length);
        }
      }
    }),
    { numRuns: 20 },
  );
});

test("a cursor with another number of values is refused", () => {
  const at: CursorValues = ["a", 1, "7"];
  for (const values of [0, 1, 2, 4]) isRefused("topics", formatCursor("topics", at), values);
});

test("a forged cursor is refused unless it spells a position as the service does", () => {
  assert.deepEqual(parseCursor("topics", forge("topics", '["a","7"]'), 2), ["a", "7"]);
  const instant = '[["2026-11-24T08:00:00.000Z123"],"7"]';
  assert.deepEqual(parseCursor("topics", forge("topics", instant), 2), JSON.parse(instant));
  const payloads = [
    '{"length":2}',
    '"ab"',
    "null",
    "",
    '["a"]',
    '["a","7","8"]',
    '["a",null]',
    '["a",true]',
    '["a",[]]',
    '["a", "7"]',
    '[{},"7"]',
    '[[1],"7"]',
    '[["a"],"7"]',
    '[["2026-02-30T08:00:00.000Z"],"7"]',
    '[["2026-11-24T08:00:00.000Z","2026-11-24T08:00:00.000Z"],"7"]',
    '[-0,"7"]',
    '[1e999,"7"]',
    '[1.0,"7"]',
    '["\\u0061","7"]',
    '["\\ud800","7"]',
    '["\\u0000","7"]',
    `["${"a".repeat(129)}","7"]`,
    Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x22, 0x37, 0x22, 0x5d]),
  ];
  for (const payload of payloads) isRefused("topics", forge("topics", payload), 2);
});
