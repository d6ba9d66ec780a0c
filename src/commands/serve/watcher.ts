/** `holdfast serve --watch`: serves in a child process, and replaces that process when the configuration changes. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { namedFile, possibleFiles } from "../../config/file.ts";
import type { FileContent } from "../../config/option-values.ts";
import { forkProgram, processArguments } from "../../program.ts";
import { hasFunctionMark } from "../../user-module.ts";
import type { Environment, Flags, OnListening } from "../flags.ts";
import { watchParent } from "../serve-command.ts";
import { describeDifferences } from "./differences.ts";

/** Serves until a signal ends the process. */
export async function runWatch(flags: Flags, env: Environment, onListening?: OnListening): Promise<never> {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(1); // the service processes end with this one
    stopping.abort();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  if (env.npm_lifecycle_event !== undefined) watchParent(() => stopping.signal.aborted || stop());
  const possible = possibleFiles(process.cwd(), namedFile({ flags, env }));
  process.exit(await new Watcher(flags, possible, { signal: stopping.signal, onListening }).run());
}

interface WatcherOptions {
  signal: AbortSignal;
  onListening: OnListening | undefined;
}

class Watcher {
  readonly #flags: Flags;
  /** The paths at which the configuration file can be. */
  readonly #possible: readonly string[];
  readonly #signal: AbortSignal;
  #onListening: WatcherOptions["onListening"];
  /** The files of the configuration, with their states before they were last read. */
  #files: FileStates = new Map();
  /** The process that serves, or served last. */
  #current: ServiceProcess | undefined;
  /** The configuration of the current process. */
  #content: FileContent = {};
  /** The files of that configuration, as the current process has read them. */
  #served: FileStates = new Map();
  /** The port of the last service. The next one gets it too if the configuration lets the service choose. */
  #port = 0;
  #exitCode = 0;

  constructor(flags: Flags, possible: readonly string[], { signal, onListening }: WatcherOptions) {
    this.#flags = flags;
    this.#possible = possible;
    this.#signal = signal;
    this.#onListening = onListening;
    this.#signal.addEventListener("abort", () => void this.#current?.stop());
  }

