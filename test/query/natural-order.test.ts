import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { foldText } from "../../src/collection/folding.ts";
import { readIndexes } from "../../src/collection/indexes.ts";
import { compareCodePoints } from "../../src/collection/text-comparison.ts";
import { compareSortValues, sortValueOf } from "../../src/query/sort.ts";
import { accessPathOf } from "../../src/store/core/access-path.ts";
import { changeSlots } from "../../src/store/core/entries.ts";
import { keyAt } from "../../src/store/core/order-keys.ts";
import { randomOf, seed } from "../seed.ts";

console.log(`HOLDFAST_TEST_SEED=${seed}`);
const random = randomOf(seed);
const below = (n: number) => Math.floor(random() * n);

/** Compares as the documentation says: folded, part by part, and then by code points. */
function naturally(a: string, b: string): number {
  const [left = [], right = []] = [a, b].map((text) =>
    [...foldText(text).matchAll(/\d+|\D/gu)].map(([part]) => part),
  );
  for (let n = 0; n < Math.max(left.length, right.length); n++) {
    const [one, other] = [left[n] ?? "", right[n] ?? ""];
    const isNumber = [one, other].every((part) => /^\d/.test(part));
    const order = isNumber
      ? Number(BigInt(one) - BigInt(other))
      : compareCodePoints(one.replace(/^\d+/, "0"), other.replace(/^\d+/, "0"));
    if (order !== 0) return order;
  }
  return compareCodePoints(a, b);
}

const parts = "a A á ä b B ß ss Z é ﬁ Ａ ９ 9 10 010 0 00 1 2 - . _ : / Ω が か \u3099 \u{1f418}"
  .split(" ")
  .concat(" ", "");
const texts = Array.from({ length: 300 }, () =>
  Array.from({ length: 1 + below(5) }, () => parts[below(parts.length)]).join(""),
);
const naturalOf = (text: string) => sortValueOf(text, "natural");

describe("natural order", () => {
  test("puts texts as people do", () => {
    const inOrder = [
      "item",
      "Item 1",
      "item 2",
      "Item 9",
      "item 9",
      "item 09",
      "item 9a",
      "item 10",
      "Ítem 11",
      "items",
    ];
    const sorted = [...inOrder].reverse().sort((a, b) => compareSortValues(naturalOf(a), naturalOf(b)));
    assert.deepEqual(sorted, [
      "item",
      "Item 1",
      "item 2",
      "Item 9",
      "item 09",
      "item 9",
      "item 9a",
      "item 10",
      "Ítem 11",
      "items",
    ]);
  });

  test("is as documented", () => {
    const [, table = ""] = readFileSync("docs/reference/lists.md", "utf8").split(
      "| order of the values | why |\n|---|---|\n",
    );
    const rows = (table.split("\n\n")[0] ?? "").split("\n");
    assert.equal(rows.length, 6);
    for (const row of rows) {
      const values = [...(row.split(" | ")[0] ?? "").matchAll(/`(.*?)`/g)].map(([, value = ""]) => value);
      const sorted = [...values].reverse().sort((a, b) => compareSortValues(naturalOf(a), naturalOf(b)));
      assert.deepEqual(sorted, values);
    }
  });

  test("is that of numbers in folded texts, with the exact text for equal ones, in values and in keys", () => {
    const index = [{ path: ["a"] as const, descending: false, as: "natural" as const }];
    for (let n = 0; n < 5_000; n++) {
      const [a = "", b = ""] = [texts[below(texts.length)], texts[below(texts.length)]];
      const expected = Math.sign(naturally(a, b));
      assert.equal(Math.sign(compareSortValues(naturalOf(a), naturalOf(b))), expected, `${a} and ${b}`);
      const [left, right] = [a, b].map((text) => keyAt([naturalOf(text), "1"], index));
      assert.equal(Buffer.compare(left as Buffer, right as Buffer), expected, `the keys of ${a} and ${b}`);
    }
  });

  test("has keys that fit into an index of PostgreSQL, with any texts", () => {
    const [index = []] = readIndexes([["a:natural", "-b:natural", "c"]], "indexes");
    const long = ["\u{1f418}".repeat(200), "ﷺ".repeat(200), "1a".repeat(100), "9".repeat(200)];
    for (const a of long)
      for (const b of long)
        for (const c of long) {
          const key = keyAt([naturalOf(a), naturalOf(b), sortValueOf(c), "i".repeat(128)], index);
          assert.ok(key.length <= 2_690, `${key.length} bytes`);
        }
  });

  test("is served by an index with the same order, and by no other", () => {
    const indexes = readIndexes(
      ["name", { attributes: ["title"], order: "natural" }, ["state", "-name:natural"]],
      "indexes",
    );
    const sort = (name: string, descending = false) => [
      { path: [name] as const, descending, as: "natural" as const },
    ];
    const filter = { kind: "in" as const, path: ["state"] as const, values: ["open"] };
    assert.equal(accessPathOf({ sort: sort("title") }, indexes), "index");
    assert.equal(accessPathOf({ sort: sort("name") }, indexes), undefined);
    assert.equal(accessPathOf({ sort: sort("name", true), filter }, indexes), "index");
    assert.equal(accessPathOf({ sort: [{ path: ["title"], descending: false }] }, indexes), undefined);
  });

  test("cannot be declared for what has no texts, and not for too many attributes", () => {
    const faults: [declared: unknown, fault: RegExp][] = [
      [[["a:natural", "b:natural", "c:natural"]], /counts as two/],
      [[{ attributes: ["a"], order: "random" }], /"order": "natural"/],
      [[{ attributes: "a", order: "natural" }], /"order": "natural"/],
      [[{ attributes: ["a"], order: "natural" }, "a:natural"], /twice/],
      [["n:natural"], /has no texts/],
      [["at:natural"], /has no texts/],
      [["x:natural"], /is not an attribute/],
      [["id:natural"], /lists by id are fast/],
    ];
    const properties = {
      a: { type: "string" },
      b: {},
      c: {},
      n: { type: ["integer", "null"] },
      at: { type: "string", format: "date" },
    };
    const source = () => ({
      idKind: "uuid" as const,
      schema: JSON.stringify({ properties }),
      timestamps: false,
    });
    for (const [declared, fault] of faults)
      assert.throws(() => readIndexes(declared, "indexes", source), fault, JSON.stringify(declared));
  });

  test("gets a new number if the folding has changed, so that its keys are made again", () => {
    const index = (folding: string) => [
      [{ path: ["a"] as const, descending: false, as: "natural" as const, folding }],
    ];
    const unique = (folding: string) => [
      { path: ["a"] as const, ignoreCase: false, ignore: "accents" as const, folding },
    ];
    const declared = (folding: string) => ({ indexes: index(folding), unique: unique(folding), search: [] });
    const known = { next: 3, used: [1, 2] };
    assert.deepEqual(changeSlots(declared("1"), known, declared("1")), known);
    assert.deepEqual(changeSlots(declared("1"), known, declared("2")), {
      next: 5,
      used: [3, 4],
      building: { slots: [3], unused: [1, 2] },
    });
  });
});
