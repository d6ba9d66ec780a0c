import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { problems } from "../src/errors.ts";

test("the HTTP reference lists every problem with its status, and no other", () => {
  const reference = readFileSync("docs/reference/http.md", "utf8");
  const listed = [...reference.matchAll(/^\| `([A-Z][A-Z_0-9]+)` \| (\d{3}) \| (.+) \|$/gm)].map(
    ([, code, status, meaning]) => [code, Number(status), meaning],
  );
  const known = Object.entries(problems).map(([code, { status, meaning }]) => [code, status, meaning]);
  assert.deepEqual(listed, known);
});
