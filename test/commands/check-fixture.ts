/** A folder whose store was made under other declarations. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run } from "./cli.ts";

export const withTitle = (title: object) => ({
  topics: { schema: { type: "object", required: ["title"], properties: { title } } },
});

export const loose = withTitle({ type: "string" });

export const topics = '{"id":"a","title":"abc"}\n{"id":"b","title":"abcd"}\n{"id":"c","title":"abcde"}\n';

/** A folder whose store was made under the loose schema. */
export async function withStore(t: TestContext): Promise<string> {
  const cwd = makeFolder({ "topics.ndjson": topics, ...configuration(loose) });
  const { exitCode, stderr } = await run(t, ["import", "topics", "topics.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  return cwd;
}

export async function declare(cwd: string, collections: object, others: object = {}): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections, others)))
    await writeFile(join(cwd, name), text);
}
