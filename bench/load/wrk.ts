/** Makes load with wrk. It needs less processor time for a request than any server here. */
import { writeFileSync } from "node:fs";
import { inFolder } from "../harness/folder.ts";
import type { LoadPlan, LoadResult } from "./plan.ts";

/** The output of `wrk.lua`. */
interface Said {
  answers: number;
  seconds: number;
  p50: number;
  p99: number;
  failed: number;
  statuses: Record<string, number>;
}

/** Runs a plan: first the warm-up, which counts statuses, and then the measurement, which does not. */
export function runWrk(
  plan: LoadPlan,
  run: (command: readonly string[]) => Promise<string>,
): Promise<LoadResult> {
  return inFolder(async (folder) => {
    const file = `${folder}/requests`;
    writeFileSync(file, plan.requests.map((text) => `${Buffer.byteLength(text)}\n${text}\n`).join(""));
    const warmUp = plan.warmUpMs === 0 ? undefined : read(await run(commandOf(plan, file, plan.warmUpMs)));
    const isCounted = plan.counts ?? warmUp === undefined;
    const mode = isCounted ? [] : ["measured"];
    const said = read(await run([...commandOf(plan, file, plan.durationMs), ...mode]));
    const failed = said.failed === 0 ? {} : { failed: said.failed };
    return {
      perSecond: said.answers / said.seconds,
      answers: said.answers,
      p50: said.p50,
      p99: said.p99,
      statuses: { ...warmUp?.statuses, ...said.statuses, ...failed },
    };
  });
}

/** The command line. wrk accepts only whole seconds. */
function commandOf({ port, connections }: LoadPlan, file: string, ms: number): string[] {
  const seconds = Math.max(1, Math.round(ms / 1000));
  const first = Math.floor(Math.random() * 90_000_000); // serial numbers that no other run has
  const url = `http://127.0.0.1:${port}`;
  const options = [
    "-t1",
    `-c${connections}`,
    `-d${seconds}s`,
    "--timeout",
    "30s",
    "-s",
    "bench/load/wrk.lua",
  ];
  return ["wrk", ...options, url, "--", file, String(first)];
}

function read(output: string): Said {
  const line = /^said (.*)$/m.exec(output)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result: ${output}`);
  return JSON.parse(line) as Said;
}
