/** `holdfast serve --watch`: serves in a child process, and replaces that process when the configuration changes. */
import { isDeepStrictEqual } from "node:util";
import { namedFile, possibleFiles } from "../../../config/file.ts";
import type { FileContent } from "../../../config/values.ts";
import type { Environment, Flags, OnListening } from "../../options.ts";
import { watchParent } from "../serving.ts";
import { describeDifferences } from "./differences.ts";
import { type FileStates, haveChanged, statesOf, waitForChange, waitForNextCheck } from "./file-states.ts";
import { type FromService, ServiceProcess } from "./service-process.ts";

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
    if (this.#isServing && isDeepStrictEqual(reply.content, this.#content)) return next.kill();
    await this.#replace(next, reply.content);
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
      print([
        "The configuration has changed, and the service restarts:",
        ...describeDifferences(this.#content, content),
      ]);
      await this.#current?.stop();
    }
    if (this.#signal.aborted) return next.kill();
    [this.#current, this.#content] = [next, content];
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
