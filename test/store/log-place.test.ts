import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changesBetween,
  earlierOf,
  isAfter,
  type LogPlace,
  laterOf,
  logStart,
  placeAfter,
  placeBefore,
  placeBytes,
  readPlace,
  toNumber,
  toPlace,
  writePlace,
} from "../../src/store/port/log-place.ts";

/** What the compiler refuses. `npm run types` fails if it accepts one of these. */
export function refused(place: LogPlace, other: LogPlace) {
  return [
    // @ts-expect-error
    place - 1,
    // @ts-expect-error
    place + 1,
    // @ts-expect-error
    place > other,
    // @ts-expect-error
    place > 0,
    // @ts-expect-error
    place === 0,
    // @ts-expect-error
    Math.min(place, other),
    // @ts-expect-error
    `${place}`,
    // @ts-expect-error
    place satisfies number,
    // @ts-expect-error
    1 satisfies LogPlace,
  ];
}

test("places have an order and distances", () => {
  const [three, five] = [toPlace(3), toPlace(5)];
  assert.deepEqual([isAfter(five, three), isAfter(three, five), isAfter(three, three)], [true, false, false]);
  for (const pair of [[three, five] as const, [five, three] as const])
    assert.deepEqual([earlierOf(...pair), laterOf(...pair)], [three, five]);
  assert.deepEqual([changesBetween(three, five), changesBetween(five, three)], [2, 0]);
  assert.deepEqual([placeBefore(toPlace(1)), placeAfter(three, 2)], [logStart, five]);
});

test("JSON and blocks of bytes keep places in the form that stores and clients have", () => {
  for (const sequence of [0, 1, 255, 256, 2 ** 48 - 1]) {
    const place = toPlace(sequence);
    assert.equal(JSON.stringify(place), String(sequence));
    assert.equal(JSON.parse(JSON.stringify(place)), place);
    const block = Buffer.alloc(placeBytes + 2);
    writePlace(place, block, 1);
    assert.equal(block.toString("hex"), sequence.toString(16).padStart(14, "0").padEnd(16, "0"));
    assert.equal(toNumber(readPlace(block, 1)), sequence);
  }
});
