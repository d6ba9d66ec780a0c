import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { randomOf } from "../seed.ts";
import { whyNoTrace } from "../strace.ts";
import { until } from "../until.ts";
import { judgeBroken, possibleBreaks } from "./broken-images.ts";
import { firstLoss, hasCheckpoints, onFaultyDisk, skippedFlushes } from "./controls.ts";
import { Disk, drawSurvival } from "./disk.ts";
import type { Exploration } from "./explore.ts";
import type { Life, Recording, Session } from "./recording.ts";
import { sabotages } from "./sabotage.ts";
import { readSaved, save, saveBad } from "./saved.ts";
import { checkpointSession, exploreImages, recordSession } from "./session.ts";

const seed = 1;

const killed: Life = { requests: 40, flushDelayMs: 30, isHeldOpen: false, signal: "SIGKILL" };

/** A kill during a flush, a start beside another program, an orderly stop, and each command. */
const restarts: Session = {
  seed,
  texts: "mixed",
  hasWebhook: true,
  lives: [
    { ...killed, beside: ["key"] },
    { ...killed, flushDelayMs: 0, isHeldOpen: true, threads: 4, before: ["erase"], beside: ["backup"] },
    { ...killed, requests: 20, signal: "SIGTERM", before: ["copy"] },
  ],
};

async function assertAllRight(recording: Recording, images: number): Promise<void> {
  const exploration: Omit<Exploration, "folder"> = { seed, images, starts: 1 };
  const findings = await exploreImages(recording, exploration);
  assert.ok(findings.images >= images, `only ${findings.images} different images`);
  if (findings.bad.length > 0) assert.fail(saveBad({ recording, exploration }, findings));
}

test("a signal stops the proof", { skip: whyNoTrace() }, async (t) => {
  const place = makeFolder();
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
  const folder = makeFolder();
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

  for (const sabotage of sabotages.filter(({ isInShortForm }) => isInShortForm))
    test(`loses something in a build with ${sabotage.name}`, async (context) => {
      const loss = await firstLoss(sabotage);
      assert.ok(loss, "the explorer does not find this fault");
      context.diagnostic(`seed ${loss.seed}: ${loss.findings.bad[0]?.faults[0]}`);
    });

  test("is judged by everything that the store has", async () => {
    for (const { what, sql, fault } of possibleBreaks(ordinary)) {
      const { good, broken } = await judgeBroken(ordinary, { sql, folder });
      assert.deepEqual(good, []);
      assert.ok(
        broken.some((each) => fault.test(each)),
        `${what}: ${broken.join("; ")}`,
      );
    }
  });
});

test("a disk can keep anything of what was not flushed", () => {
  const random = randomOf(seed);
  const [size, count] = [600, 40];
  const pages = Array.from({ length: count }, (_, page) => Buffer.alloc(size, page + 1));
  const seen = new Set<string>();
  for (let images = 0; images < 2_000; images++) {
    const disk = new Disk(new Map([["store.db", Buffer.alloc(size, 255)]]));
    for (const [page, bytes] of pages.entries())
      disk.apply(page, { kind: "write", name: "store.db", offset: (page + 1) * size, bytes, end: page });
    const image = disk.image(drawSurvival(random), random).get("store.db") ?? Buffer.alloc(0);
    const found = pages.map((bytes, page) => {
      const part = image.subarray((page + 1) * size, (page + 2) * size);
      if (part.equals(bytes)) return "whole";
      const empty = part.indexOf(0);
      const isTorn = empty > 0 && part.subarray(0, empty).equals(bytes.subarray(0, empty));
      if (isTorn) return ((page + 1) * size + empty) % 512 === 0 ? "a sector" : "a part up to any byte";
      if (part.every((byte) => byte === 0)) return "zeros";
      return part.every((byte) => byte === 255) ? "old bytes" : "junk";
    });
    const whole = found.filter((each) => each === "whole").length;
    if (whole === count - 1) seen.add("all but one");
    if (whole === 1) seen.add("only one");
    if (whole > 1 && whole < count - 1 && found.lastIndexOf("whole") === whole - 1) seen.add("the first");
    if (whole > 1 && whole < count - 1 && found.indexOf("whole") === count - whole) seen.add("the last");
    if (image.length > size && whole === 0) seen.add("a length without data");
    for (const each of found) seen.add(each);
  }
  assert.deepEqual([...seen].sort(), [
    "a length without data",
    "a part up to any byte",
    "a sector",
    "all but one",
    "junk",
    "old bytes",
    "only one",
    "the first",
    "the last",
    "whole",
    "zeros",
  ]);
});
