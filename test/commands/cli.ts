/** Runs command lines, inside the process of the test or as a separate program. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import type { TestContext } from "node:test";
import { runCli } from "../../src/commands/run.ts";
import { inShell } from "../../src/commands/shell.ts";
import { loadConfig } from "../../src/config.ts";
import { startServer } from "../../src/server.ts";
import { node, nodeFlags } from "../node.ts";
import { usualThreads } from "../threads/count.ts";
import { ceilingMs, until } from "../until.ts";

const binary = resolve("bin/holdfast.js");

const longestRunMs = 5 * ceilingMs;

/** The default of the option depends on the machine. A flag of a test has priority over this variable. */
const threadsVariable = { HOLDFAST_THREADS: String(usualThreads) };

/** The outcome of one run. */
export interface Outcome {
  /** `null` if a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** How a program is run. */
export interface RunOptions {
  cwd: string;
  /** The text for standard input. */
  input?: string | Uint8Array;
  /** Leave standard input open after that. @default false */
  keepsInputOpen?: boolean;
  env?: Readonly<Record<string, string>>;
  /** A program to start instead of the sources. It gets no other environment than `env`. */
  program?: string;
  /** After this time, it is killed. @default never */
  longestMs?: number;
}

/** A running program. */
export interface Running {
  process: ChildProcess;
  /** The output so far. */
  output(): { stdout: string; stderr: string };
  ended: Promise<Outcome>;
}

/** A running service that has printed its address. */
export interface RunningService extends Running {
  origin: string;
  /** `<origin>/api/v1` */
  base: string;
}

/** Starts the program. It is killed when the test ends. */
export function start(test: TestContext, args: readonly string[], options: RunOptions): Running {
  const { cwd, longestMs } = options;
  const common = { cwd, stdio: "pipe", timeout: longestMs, killSignal: "SIGKILL" } as const;
  const child =
    options.program === undefined
      ? spawn(process.execPath, [...nodeFlags, binary, ...args], {
          ...common,
          env: { ...process.env, ...threadsVariable, ...options.env },
        })
      : spawn(options.program, args, { ...common, env: { ...options.env } });
  test.after(() => child.kill("SIGKILL"));
  return follow(child, options);
}

/** Starts the program as npm does: as the child of a shell. Signals reach only the shell. */
export function startUnderShell(test: TestContext, args: readonly string[], options: RunOptions): Running {
  const { npm_lifecycle_event: _, ...env } = process.env;
  const words = [...node, binary, ...args];
  const child = spawn("sh", ["-c", '"$@"; exit $?', "sh", ...words], {
    cwd: options.cwd,
    env: { ...env, ...threadsVariable, ...options.env },
    stdio: "pipe",
    detached: true, // a separate group, so that all of them end with the test
  });
  test.after(() => {
    try {
      process.kill(-Number(child.pid), "SIGKILL");
    } catch {} // all of them have ended
  });
  return follow(child, options);
}

function follow(child: ChildProcessWithoutNullStreams, options: RunOptions): Running {
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  child.stdin.on("error", () => {}); // a program that has read enough closes it
  if (options.keepsInputOpen !== true) child.stdin.end(options.input);
  const ended = once(child, "close").then(
    ([exitCode, signal]) => ({ exitCode, signal, ...output }) as Outcome,
  );
  return { process: child, output: () => output, ended };
}

/**
 * Runs a command line to its end, inside this process. `serve` runs as a program, and so does a command whose configuration is a
 * module: a process loads a module only once.
 */
export async function run(test: TestContext, args: readonly string[], options: RunOptions): Promise<Outcome> {
  if (args.includes("serve") || (await hasModule(args, options))) return runProgram(test, args, options);
  const stdin = new PassThrough();
  if (options.keepsInputOpen === true) stdin.write(options.input ?? "");
  else stdin.end(options.input);
  const output = { stdout: "", stderr: "" };
  const collect = (name: keyof typeof output) =>
    new PassThrough().setEncoding("utf8").on("data", (text: string) => (output[name] += text));
  const streams = { stdin, stdout: collect("stdout"), stderr: collect("stderr") };
  const exitCode = await inShell({ ...streams, cwd: () => options.cwd }, () =>
    runCli(args, { ...process.env, ...options.env }),
  );
  for (const stream of [streams.stdout, streams.stderr]) await finished(stream.end());
  return { exitCode, signal: null, ...output };
}

async function hasModule(args: readonly string[], { cwd, env }: RunOptions): Promise<boolean> {
  const files = [...args, env?.HOLDFAST_CONFIG ?? "", ...(await readdir(cwd))];
  return files.some((file) => /\.[jt]s$|\.mjs$/.test(file));
}

/** Runs the program to its end. Kills it if it does not end, and reports this in the outcome. */
export async function runProgram(
  test: TestContext,
  args: readonly string[],
  options: RunOptions,
): Promise<Outcome> {
  return start(test, args, { longestMs: longestRunMs, ...options }).ended;
}

/** A service inside this process. */
export interface ServiceHere {
  origin: string;
  /** `<origin>/api/v1` */
  base: string;
  /** Stops it. Later calls do nothing. */
  stop(): Promise<void>;
}

/**
 * Starts the service of a folder inside this process: for tests about what a service leaves in its store. SQLite does not lock a file
 * against its own process, so a service beside which commands work is a program (`serve`).
 */
export async function serveHere(
  test: TestContext,
  flags: { store?: string | undefined; accept?: boolean },
  { cwd, env }: RunOptions,
): Promise<ServiceHere> {
  const config = await loadConfig({
    flags: { ...flags, port: "0" },
    env: { ...process.env, ...threadsVariable, ...env },
    cwd,
    reportsFiles: true,
  });
  const server = await startServer(config);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= server.stop());
  test.after(stop);
  return { origin: server.origin, base: `${server.origin}/api/v1`, stop };
}

