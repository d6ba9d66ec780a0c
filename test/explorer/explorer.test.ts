import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { whyNoTrace } from "../strace.ts";
import { breaks, judgeBroken } from "./broken-images.ts";
import { firstLoss, hasCheckpoints, onFaultyDisk, skippedFlushes } from "./controls.ts";
import type { Exploration } from "./explore.ts";
import type { Life, Recording, Session } from "./recording.ts";
import { sabotages } from "./sabotage.ts";
import { saveBad } from "./saved.ts";
import { checkpointSession, exploreImages, recordSession } from "./session.ts";

const seed = 1;

const killed: Life = { requests: 40, isSlow: true, isHeldOpen: false, signal: "SIGKILL" };

/** A kill during a flush, a start beside another program, and an orderly stop. */
const restarts: Session = {
  seed,
  texts: "mixed",
  lives: [killed, { ...killed, isSlow: false, isHeldOpen: true }, { ...killed, signal: "SIGTERM" }],
};

async function assertAllRight(recording: Recording, images: number): Promise<void> {
  const exploration: Omit<Exploration, "folder"> = { seed, images };
  const findings = await exploreImages(recording, exploration);
  assert.ok(findings.images >= images, `only ${findings.images} different images`);
  if (findings.bad.length > 0) assert.fail(saveBad({ recording, exploration }, findings));
}

describe("a power cut", { skip: whyNoTrace(), concurrency: 2 }, () => {
  let ordinary: Recording;
  let checkpoints: Recording;
  before(async () => {
    [ordinary, checkpoints] = await Promise.all([
      recordSession(restarts),
      recordSession(checkpointSession(seed)),
    ]);
  });

  test("loses nothing that was acknowledged, over kills and restarts", () => assertAllRight(ordinary, 400));

  test("loses nothing while the log is moved into the file, and after the log has started again", async () => {
    assert.ok(hasCheckpoints(checkpoints));
    await assertAllRight(checkpoints, 100);
  });

  for (const skipped of skippedFlushes)
    test(`loses something on a disk that skips the flushes ${skipped}`, async () => {
      const recording = onFaultyDisk(checkpoints, skipped);
      const again = () => exploreImages(recording, { seed, images: 100, isOverAtFirst: true });
      const findings = await again();
      assert.equal(findings.bad.length, 1);
      assert.deepEqual(await again(), findings, "the same recording and seed give the same findings");
    });

  for (const sabotage of sabotages)
    test(`loses something in a build with ${sabotage}`, async (context) => {
      const loss = await firstLoss(sabotage);
      assert.ok(loss, "the explorer does not find this fault");
      context.diagnostic(`seed ${loss.seed}: ${loss.findings.bad[0]?.faults[0]}`);
    });

  test("is judged by everything that the store has", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-broken-"));
    try {
      for (const { what, sql, fault } of breaks) {
        const { good, broken } = await judgeBroken(ordinary, { sql, folder });
        assert.deepEqual(good, []);
        assert.ok(
          broken.some((each) => fault.test(each)),
          `${what}: ${broken.join("; ")}`,
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
