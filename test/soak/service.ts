/** The service of a soak, as a program that reports figures about itself. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { usualThreads } from "../threads/count.ts";
import type { InnerFigures } from "./samples.ts";

/** A running service. */
export interface SoakService {
  pid: number;
  /** The latest report; `undefined` before the first one. */
  inner(): InnerFigures | undefined;
  /** Whether it has ended without being asked to. */
  hasEnded(): boolean;
  /** Stops it with SIGTERM. Throws if its exit code is not 0. */
  stop(): Promise<void>;
  kill(): void;
}

/** Starts the service on a port, in a folder with its configuration and its store. */
export async function startService(folder: string, port: number): Promise<SoakService> {
  const node = [
    "--conditions=holdfast-source",
    "--import",
    new URL("inner-figures.ts", import.meta.url).href,
  ];
  const program = new URL("../../bin/holdfast.js", import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [...node, program, "serve", "--port", String(port)], {
    cwd: folder,
    env: ownEnvironment(),
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  let latest: InnerFigures | undefined;
  child.on("message", (figures) => {
    latest = figures as InnerFigures;
  });
  await untilListening(child);
  return {
    pid: Number(child.pid),
    inner: () => latest,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill("SIGTERM");
      const [code, signal] = await once(child, "exit");
      if (code !== 0) throw new Error(`The service ended with ${code ?? signal}, not with 0.`);
    },
    kill: () => child.kill("SIGKILL"),
  };
}

async function untilListening(child: ChildProcess): Promise<void> {
  if (child.stdout === null) return;
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.includes("listens on")) break;
  child.stdout.resume();
  if (child.exitCode !== null) throw new Error(`The service did not start: exit code ${child.exitCode}.`);
}

/** The environment without the variables of tests. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDFAST_"));
  return { ...Object.fromEntries(others), HOLDFAST_THREADS: String(usualThreads) };
}
