/** The background work of an open store: it builds search indexes, removes old data, and watches and checks the file. */
import { wordsVersion } from "../../../query/words.ts";
import { Scheduler } from "../../core/scheduler.ts";
import { buildPauseMs, wordsAreSplitAgain } from "../../core/search-index.ts";
import { watchFiles } from "../file/watch.ts";
import { startCheck } from "./check.ts";
import { LongLog, type LongLogParts } from "./long-log.ts";

/** The parts of a store that the background work uses. */
export interface BackgroundParts extends LongLogParts {
  sweepMs: number;
}

/** The background work of one store. It starts with the constructor. */
export class Background {
  readonly #parts: BackgroundParts;
  readonly #scheduler = new Scheduler();
  readonly #buildIndexesNow: () => void;
  readonly #stopWatching: () => void;
  readonly #endCheck: () => Promise<void>;
  readonly #log: LongLog;

  constructor(parts: BackgroundParts) {
    const { path, database, hasUpkeep, health } = parts;
    this.#parts = parts;
    this.#buildIndexesNow = this.#scheduleBuilds();
    if (hasUpkeep) this.#scheduleTrims();
    this.#log = new LongLog(parts);
    this.#stopWatching = watchFiles(path, database, {
      onGone: (reason) => health.fail(reason),
      onTick: () => {
        this.#probe();
        this.#log.check();
      },
    });
    this.#endCheck = hasUpkeep ? startCheck(path, parts) : async () => {};
  }

  /** Builds search indexes now, and whenever the function that it returns is called. */
  #scheduleBuilds(): () => void {
    const { database, requests, hasUpkeep, onWarning } = this.#parts;
    const outdated = database.prepare("select 1 from searches where words_version <> ? limit 1");
    if (hasUpkeep && outdated.get(wordsVersion) !== undefined) onWarning(wordsAreSplitAgain);
    const incomplete = database.prepare(
      "select 1 from searches where indexed_to is not null or words_version <> ? limit 1",
    );
    const build = async () => incomplete.get(wordsVersion) !== undefined && requests.run("buildIndex", []);
    return this.#scheduler.repeat(build, { pauseMs: buildPauseMs, everyMs: Number.POSITIVE_INFINITY });
  }

  #scheduleTrims(): void {
    const { sweepMs, requests } = this.#parts;
    const trim = () => requests.run("trim", [Date.now()]);
    this.#scheduler.repeat(trim, { pauseMs: 5, everyMs: sweepMs });
  }

  /** Continues to build search indexes at once, because a declaration may have changed. */
  buildIndexes(): void {
    this.#buildIndexesNow();
  }

  /** Ends the work. The next start continues it. */
  async stop(): Promise<void> {
    this.#stopWatching();
    await Promise.all([this.#scheduler.stop(), this.#endCheck(), this.#log.stop()]);
  }

  /** Finds out whether a full disk has space again. Without this, only a write could notice it. */
  #probe(): void {
    const { requests, health, isLoading } = this.#parts;
    if (health.now.kind !== "degraded" || isLoading()) return;
    requests.send("probe").catch(() => {}); // still full
  }
}
