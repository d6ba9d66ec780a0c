import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { whyNoTrace } from "../strace.ts";
import { scannedIds } from "./contract/fixture.ts";
import { type Mode, type Report, traceWriting } from "./strace.ts";

const skip = whyNoTrace();

/** Writes on a disk with the given failures, and then checks the remaining data on a working disk. */
async function writeOnFailingDisk(inject: string, mode: Mode): Promise<Report> {
  const folder = makeFolder();
  const { report } = traceWriting(folder, {
    mode,
    strace: ["-e", inject.split(":")[0]?.replace("inject", "trace") as string, "-e", inject],
  });
  const store = await openStore({ kind: "sqlite", path: join(folder, "x.db") }, { onFailure: assert.fail });
  const kept = new Set(await scannedIds(store, "topics"));
  assert.deepEqual(
    report.acknowledged.filter((id) => !kept.has(id)),
    [],
    "every acknowledged resource is there",
  );
  assert.equal(kept.size, await store.count("topics"));
  await store.close();
  return report;
}

const cases = [
  { name: "once", when: "20", mode: "FULL" },
  { name: "for ever", when: "20+", mode: "FULL" },
  // Then there are commits in the writer's queue when the flush fails.
  { name: "once while others are queued", when: "20", mode: "ONE BY ONE" },
] as const;

for (const { name, when, mode } of cases) {
  test(`a flush that fails ${name} stops the store: no later write is acknowledged, none hangs`, {
    skip,
  }, async () => {
    const { acknowledged, problems, health, failures } = await writeOnFailingDisk(
      `inject=fdatasync,fsync:error=EIO:when=${when}`,
      mode,
    );
    assert.equal(health.kind, "failed");
    assert.equal(failures.length, 1);
    assert.match(failures[0] as string, /disk I\/O error/);
    assert.equal(acknowledged.length + problems.length, 60);
    assert.ok(acknowledged.length > 0);
    assert.ok(problems.includes("OUTCOME_UNKNOWN"), "those in the group that failed cannot know");
    assert.ok(problems.includes("UNAVAILABLE"), "those after it are refused");
    assert.equal(new Set(problems).size, 2, String(problems));
  });
}
