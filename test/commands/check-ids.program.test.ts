import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run } from "./cli.ts";

const withTitle = (title: object) => ({
  topics: { schema: { type: "object", required: ["title"], properties: { title } } },
});

const loose = withTitle({ type: "string" });

const topics = '{"id":"a","title":"abc"}\n{"id":"b","title":"abcd"}\n{"id":"c","title":"abcde"}\n';

/** A folder whose store was made under the loose schema. */
async function withStore(t: TestContext): Promise<string> {
  const cwd = makeFolder({ "topics.ndjson": topics, ...configuration(loose) });
  const { exitCode, stderr } = await run(t, ["import", "topics", "topics.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  return cwd;
}

async function declare(cwd: string, collections: object, others: object = {}): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections, others)))
    await writeFile(join(cwd, name), text);
}

test("another kind of id than the store has is a misfit", async (t) => {
  const cwd = await withStore(t);
  await declare(cwd, { topics: { id: "integer" } });
  const { exitCode, stdout } = await run(t, ["check"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(
    stdout,
    /^topics: the configuration declares id "integer", but the ids in the store are "uuid"$/m,
  );
});
