import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../src/commands/wording.ts";

const sizes: [number, string][] = [
  [0, "0 bytes"],
  [1, "1 byte"],
  [20, "20 bytes"],
  [999, "999 bytes"],
  [1_000, "1.0 kB"],
  [106_496, "106.5 kB"],
  [999_949, "999.9 kB"],
  [999_950, "1.0 MB"],
  [1_234_567, "1.2 MB"],
  [12_345_678_901, "12,345.7 MB"],
];

for (const [bytes, text] of sizes)
  test(`the size of ${bytes} bytes is ${text}`, () => {
    assert.equal(sized(bytes), text);
  });
