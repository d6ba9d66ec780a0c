/** Sends commits to the writer thread. Commits that arrive together are sent in one message. */

import type { Batch, Outcome } from "../../port/batch.ts";
import { type Commit, type Committed, createCommitBatch } from "../../port/commit.ts";
import type { ResolvedStoreOptions } from "../../port/options.ts";
import type { Health } from "../upkeep/health.ts";
import { type Cell, encodeCommit } from "./protocol.ts";
import type { WriterRequests } from "./writer-client.ts";

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
    const { requests, health, numberOf } = this.#parts;
    const cells: Cell[] = [];
    for (const commit of commits) encodeCommit(cells, commit, numberOf);
    const { sequences, refusals } = await requests.send("commit", commits.length, cells, since);
    let position = 0;
    return commits.map(({ changes, isDryRun }, index) => {
      const refusal = refusals.get(index);
      if (refusal !== undefined) return { error: requests.errorOf(refusal) };
      if (isDryRun) return { answer: [] };
      health.noteSpace();
      return {
        answer: changes.map(({ expect, after = 0 }) => ({
          version: (expect === "absent" ? after : expect) + 1,
          sequence: sequences[position++] as number,
        })),
      };
    });
  }
}
