/** The background work of an open store: indexes and search words, removal of old data, checks of the file, and a short log. */
import type { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { Problem } from "../../../errors.ts";
import { startThread } from "../../../program.ts";
import { wordsVersion } from "../../../query/search-words.ts";
import { BuildReports, buildPauseMs } from "../../core/building.ts";
import { Scheduler } from "../../core/scheduler.ts";
import { walkTimes } from "../../core/walk.ts";
import type { WriterRequests } from "../commit/writer-client.ts";
import { describeError } from "../file/failures.ts";
import { createLogReader, duePages, type LogState, logSizeLimit, pageBytes } from "../file/log-state.ts";
import { watchFiles } from "../file/watch.ts";
import type { Health } from "./health.ts";

/** The parts of a store that the background work uses. */
export interface BackgroundParts extends Omit<LongLogParts, "path"> {
  /** Absent if the store is in memory, and no file needs care. */
  path: string | undefined;
  sweepMs: number;
  onInfo: (text: string) => void;
}

/** The pause between two checks for what another thread has declared or erased, in milliseconds. */
const buildEveryMs = 1_000;

/** The background work of one store. It starts with the constructor. */
export class Background {
  readonly #parts: BackgroundParts;
  readonly #scheduler = new Scheduler();
  readonly #buildIndexesNow: () => void;
  readonly #stopCare: () => Promise<void>;

  constructor(parts: BackgroundParts) {
    const { path, hasUpkeep } = parts;
    this.#parts = parts;
    this.#buildIndexesNow = hasUpkeep ? this.#scheduleBuilds() : () => {};
    if (hasUpkeep) this.#scheduleTrims();
    this.#stopCare = path === undefined ? async () => {} : this.#careFor({ ...parts, path });
  }

  /** Watches and checks the file, and keeps its log short. Returns a function that ends this. */
  #careFor(parts: BackgroundParts & LongLogParts): () => Promise<void> {
    const { path, database, hasUpkeep, health } = parts;
    const log = new LongLog(parts);
    const stopWatching = watchFiles(path, database, {
      onGone: (reason) => health.fail(reason),
      onTick: () => {
        this.#probe();
        log.check();
      },
    });
    const endCheck = hasUpkeep ? startCheck(path, parts) : async () => {};
    return async () => {
      stopWatching();
      await Promise.all([endCheck(), log.stop()]);
    };
  }

  /** Builds indexes and search words now, and whenever the function that it returns is called. */
  #scheduleBuilds(): () => void {
    const { database, requests, health, onWarning, onInfo } = this.#parts;
    const reports = new BuildReports({ damage: health.damage, onWarning, onInfo });
    const incomplete = database.prepare(
      "select 1 from heads where built_to is not null or words_version <> ? limit 1",
    );
    const build = async () => {
      if (incomplete.get(wordsVersion) === undefined) return false;
      const report = await requests.run("buildNext", []).catch((error: unknown) => {
        if (!(error instanceof Problem))
          reports.noteFailure(`building an index failed: ${describeError(error)}`);
        throw error;
      });
      if (report !== undefined) reports.note(report);
      return report !== undefined;
    };
    return this.#scheduler.repeat(build, { pauseMs: buildPauseMs, everyMs: buildEveryMs });
  }

  #scheduleTrims(): void {
    const { sweepMs, requests } = this.#parts;
    if (sweepMs === Number.POSITIVE_INFINITY) return;
    const trim = () => requests.run("trim", [Date.now()]);
    this.#scheduler.repeat(trim, { pauseMs: 5, everyMs: sweepMs });
  }

  /** Continues to build at once, because a declaration may have changed. */
  buildIndexes(): void {
    this.#buildIndexesNow();
  }

  /** Ends the work. The next start continues it. */
  async stop(): Promise<void> {
    await Promise.all([this.#scheduler.stop(), this.#stopCare()]);
  }

  /** Finds out whether a full disk has space again. Without this, only a write could notice it. */
  #probe(): void {
    const { requests, health, isLoading } = this.#parts;
    if (health.now.kind !== "degraded" || isLoading()) return;
    requests.send("probe").catch(() => {}); // still full
  }
}

/** What the thread sends. `broken`: the file cannot be read. `interrupted`: another reason has ended the walk. */
export type CheckMessage =
  | { kind: "damage"; text: string }
  | { kind: "broken"; reason: string }
  | { kind: "interrupted"; reason: string }
  | { kind: "end"; isDamaged: boolean };

