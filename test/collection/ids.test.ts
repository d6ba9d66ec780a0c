import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { fitId, idJson, sameId } from "../../src/collection/ids.ts";
import { createUuidSource } from "../../src/collection/uuids.ts";

/** An earlier id sorts before a later one as plain text. */
function assertAscending(ids: readonly string[]): void {
  for (const [index, id] of ids.entries()) {
    const before = ids[index - 1];
    assert.ok(before === undefined || before < id, `${before} is not before ${id}`);
  }
}

describe("a UUID", () => {
  test("is of version 7, in lower case, and holds the time", () => {
    const newUuid = createUuidSource(() => 0x0123_4567_89ab);
    assert.match(newUuid(), /^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("sorts after the one before within one millisecond", () => {
    const newUuid = createUuidSource(() => 1_700_000_000_000);
    assertAscending(Array.from({ length: 10_000 }, newUuid));
  });

  test("sorts after the one before when the clock goes back", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 47 }), { minLength: 2 }), (times) => {
        let turn = 0;
        const newUuid = createUuidSource(() => times[turn++] as number);
        assertAscending(times.map(() => newUuid()));
      }),
    );
  });

  test("is not made twice, also by two sources of the same millisecond", () => {
    const sources = [createUuidSource(() => 5), createUuidSource(() => 5)];
    const ids = sources.flatMap((newUuid) => Array.from({ length: 5_000 }, newUuid));
    assert.equal(new Set(ids).size, 10_000);
  });
});

describe("an id that arrives from outside", () => {
  const kept: [value: unknown, uuid: string | undefined, integer: string | undefined][] = [
    ["a", "a", undefined],
    ["A-Z_a.z~0-9", "A-Z_a.z~0-9", undefined],
    ["x".repeat(128), "x".repeat(128), undefined],
    ["x".repeat(129), undefined, undefined],
    ["", undefined, undefined],
    [".", undefined, undefined],
    ["..", undefined, undefined],
    ["...", "...", undefined],
    ["a b", undefined, undefined],
    ["a/b", undefined, undefined],
    ["a\n", undefined, undefined],
    ["é", undefined, undefined],
    ["5", "5", "5"],
    ["0", "0", "0"],
    ["-5", "-5", "-5"],
    ["-0", "-0", undefined],
    ["05", "05", undefined],
    ["+5", undefined, undefined],
    ["5.0", "5.0", undefined],
    ["5e0", "5e0", undefined],
    ["9007199254740991", "9007199254740991", "9007199254740991"],
    ["9007199254740992", "9007199254740992", undefined],
    [5, "5", "5"],
    [-0, "0", "0"],
    [-7, "-7", "-7"],
    [5.5, undefined, undefined],
    [2 ** 53, undefined, undefined],
    [null, undefined, undefined],
    [true, undefined, undefined],
    [["a"], undefined, undefined],
    [{}, undefined, undefined],
    [undefined, undefined, undefined],
  ];
  for (const [value, uuid, integer] of kept) {
    test(`${JSON.stringify(value)?.slice(0, 40)} is kept as ${uuid?.slice(0, 20)}, among integers as ${integer}`, () => {
      assert.equal(fitId("uuid", value), uuid);
      assert.equal(fitId("integer", value), integer);
    });
  }
});

test("an id is a JSON string, or a JSON number among integers", () => {
  assert.equal(idJson("uuid", "5"), '"5"');
  assert.equal(idJson("integer", "5"), "5");
});

describe("the id in the content", () => {
  const cases: [bodyId: unknown, pathId: string, same: boolean][] = [
    ["a", "a", true],
    ["a", "A", false],
    ["1", "1", true],
    [1, "1", true],
    [1, "01", false],
    ["01", "1", false],
    ["1.0", "1", false],
    [1.5, "1.5", true],
    [true, "true", false],
    [true, "1", false],
    [null, "null", false],
    [undefined, "undefined", false],
    [["a"], "a", false],
    [{ toString: () => "a" }, "a", false],
    ["", "0", false],
  ];
  for (const [bodyId, pathId, same] of cases) {
    test(`${JSON.stringify(bodyId)} ${same ? "is" : "is not"} ${pathId}`, () => {
      assert.equal(sameId(bodyId, pathId), same);
    });
  }
});
