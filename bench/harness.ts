/** Servers and load as programs of their own, so that what is measured shares no event loop with what measures. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LoadPlan, LoadResult } from "./load.ts";

const node = [process.execPath, "--conditions=holdfast-source"];

/** A server under measurement. */
export interface Server {
  port: number;
  child: ChildProcess;
}

/** How a server is run. */
export interface ServerOptions {
  /** The one processor that it may use, where `taskset` is there. */
  cpu?: number;
  /** Microseconds that each flush (fsync, fdatasync) is held up, with strace. */
  flushDelayUs?: number;
}

/** Starts `bench/servers/<name>.ts` with one argument as JSON. */
export async function startServer(
  name: string,
  argument: unknown,
  options: ServerOptions = {},
): Promise<Server> {
  const [command = "", ...args] = [
    ...wrapperOf(options),
    ...node,
    `bench/servers/${name}.ts`,
    JSON.stringify(argument),
  ];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL")); // also where a measurement fails
  for await (const line of createInterface({ input: child.stdout })) {
    if (/^\d+$/.test(line)) return { port: Number(line), child };
  }
  throw new Error(`the server ${name} did not start`);
}

function wrapperOf({ cpu, flushDelayUs }: ServerOptions): string[] {
  if (flushDelayUs !== undefined) {
    const inject = `inject=fsync,fdatasync:delay_enter=${flushDelayUs}`;
    return [
      "strace",
      "-D",
      "-f",
      "--seccomp-bpf",
      "-o",
      "/dev/null",
      "-e",
      "trace=fsync,fdatasync",
      "-e",
      inject,
    ];
  }
  return cpu === undefined || !has("taskset") ? [] : ["taskset", "-c", String(cpu)];
}

/** Ends a server and waits until it is gone. */
export async function stopServer({ child }: Server): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Runs a plan in a process of its own. */
export async function load(plan: LoadPlan, options: ServerOptions = {}): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-plan-"));
  const file = join(folder, "plan.json");
  writeFileSync(file, JSON.stringify(plan));
  const [command = "", ...args] = [...wrapperOf(options), ...node, "bench/load.ts", file];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout) text += chunk;
  rmSync(folder, { recursive: true, force: true });
  return JSON.parse(text) as LoadResult;
}

/** Whether a command is there. */
export function has(command: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${command}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Runs `work` with a folder that is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A measured figure beside what was aimed at. */
export interface Figure {
  what: string;
  value: string;
  /** The ratio and the aim, where there is one. */
  ratio?: number;
  aim?: { atLeast: number } | { atMost: number };
}

/** A line for a figure. */
export function formatFigure({ what, value, ratio, aim }: Figure): string {
  if (ratio === undefined || aim === undefined) return `${what}: ${value}`;
  const isReached = "atLeast" in aim ? ratio >= aim.atLeast : ratio <= aim.atMost;
  const aimText = "atLeast" in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`;
  return `${isReached ? "reached" : "MISSED "} ${what}: ${ratio.toFixed(2)} (${aimText}); ${value}`;
}

/** An HTTP/1.1 request as text. */
export function requestText(method: string, path: string, body?: string): string {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1"];
  if (body !== undefined) {
    lines.push("Content-Type: application/json; charset=utf-8", `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** Attributes of about 300 bytes as JSON. */
export function sampleAttributes(n: number): Record<string, unknown> {
  return {
    title: `A title of an article with the number ${n}`,
    author: `author-${n % 1000}`,
    publishedOn: "2026-03-14",
    rating: (n % 50) / 10,
    tags: ["news", "sport", `tag-${n % 77}`],
    summary:
      "A few words that say what the article is about, as an editor would write them for the front page.",
  };
}

/** The schema that `sampleAttributes` fits. */
export const sampleSchema = {
  type: "object",
  required: ["title", "author", "publishedOn", "rating", "tags", "summary"],
  properties: {
    title: { type: "string", minLength: 1, maxLength: 200 },
    author: { type: "string", pattern: "^author-[0-9]+$" },
    publishedOn: { type: "string", format: "date" },
    rating: { type: "number", minimum: 0, maximum: 5 },
    tags: { type: "array", items: { type: "string", maxLength: 30 }, maxItems: 20 },
    summary: { type: "string", maxLength: 2000 },
  },
};

/** Throws unless all was answered with one status: what is refused is refused fast, and must not count. */
export function requireStatus({ statuses }: LoadResult, wanted: string): void {
  const others = Object.keys(statuses).filter((status) => status !== wanted);
  if (others.length > 0 || statuses[wanted] === undefined)
    throw new Error(`not only ${wanted} was answered: ${JSON.stringify(statuses)}`);
}