  /** Watches until the signal is aborted. Returns the exit code of the last service. */
  async run(): Promise<number> {
    while (!this.#signal.aborted) {
      await this.#update();
      await waitForChange(this.#files, this.#signal);
    }
    return this.#current?.stop() ?? this.#exitCode;
  }

  /** Reads the configuration. If it is valid and has changed, serves it. */
  async #update(): Promise<void> {
    const next = new ServiceProcess();
    const kill = () => void next.kill();
    this.#signal.addEventListener("abort", kill);
    const reply = await this.#read(next);
    this.#signal.removeEventListener("abort", kill);
    if (reply?.kind !== "read") await waitForNextCheck(this.#signal); // an editor can be saving the file
    if (this.#signal.aborted || haveChanged(this.#files)) return next.kill();
    if (reply?.kind !== "read") {
      this.#printRefusal(reply);
      return next.kill();
    }
    if (this.#isServing && this.#isServed(reply.content)) return next.kill();
    await this.#replace(next, reply.content);
  }

  /** Whether the current process serves this configuration. Its functions can have changed with any of its files. */
  #isServed(content: FileContent): boolean {
    if (!isDeepStrictEqual(content, this.#content)) return false;
    return !hasFunctionMark(content) || isDeepStrictEqual(this.#files, this.#served);
  }

  async #read(next: ServiceProcess): Promise<FromService | undefined> {
    const before = statesOf([...this.#possible, ...this.#files.keys()]);
    const reply = await next.ask({ kind: "read", flags: this.#flags, mustFitStore: this.#isServing });
    const read = reply === undefined || reply.kind === "listening" ? [] : reply.files;
    this.#files = new Map([...(reply?.kind === "read" ? [] : before), ...read]);
    return reply;
  }

  /** Stops the current service, and starts the next one. */
  async #replace(next: ServiceProcess, content: FileContent): Promise<void> {
    if (this.#isServing) {
      const differences = describeDifferences(this.#content, content);
      print(
        differences.length === 0
          ? ["The code of the configuration has changed, and the service restarts."]
          : ["The configuration has changed, and the service restarts:", ...differences],
      );
      await this.#current?.stop();
    }
    if (this.#signal.aborted) return next.kill();
    [this.#current, this.#content, this.#served] = [next, content, this.#files];
    const reply = await next.ask({ kind: "serve", port: this.#port });
    if (reply?.kind === "listening") {
      this.#noteAddress(reply.base);
      void next.exited.then((exitCode) => this.#printEnd(next, exitCode));
      return;
    }
    await next.exited;
    if (!this.#signal.aborted) this.#printRefusal(reply);
  }

  #noteAddress(base: string): void {
    this.#port = Number(new URL(base).port);
    this.#onListening?.(base);
    this.#onListening = undefined;
  }

  get #isServing(): boolean {
    return this.#current?.isRunning ?? false;
  }

  /** Prints why the configuration was refused. Without a reply, the process has already printed an error. */
  #printRefusal(reply: FromService | undefined): void {
    if (reply?.kind === "refused") print([reply.text]);
    print([
      this.#isServing
        ? "The service keeps the previous configuration, and looks again when a file changes."
        : "The service does not run. It starts when a file of the configuration changes.",
    ]);
    if (!this.#isServing) this.#exitCode = 1;
  }

  #printEnd(service: ServiceProcess, exitCode: number): void {
    if (service.isStopping) return;
    print([
      `The service has ended with exit code ${exitCode}. It starts when a file of the configuration changes.`,
    ]);
  }
}

function print([first = "", ...others]: readonly string[]): void {
  process.stderr.write([`holdfast: ${first}`, ...others.map((line) => `  ${line}`), ""].join("\n"));
}

/** A message from the watcher to a service process. */
export type ToService =
  /** Read the configuration. With `mustFitStore`, refuse it if stored resources do not fit it. */
  | { kind: "read"; flags: Flags; mustFitStore: boolean }
  /** Serve the configuration, on this port if the configuration lets the service choose. */
  | { kind: "serve"; port: number }
  /** Stop gracefully. */
  | { kind: "stop" };

/** A message from a service process to the watcher. */
export type FromService =
  | { kind: "read"; content: FileContent; files: readonly ReadFile[] }
  | { kind: "refused"; text: string; files: readonly ReadFile[] }
  | { kind: "listening"; base: string };

/** A file of the configuration, and its state before it was read. */
export type ReadFile = readonly [path: string, state: string];

/** A process that reads the configuration, and can serve it. It ends when the watcher ends. */
export class ServiceProcess {
  readonly #process: ChildProcess;
  readonly #disconnected: Promise<unknown>;
  /** The exit code; 1 if a signal ended the process. */
  readonly exited: Promise<number>;
  #isStopping = false;

  constructor() {
    this.#process = forkProgram(processArguments.watchedService, {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#disconnected = once(this.#process, "disconnect"); // comes after its last message
    this.exited = once(this.#process, "exit").then(([exitCode]) => (exitCode as number | null) ?? 1);
  }

  /** Whether `stop` or `kill` was called. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Sends a message, and returns the next message of the process; `undefined` if it ends without one. */
  async ask(message: ToService): Promise<FromService | undefined> {
    const reply = once(this.#process, "message").then(([received]) => received as FromService);
    this.#send(message);
    return Promise.race([reply, this.#disconnected.then(() => undefined)]);
  }

  /** Stops the service gracefully, and returns its exit code. */
  async stop(): Promise<number> {
    if (!this.#isStopping) this.#send({ kind: "stop" });
    this.#isStopping = true;
    return this.exited;
  }

  /** Ends the process immediately. It must not be serving. */
  async kill(): Promise<void> {
    this.#isStopping = true;
    this.#process.kill("SIGKILL");
    await this.exited;
  }

  #send(message: ToService): void {
    if (this.#process.connected) this.#process.send(message, () => {}); // fails only if the process has ended
  }
}

/** The state of each file, by path. */
export type FileStates = ReadonlyMap<string, string>;

const checkEveryMs = 100;

/** The state of a file. It changes when the file is written, replaced, created or removed. */
export function stateOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined
    ? "missing"
    : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** The current state of each file. */
export function statesOf(paths: Iterable<string>): FileStates {
  return new Map(Array.from(paths, (path) => [path, stateOf(path)]));
}

/** Whether a file has another state now. */
export function haveChanged(states: FileStates): boolean {
  return Array.from(states).some(([path, state]) => stateOf(path) !== state);
}

/**
 * Waits until a file has changed or the signal is aborted. It compares paths, because the file events of the system get
 * lost after a rename and in mounted folders.
 */
export async function waitForChange(states: FileStates, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !haveChanged(states)) await waitForNextCheck(signal);
}

/** Waits for 100 milliseconds, or until the signal is aborted. */
export async function waitForNextCheck(signal: AbortSignal): Promise<void> {
  await sleep(checkEveryMs, undefined, { signal }).catch(() => {}); // aborted
}
