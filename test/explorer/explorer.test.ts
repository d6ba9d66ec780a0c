import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { whyNoTrace } from "../strace.ts";
import { until } from "../until.ts";
import { breaks, judgeBroken } from "./broken-images.ts";
import { firstLoss, hasCheckpoints, onFaultyDisk, skippedFlushes } from "./controls.ts";
import type { Exploration } from "./explore.ts";
import type { Life, Recording, Session } from "./recording.ts";
import { sabotages } from "./sabotage.ts";
import { readSaved, save, saveBad } from "./saved.ts";
import { checkpointSession, exploreImages, recordSession } from "./session.ts";

const seed = 1;

const killed: Life = { requests: 40, flushDelayMs: 30, isHeldOpen: false, signal: "SIGKILL" };

/** A kill during a flush, a start beside another program, and an orderly stop. */
const restarts: Session = {
  seed,
  texts: "mixed",
  lives: [
    killed,
    { ...killed, flushDelayMs: 0, isHeldOpen: true, threads: 4 },
    { ...killed, signal: "SIGTERM", threads: 4 },
  ],
};

async function assertAllRight(recording: Recording, images: number): Promise<void> {
  const exploration: Omit<Exploration, "folder"> = { seed, images };
  const findings = await exploreImages(recording, exploration);
  assert.ok(findings.images >= images, `only ${findings.images} different images`);
  if (findings.bad.length > 0) assert.fail(saveBad({ recording, exploration }, findings));
}

test("a signal stops the proof", { skip: whyNoTrace() }, async (t) => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-stopped-"));
  t.after(() => rmSync(place, { recursive: true }));
  const args = ["--conditions=holdfast-source", "test/prove.ts", "explorer"];
  const proof = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: place }, stdio: "ignore" });
  t.after(() => proof.kill("SIGKILL"));
  const ended = once(proof, "exit");
  await until("the proof works", () =>
    readdirSync(place).some((name) => name.startsWith("holdfast-explorer-")),
  );
  proof.kill("SIGTERM");
  assert.deepEqual(await ended, [130, null]);
  assert.deepEqual(
    readdirSync(place).filter((name) => name.startsWith("holdfast-")),
    [],
  );
});

describe("a power cut", { skip: whyNoTrace(), concurrency: 2 }, () => {
  let ordinary: Recording;
  let checkpoints: Recording;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-explored-"));
  after(() => rmSync(folder, { recursive: true }));
  before(async () => {
    [ordinary, checkpoints] = await Promise.all([
      recordSession(restarts),
      recordSession(checkpointSession(seed)),
    ]);
  });

  test("loses nothing that was acknowledged, over kills and restarts", () => assertAllRight(ordinary, 200));

  test("loses nothing while the log is moved into the file, and after the log has started again", async () => {
    assert.ok(hasCheckpoints(checkpoints));
    await assertAllRight(checkpoints, 60);
  });

  for (const skipped of skippedFlushes)
    test(`loses something on a disk that skips the flushes ${skipped}`, async () => {
      const exploration = { seed, images: 100, isOverAtFirst: true };
      const recording = onFaultyDisk(checkpoints, skipped);
      const findings = await exploreImages(recording, exploration);
      assert.equal(findings.bad.length, 1);
      const path = join(folder, `saved-${skippedFlushes.indexOf(skipped)}`);
      save({ recording, exploration }, path);
      const again = readSaved(path);
      assert.deepEqual(await exploreImages(again.recording, again.exploration), findings);
    });

  for (const sabotage of sabotages)
    test(`loses something in a build with ${sabotage.name}`, async (context) => {
      const loss = await firstLoss(sabotage);
      assert.ok(loss, "the explorer does not find this fault");
      context.diagnostic(`seed ${loss.seed}: ${loss.findings.bad[0]?.faults[0]}`);
    });

  test("is judged by everything that the store has", async () => {
    for (const { what, sql, fault } of breaks) {
      const { good, broken } = await judgeBroken(ordinary, { sql, folder });
      assert.deepEqual(good, []);
      assert.ok(
        broken.some((each) => fault.test(each)),
        `${what}: ${broken.join("; ")}`,
      );
    }
  });
});
