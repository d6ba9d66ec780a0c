import assert from "node:assert/strict";
import { test } from "node:test";
import { commentsOf, type SourceValue, sourceOf } from "../../src/init/source-text.ts";

test("what fits a line is in one line, and comments are before their members", () => {
  const value: SourceValue = {
    members: [
      { name: "short", value: { members: [{ name: "type", value: ["string", "null"] }] } },
      { name: "odd name", value: true, comments: ["why"] },
      { name: "long", value: Array.from({ length: 12 }, (_, n) => `attribute${n}`) },
      { name: "empty", value: { members: [] } },
      { name: "noted", value: { members: [], comments: ["nothing"] } },
    ],
  };
  assert.equal(
    sourceOf(value),
    `{
  short: { type: ["string", "null"] },
  // why
  "odd name": true,
  long: [
${Array.from({ length: 12 }, (_, n) => `    "attribute${n}",\n`).join("")}  ],
  empty: {},
  noted: {
    // nothing
  },
}`,
  );
});

test("no text can end its comment, and a long one has several lines", () => {
  assert.equal(commentsOf(["a\nb\u2028c\rd"], 2), "  // a b c d\n");
  const lines = commentsOf([`- ${"word ".repeat(40)}`.trim()]).split("\n");
  assert.ok(lines.length > 2 && lines.every((line) => line.length <= 100));
  assert.match(String(lines[1]), /^\/\/ {3}word/);
});
