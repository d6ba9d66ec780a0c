/** Decides about commits and writes them. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { damagedCounter, requireGroup } from "../../core/checksums.ts";
import { judge } from "../../core/commits/judge.ts";
import {
  type Judging,
  judgingOf,
  type ResolvedCommit,
  type WriteParts,
} from "../../core/commits/resolved-commit.ts";
import type { StagedChanges } from "../../core/commits/staged-changes.ts";
import type { MigrationPlans } from "../../core/migration.ts";
import type { Plan } from "../../sql/plans.ts";
import type { CommitOutcome } from "../commit/protocol.ts";
import { counterOf } from "../file/failures.ts";
import type { Marks } from "../marks.ts";
import { collectionOf, type PlanRunner, sqliteDialect } from "../sqlite-dialect.ts";
import type { Declarations } from "./declarations.ts";
import type { EntryTables } from "./entry-tables.ts";
import type { Heads, IntegerIds } from "./heads.ts";
import type { Resources } from "./resources.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** The parts of the writer that commits use. */
export interface CommitsParts extends WriteParts {
  database: DatabaseSync;
  collections: ReadonlyMap<number, NumberedCollection>;
  heads: Heads;
  plans: PlanRunner;
  resources: Resources;
}

/** The parts that the tasks of a writer share. */
export interface TaskParts extends CommitsParts {
  declarations: Declarations;
  ids: IntegerIds;
  entries: EntryTables;
  search: SearchTables;
  commits: Commits;
  transactions: Transactions;
  marks: Marks;
  migrations: MigrationPlans;
}

/** Decides about writes, and writes the accepted changes. */
export class Commits {
  readonly #parts: CommitsParts;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
  }

  /** A new number for a group of changes. */
  readonly nextGroup = (): number => {
    const [number = 0] = this.#parts.plans.run(sqliteDialect.raise([["groups", 1]]));
    return requireGroup(number);
  };

  /** Writes all changes of a commit or none of them. If it throws, the caller must roll the transaction back. */
  write(commit: ResolvedCommit): CommitOutcome {
    const { plans, receipts, resources } = this.#parts;
    const judging = this.judging();
    const verdict = plans.run(judge(judging, commit));
    if ("refusal" in verdict) return verdict;
    const { staged } = judging;
    this.#naming(() => resources.write(staged));
    if (commit.receipt !== undefined) {
      const totals = plans.run(receipts.add([...staged.receipts.values()]));
      if (totals === undefined) throw new Error("The store has a valid receipt with this key.");
      plans.run(receipts.raise(totals));
    }
    return { sequences: verdict.changes.slice(0, verdict.own).map(({ sequence }) => sequence) };
  }

  /** What decisions work with. */
  judging(): Judging & { staged: StagedChanges } {
    const sequenceOf = ({ number }: NumberedCollection) => this.#parts.heads.of(number).sequence;
    return judgingOf(this.#parts, { nextGroup: this.nextGroup, sequenceOf });
  }

  /** Runs a plan that writes. Throws DATA_DAMAGED if the counter of a collection is damaged. */
  run<T>(plan: Plan<T>): T {
    return this.#naming(() => this.#parts.plans.run(plan));
  }

  #naming<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const number = counterOf(error);
      throw number === undefined ? error : damagedCounter(collectionOf(this.#parts.collections, number).name);
    }
  }
}