/** Starts the service on a free port and waits until it listens. */
export async function serve(
  test: TestContext,
  args: readonly string[],
  options: RunOptions,
): Promise<RunningService> {
  const running = start(test, ["serve", "--port", "0", ...args], options);
  const origin = await listening(running);
  return { ...running, origin, base: `${origin}/api/v1` };
}

/** The address that the program prints. Throws if it ends first. */
export async function listening({ process: child, output, ended }: Running): Promise<string> {
  let outcome: Outcome | undefined;
  void ended.then((value) => (outcome = value));
  for (;;) {
    const [, origin] = /listens on +(https?:\/\/[^/\s]+)/.exec(output().stdout) ?? [];
    if (origin !== undefined) return origin;
    if (outcome !== undefined) throw new Error(`it ended: ${JSON.stringify(outcome)}`);
    await Promise.race([once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data"), ended]);
  }
}

/** A POST whose content stops in the middle, until `finish` is called. */
export async function halfSent(service: {
  origin: string;
}): Promise<{ finish(): void; answer: Promise<string>; socket: Socket }> {
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  await once(socket, "connect");
  let answer = "";
  socket.on("data", (text: string) => (answer += text));
  const closed = once(socket, "close").then(() => answer);
  socket.on("error", () => {});
  socket.write(
    `POST /api/v1/things HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 7\r\n\r\n`,
  );
  const goOn = "HTTP/1.1 100 Continue\r\n\r\n"; // the service has the request, and reads its content
  await until("the service reads", () => answer === goOn);
  socket.write('{"n');
  const rest = closed.then((text) => text.slice(goOn.length));
  return { finish: () => socket.write('":1}'), answer: rest, socket };
}

/** Waits until the service accepts no more connections. */
export async function untilDeaf({ origin }: { origin: string }): Promise<void> {
  const isDeaf = () =>
    fetch(`${origin}/livez`).then(
      () => false,
      () => true,
    );
  await until("the listener is closed", isDeaf);
}

/** Sends SIGTERM and waits for the end. */
export async function stop(service: Running): Promise<Outcome> {
  service.process.kill("SIGTERM");
  return service.ended;
}

/** A configuration file that declares collections. */
export function configuration(collections: object, others: object = {}): Record<string, string> {
  return { "holdfast.config.json": JSON.stringify({ collections, ...others }) };
}

/** The lines of a text, each as a JSON value. */
export function jsonLines(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
