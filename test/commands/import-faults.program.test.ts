import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, type Outcome, run } from "./cli.ts";

const title = { type: "string", minLength: 1, maxLength: 50 };

const topics = {
  schema: {
    type: "object",
    required: ["title"],
    properties: { title, publishedOn: { type: "string", format: "date" } },
  },
};

/** One clear line, and exit code 1. */
function assertRefused(outcome: Outcome, says: RegExp): void {
  assert.equal(outcome.exitCode, 1, outcome.stderr);
  assert.equal(outcome.stdout, "");
  assert.match(outcome.stderr, says);
  assert.match(outcome.stderr, /^(?: {2}[^\n]+\n)*holdfast: [^\n]+\n$/);
}

const bad = [
  '{"id":"ok","title":"Fine"}',
  '{"title":""}',
  '{"title":"x","colour":"red"}',
  "nope",
  '{"title":"a","title":"b"}',
  '{"title":"a","publishedOn":"2024-02-30"}',
  '{"id":"ok","title":"Again"}',
  "[1]",
];

const badLines = [
  /^ {2}line 2: .*title/m,
  /^ {2}line 3: .*colour/m,
  /^ {2}line 4: \S/m,
  /^ {2}line 5: .*title/m,
  /^ {2}line 6: .*publishedOn/m,
  /^ {2}line 7: "id" is "ok", which already exists$/m,
  /^ {2}line 8: .*object/m,
];

test("one bad line, and nothing is imported: every bad line is named with its reason", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": bad.join("\n"), ...configuration({ topics }) });
  const outcome = await run(t, ["import", "topics", "topics.ndjson"], { cwd });
  assertRefused(
    outcome,
    /nothing was imported: 7 of 8 resources are invalid\. Correct the input, or import the rest with --skip-invalid\./,
  );
  for (const line of badLines) assert.match(outcome.stderr, line);
  assert.equal((await run(t, ["export", "topics"], { cwd })).stdout, "");
});
