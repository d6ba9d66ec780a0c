/** Backups of a store with 1,000,000 resources beside a running service, and what the writers feel of them. */
import { rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { node } from "../harness/commands.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, median, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { follow } from "../load/follow.ts";
import { outputOf } from "../load/load.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const createsPerSecond = 500;

/** Measures backups while clients create resources, creates beside backups and without, and restores. */
export function measureBackups(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const resources = shareOf(effort, 1_000_000);
    const store = `${folder}/store.db`;
    const file = `${folder}/backup.db`;
    await fillStore(store, resources, sampleAttributes);
    const server = await startServer("holdfast", { store });
    const plan = {
      port: server.port,
      subscribers: 0,
      writesPerSecond: createsPerSecond,
      warmUpMs: 1_000,
      durationMs: 10 * effort.durationMs,
    };
    const took: number[] = [];
    const beside: number[] = [];
    const without: number[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      without.push((await follow(plan)).createP99);
      let isOver = false;
      const following = follow(plan).finally(() => {
        isOver = true;
      });
      await sleep(plan.warmUpMs);
      while (!isOver) {
        rmSync(file, { force: true });
        took.push(await seconds(["backup", file, "--store", `sqlite:${store}`]));
      }
      beside.push((await following).createP99);
    }
    await stopServer(server);
    const restored = await seconds(["restore", file, "--store", `sqlite:${folder}/restored.db`]);
    const size = `${resources.toLocaleString("en")} resources, ${Math.round(statSync(file).size / 1e6)} MB`;
    const pace = `${createsPerSecond} creates/s`;
    return [
      {
        what: `backup beside ${pace}`,
        value: `${median(took).toFixed(1)} s (${took.length} backups), ${size}`,
      },
      figureOf(
        `p99 of ${pace} beside backups, against without`,
        { ours: beside, theirs: without },
        { aim: { atMost: 3 }, show: showMs },
      ),
      { what: "restore of this backup", value: `${restored.toFixed(1)} s` },
    ];
  });
}

async function seconds(args: readonly string[]): Promise<number> {
  const begin = performance.now();
  await outputOf([...node, "bin/holdfast.js", ...args], {});
  return (performance.now() - begin) / 1_000;
}
