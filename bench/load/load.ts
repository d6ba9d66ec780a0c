/**
 * Makes load with another program: `wrk` if it is installed, otherwise `autocannon`. `sockets.ts` makes the loads that both
 * cannot make: a separate sequence of requests for each connection, and requests that are sent only once.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { has, node, type RunOptions, wrapperOf } from "../harness/commands.ts";
import { inFolder } from "../harness/folder.ts";
import { installOpponents } from "../opponents/packages.ts";
import type { LoadPlan, LoadResult } from "./plan.ts";
import { runWrk } from "./wrk.ts";

/** The program that makes most loads. */
export const loadProgram: "wrk" | "autocannon" = has("wrk") ? "wrk" : "autocannon";

/** Runs a plan. */
export function load(plan: LoadPlan, options: RunOptions = {}): Promise<LoadResult> {
  if (plan.inOrder === true || plan.once === true) return runProgram("sockets", plan, options);
  if (loadProgram === "wrk") return runWrk(plan, (command) => outputOf(command, options));
  const reason = installOpponents();
  if (reason !== undefined) throw new Error(`There is no wrk, and autocannon is not installed: ${reason}`);
  return runProgram("autocannon", plan, options);
}

function runProgram(name: string, plan: LoadPlan, options: RunOptions): Promise<LoadResult> {
  return inFolder(async (folder) => {
    const file = `${folder}/plan.json`;
    writeFileSync(file, JSON.stringify(plan));
    const text = await outputOf([...node, `bench/load/${name}.ts`, file], options);
    return JSON.parse(text) as LoadResult;
  });
}

/** Runs a program, and returns its output. Throws if it fails. */
export async function outputOf(program: readonly string[], options: RunOptions): Promise<string> {
  const [command = "", ...args] = [...wrapperOf(options), ...program];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let text = "";
  for await (const chunk of child.stdout) text += chunk;
  const [status] = await ended;
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${text}`);
  return text;
}
