/** Starts the program with modules that Node loads before it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { nodeFlags } from "../node.ts";
import { until } from "../until.ts";

export interface TracedProgram {
  origin: string;
  /** The lines of its log so far. */
  log(): Record<string, unknown>[];
  /** Stops it gracefully, and waits for its end. */
  stop(): Promise<void>;
}

interface Start {
  store: string;
  nodeOptions: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export async function startTraced({ store, nodeOptions, env = {} }: Start): Promise<TracedProgram> {
  const args = ["bin/holdfast.js", "serve", "--port", "0", "--store", `sqlite:${store}`];
  const child = spawn(process.execPath, [...nodeFlags, ...nodeOptions, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  const exited = once(child, "exit");
  const origin = () => /listens on\s+(http:\/\/[^/\s]+)/.exec(output.stdout)?.[1];
  await until("the program listens", () => {
    if (child.exitCode !== null) throw new Error(`It has ended: ${output.stderr}`);
    return origin() !== undefined;
  });
  return {
    origin: String(origin()),
    log: () =>
      output.stderr
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
