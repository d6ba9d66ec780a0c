import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run } from "./cli.ts";
import { assertRefused, bad, badLines, topics } from "./import-fixture.ts";

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
