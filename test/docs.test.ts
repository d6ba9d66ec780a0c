import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { options } from "../src/config/options.ts";
import { problems } from "../src/errors.ts";

test("the HTTP reference lists every problem with its status, and no other", () => {
  const reference = readFileSync("docs/reference/http.md", "utf8");
  const listed = [...reference.matchAll(/^\| `([A-Z][A-Z_0-9]+)` \| (\d{3}) \| (.+) \|$/gm)].map(
    ([, code, status, meaning]) => [code, Number(status), meaning],
  );
  const known = Object.entries(problems).map(([code, { status, meaning }]) => [code, status, meaning]);
  assert.deepEqual(listed, known);
});

test("the configuration reference lists every option with flag, variable and default, and no other", () => {
  const reference = readFileSync("docs/reference/configuration.md", "utf8");
  const listed = [
    ...reference.matchAll(/^\| `([A-Za-z.]+)` \| (?:`--(\w+)`)? \| (?:`(\w+)`)? \| (.+?) \| (.+) \|$/gm),
  ].map(([, ...cells]) => cells);
  const known = Object.entries(options).map(([name, option]) => [
    name,
    "flag" in option ? option.flag : undefined,
    "env" in option ? option.env : undefined,
    option.shownDefault,
    option.about,
  ]);
  assert.deepEqual(listed, known);
});
