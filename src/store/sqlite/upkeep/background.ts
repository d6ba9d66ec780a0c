/** What a store does beside everything else, from its opening to its close. */
import type { DatabaseSync } from "node:sqlite";
import { wordsVersion } from "../../../query/words.ts";
import { Background as Repeated } from "../../background.ts";
import { buildPauseMs, wordsAreSplitAgain } from "../../searched-words.ts";
import type { WriterRequests } from "../commit/writer-requests.ts";
import { watchFiles } from "../file/watch.ts";
import { startCheck } from "./check.ts";
import type { Health } from "./health.ts";

/** What it works on. */
export interface BackgroundParts {
  path: string;
  database: DatabaseSync;
  sweepMs: number;
  onWarning: (text: string) => void;
  requests: WriterRequests;
  health: Health;
  /** Whether an import has the writer to itself. */
  isLoading: () => boolean;
}

/** Gathers words, removes what is no longer kept, watches the files and checks what is in them. */
export class Background {
  readonly #parts: BackgroundParts;
  readonly #repeated = new Repeated();
  readonly #gatherNow: () => void;
  readonly #stopWatching: () => void;
  readonly #endCheck: () => Promise<void>;

  /** Starts everything. */
  constructor(parts: BackgroundParts) {
    const { path, database, sweepMs, requests, health, onWarning } = parts;
    this.#parts = parts;
    const outdated = database.prepare("select 1 from searches where words_version <> ? limit 1");
    if (outdated.get(wordsVersion) !== undefined) onWarning(wordsAreSplitAgain);
    const ungathered = database.prepare(
      "select 1 from searches where indexed_to is not null or words_version <> ? limit 1",
    );
    const gather = async () =>
      ungathered.get(wordsVersion) !== undefined &&
      (await requests.sendFor("gathered", { kind: "gather" })).more;
    this.#gatherNow = this.#repeated.repeat(gather, {
      pauseMs: buildPauseMs,
      everyMs: Number.POSITIVE_INFINITY,
    });
    const trim = async () => (await requests.sendFor("trimmed", { kind: "trim", now: Date.now() })).more;
    this.#repeated.repeat(trim, { pauseMs: 5, everyMs: sweepMs });
    this.#stopWatching = watchFiles(path, {
      onGone: (reason) => health.fail(reason),
      onTick: () => this.#probe(),
    });
    this.#endCheck = startCheck(path, (reason) => health.fail(reason));
  }

  /** There may be words to gather. */
  gather(): void {
    this.#gatherNow();
  }

  /** Ends everything; what is left to do is done another time. */
  async stop(): Promise<void> {
    this.#stopWatching();
    await Promise.all([this.#repeated.stop(), this.#endCheck()]);
  }

  /** A service that is full may get no writes, so the store itself finds out when there is space again. */
  #probe(): void {
    const { requests, health, isLoading } = this.#parts;
    if (health.now.kind !== "degraded" || isLoading()) return;
    requests.send({ kind: "probe" }).catch(() => {}); // still full
  }
}