/** The pause after a walk that was interrupted, in milliseconds. */
const repeatMs = 60_000;

/** Checks the file in the background, after the start and once a week. Returns a function that ends the checks. */
function startCheck(
  path: string,
  { health, onWarning }: { health: Health; onWarning: (text: string) => void },
): () => Promise<void> {
  let worker: Worker | undefined;
  let pauseMs = walkTimes.everyMs;
  const onInterrupted = (reason: string) => {
    health.damage.noteUnchecked();
    onWarning(`the walk that looks for damage was interrupted, and begins again in a minute: ${reason}`);
    pauseMs = repeatMs;
  };
  const receive = (message: CheckMessage) => {
    if (message.kind === "broken") health.fail(`${path} is damaged: ${message.reason}`);
    else if (message.kind === "interrupted") onInterrupted(message.reason);
    else if (message.kind === "end") health.damage.set(message.isDamaged);
    else {
      health.damage.set(true);
      onWarning(message.text);
    }
  };
  const start = () => {
    worker = startThread("store/sqlite/upkeep/check-thread", { workerData: path, name: "holdfast-check" });
    worker.unref();
    pauseMs = walkTimes.everyMs;
    worker.once("error", (error) => onInterrupted(describeError(error)));
    worker.on("message", receive);
    worker.once("exit", () => schedule(pauseMs));
  };
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const schedule = (ms: number) => {
    if (!isEnded) timer = setTimeout(start, ms).unref();
  };
  schedule(walkTimes.initialDelayMs);
  return async () => {
    isEnded = true;
    clearTimeout(timer);
    await worker?.terminate();
  };
}

/** The parts of a store that this uses. */
export interface LongLogParts {
  path: string;
  database: DatabaseSync;
  maxLogBytes: number;
  onWarning: (text: string) => void;
  requests: WriterRequests;
  health: Health;
  /** Whether an import is in progress. */
  isLoading: () => boolean;
  /** Whether this thread removes old data, checks the file and shortens the log. One thread of the process does. */
  hasUpkeep: boolean;
}

/** The log of one store. */
export class LongLog {
  readonly #parts: LongLogParts;
  readonly #read: () => LogState;
  readonly #pageBytes: number;
  #last: LogState = { all: 0, waiting: 0 };
  #worker: Worker | undefined;

  constructor(parts: LongLogParts) {
    this.#parts = parts;
    this.#read = createLogReader(parts.database);
    this.#pageBytes = pageBytes(parts.database);
  }

  /**
   * Call it every few seconds. Starts a thread for checkpoints if one has been due since the last call and nothing was moved. Notes in
   * the health whether the log is too long.
   */
  check(): void {
    const { health, maxLogBytes, onWarning, requests, isLoading, hasUpkeep } = this.#parts;
    const state = this.#state();
    if (state === undefined) return;
    const { all, waiting } = state;
    const isTooLong = waiting * this.#pageBytes > maxLogBytes;
    if (isTooLong && hasUpkeep && health.now.log === undefined)
      onWarning(
        `${Math.round((waiting * this.#pageBytes) / 1e6)} MB of the log wait for a checkpoint. A program that reads the store for a long time, such as a backup, prevents it. The log takes space on the disk until that program has ended`,
      );
    health.noteLog(isTooLong);
    if (!hasUpkeep) return;
    const isStuck = all - waiting === this.#last.all - this.#last.waiting && this.#last.waiting >= duePages;
    this.#last = state;
    if (isStuck) this.#startThread();
    else if (waiting < duePages && all * this.#pageBytes > logSizeLimit && !isLoading())
      requests.send("restartLog").catch(() => {}); // the next check tries again
  }

  /** Ends the thread, after the checkpoint that it is making. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #state(): LogState | undefined {
    try {
      return this.#read();
    } catch {
      return undefined; // reads and writes report the failures of the disk
    }
  }

  #startThread(): void {
    if (this.#worker !== undefined) return;
    const { path, health } = this.#parts;
    const worker = startThread("store/sqlite/upkeep/checkpoint-thread", {
      workerData: path,
      name: "holdfast-checkpoint",
    });
    this.#worker = worker;
    worker.unref();
    worker.once("error", () => {}); // the next check tries again
    worker.once("exit", () => {
      this.#worker = undefined;
    });
    worker.once("message", (reason: string) => health.fail(reason));
  }
}
