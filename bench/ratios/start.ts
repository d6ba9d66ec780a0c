/** From launch to the first answer, against the launch of Node itself. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Effort } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";

/** Measures the whole start, npm not counted. */
export async function measureStart(effort: Effort): Promise<Figure[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const rounds = 3 * effort.rounds + 2;
  for (let round = 0; round < rounds; round++) {
    theirs.push(nodeMs());
    ours.push(await inFolder((folder) => firstAnswerMs(`${folder}/start.db`)));
  }
  const [own, node] = [median(ours), median(theirs)];
  return [
    {
      what: "launch to first answer against `node -e 0`",
      ratio: own / node,
      aim: { atMost: 12 },
      value: `${Math.round(own)} ms against ${Math.round(node)} ms`,
    },
  ];
}

function nodeMs(): number {
  const begin = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - begin;
}

async function firstAnswerMs(store: string): Promise<number> {
  const begin = performance.now();
  const args = [
    "--conditions=holdfast-source",
    "bin/holdfast.js",
    "serve",
    "--port",
    "0",
    "--store",
    `sqlite:${store}`,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const base = /listens on\s+(\S+)/.exec(line)?.[1];
    if (base === undefined) continue;
    await (await fetch(`${base}/topics`)).text();
    break;
  }
  const took = performance.now() - begin;
  child.kill("SIGKILL");
  await once(child, "exit");
  return took;
}
