/** `holdfast serve --watch`: serves in a process of its own, which gives way to another when the configuration changes. */
import { isDeepStrictEqual } from "node:util";
import { possibleFiles } from "../../../config/file.ts";
import type { FileContent } from "../../../config/values.ts";
import type { Environment } from "../../options.ts";
import { watchParent } from "../parent.ts";
import { describeDifferences } from "./differences.ts";
import type { Report } from "./messages.ts";
import { ServiceProcess } from "./process.ts";
import { changeOf, haveChanged, type Stamps, stampsOf, untilNextLook } from "./stamps.ts";

/** Serves until a signal ends the process. */
export async function runWatch(
  flags: Record<string, unknown>,
  env: Environment,
  onListening?: (base: string) => void,
): Promise<never> {
  const stopping = new AbortController();
  const stop = () => {
    if (stopping.signal.aborted) process.exit(1); // the services end at once when the watcher is gone
    stopping.abort();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  if (env.npm_lifecycle_event !== undefined) watchParent(() => stopping.signal.aborted || stop());
  const named = flags.config ?? env.HOLDFAST_CONFIG;
  const possible = possibleFiles(process.cwd(), named === undefined ? undefined : String(named));
  process.exit(await new Watch(flags, possible, { signal: stopping.signal, onListening }).run());
}

interface WatchOptions {
  signal: AbortSignal;
  onListening: ((base: string) => void) | undefined;
}

class Watch {
  readonly #flags: Record<string, unknown>;
  readonly #possible: readonly string[];
  readonly #signal: AbortSignal;
  #onListening: WatchOptions["onListening"];
  /** The files of the configuration, as they were before they were last read. */
  #files: Stamps = new Map();
  /** The process that serves, or served last. */
  #current: ServiceProcess | undefined;
  #content: FileContent = {};
  /** The first port that the service got. */
  #port = 0;
  #exitCode = 0;

  constructor(flags: Record<string, unknown>, possible: readonly string[], options: WatchOptions) {
    this.#flags = flags;
    this.#possible = possible;
    this.#signal = options.signal;
    this.#onListening = options.onListening;
    this.#signal.addEventListener("abort", () => void this.#current?.stop());
  }

  /** Gives the exit code of the service that was stopped last. */
  async run(): Promise<number> {
    while (!this.#signal.aborted) {
      await this.#look();
      await changeOf(this.#files, this.#signal);
    }
    return this.#current?.stop() ?? this.#exitCode;
  }

  /** Reads the configuration, and serves it if it is sound and another one. */
  async #look(): Promise<void> {
    const next = new ServiceProcess();
    const discard = () => void next.discard();
    this.#signal.addEventListener("abort", discard);
    const report = await this.#read(next);
    this.#signal.removeEventListener("abort", discard);
    if (report?.kind !== "read") await untilNextLook(this.#signal); // it may have been read while it was being saved
    if (this.#signal.aborted || haveChanged(this.#files)) return next.discard();
    if (report?.kind !== "read") {
      this.#tellRefusal(report);
      return next.discard();
    }
    if (this.#isServing && isDeepStrictEqual(report.content, this.#content)) return next.discard();
    await this.#replace(next, report.content);
  }

  async #read(next: ServiceProcess): Promise<Report | undefined> {
    const before = stampsOf([...this.#possible, ...this.#files.keys()]);
    const report = await next.ask({ kind: "read", flags: this.#flags, fitsStore: this.#isServing });
    const isWhole = report?.kind === "read";
    const read = report === undefined || report.kind === "listening" ? [] : report.files;
    this.#files = new Map([...(isWhole ? [] : before), ...read]);
    return report;
  }

  /** Stops the service, and starts the next one. */
  async #replace(next: ServiceProcess, content: FileContent): Promise<void> {
    if (this.#isServing) {
      tell([
        "The configuration has changed, and the service restarts:",
        ...describeDifferences(this.#content, content),
      ]);
      await this.#current?.stop();
    }
    if (this.#signal.aborted) return next.discard();
    [this.#current, this.#content] = [next, content];
    const report = await next.ask({ kind: "serve", port: this.#port });
    if (report?.kind === "listening") {
      this.#noteAddress(report.base);
      void next.exited.then((exitCode) => this.#tellEnd(next, exitCode));
      return;
    }
    await next.exited;
    if (!this.#signal.aborted) this.#tellRefusal(report);
  }

  #noteAddress(base: string): void {
    this.#port = Number(new URL(base).port);
    this.#onListening?.(base);
    this.#onListening = undefined;
  }

  get #isServing(): boolean {
    return this.#current?.isRunning ?? false;
  }

  #tellRefusal(report: Report | undefined): void {
    if (report?.kind === "refused") tell([report.text]); // without a report, the process itself has said what is wrong
    tell([
      this.#isServing
        ? "The service keeps the previous configuration, and looks again when a file changes."
        : "The service does not run. It starts when a file of the configuration changes.",
    ]);
    if (!this.#isServing) this.#exitCode = 1;
  }

  #tellEnd(service: ServiceProcess, exitCode: number): void {
    if (service.isStopping) return;
    tell([
      `The service has ended with exit code ${exitCode}. It starts when a file of the configuration changes.`,
    ]);
  }
}

function tell([first = "", ...others]: readonly string[]): void {
  process.stderr.write([`holdfast: ${first}`, ...others.map((line) => `  ${line}`), ""].join("\n"));
}
