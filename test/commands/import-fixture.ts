/** What imports read. */
import assert from "node:assert/strict";
import type { Outcome } from "./cli.ts";

const title = { type: "string", minLength: 1, maxLength: 50 };

export const topics = {
  schema: {
    type: "object",
    required: ["title"],
    properties: { title, publishedOn: { type: "string", format: "date" } },
  },
};

/** One clear line, and exit code 1. */
export function assertRefused(outcome: Outcome, says: RegExp): void {
  assert.equal(outcome.exitCode, 1, outcome.stderr);
  assert.equal(outcome.stdout, "");
  assert.match(outcome.stderr, says);
  assert.match(outcome.stderr, /^(?: {2}[^\n]+\n)*holdfast: [^\n]+\n$/);
}

export const bad = [
  '{"id":"ok","title":"Fine"}',
  '{"title":""}',
  '{"title":"x","colour":"red"}',
  "nope",
  '{"title":"a","title":"b"}',
  '{"title":"a","publishedOn":"2024-02-30"}',
  '{"id":"ok","title":"Again"}',
  "[1]",
];

export const badLines = [
  /^ {2}line 2: .*title/m,
  /^ {2}line 3: .*colour/m,
  /^ {2}line 4: \S/m,
  /^ {2}line 5: .*title/m,
  /^ {2}line 6: .*publishedOn/m,
  /^ {2}line 7: "id" is "ok", which already exists$/m,
  /^ {2}line 8: .*object/m,
];
