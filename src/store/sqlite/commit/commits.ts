/** Sends commits to the writer thread. Commits that arrive together are sent in one message. */

import type { Refusal } from "../../core/commits/refusals.ts";
import type { Batch, Outcome } from "../../port/batch.ts";
import { type Commit, type Committed, createCommitBatch } from "../../port/commit.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import type { Health } from "../upkeep/health.ts";
import { type Cell, decodeCommitOutcomes, encodeCommit } from "./protocol.ts";
import type { WriterRequests } from "./writer-requests.ts";

/** The parts of the store that commits use. */
export interface CommitsParts extends Pick<ResolvedStoreOptions, "answersPerTurn" | "groupCommit" | "meter"> {
  requests: WriterRequests;
  health: Health;
  numberOf: (collection: string) => number;
}

/** The commits of one store. */
export class Commits {
  readonly #parts: CommitsParts;
  readonly #batch: Batch<Commit, Committed>;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
    this.#batch = createCommitBatch(parts, { perform: (commits, since) => this.#send(commits, since) });
  }

  /** Writes a commit. Throws the reason if it was not written. */
  run(commit: Commit): Promise<Committed> {
    return this.#batch.run(commit);
  }

  /** Resolves when every commit has its outcome. */
  drained(): Promise<void> {
    return this.#batch.drained();
  }

  async #send(
    commits: readonly Commit[],
    since: readonly number[] | undefined,
  ): Promise<Outcome<Committed>[]> {
    const { requests, numberOf } = this.#parts;
    const cells: Cell[] = [];
    for (const commit of commits) encodeCommit(cells, commit, numberOf);
    const answer = await requests.send({
      kind: "commit",
      count: commits.length,
      cells,
      ...(since && { since }),
    });
    if (answer.kind !== "committed") throw new Error(`The writer answered a commit with "${answer.kind}".`);
    const outcomes = decodeCommitOutcomes(
      answer.cells,
      commits.map(({ changes, isDryRun }) => (isDryRun ? 0 : changes.length)),
    );
    return outcomes.map((outcome, index) => this.#outcomeOf(outcome, commits[index] as Commit));
  }

  #outcomeOf(outcome: readonly number[] | Refusal, { changes, isDryRun }: Commit): Outcome<Committed> {
    if ("code" in outcome) return { error: this.#parts.requests.errorOf(outcome) };
    if (isDryRun) return { answer: [] };
    this.#parts.health.noteSpace();
    return {
      answer: changes.map(({ expect, after = 0 }, index) => ({
        version: (expect === "absent" ? after : expect) + 1,
        sequence: outcome[index] as number,
      })),
    };
  }
}
