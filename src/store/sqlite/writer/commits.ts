/** Decides about commits and writes them. The caller keeps a transaction open. */
import type { DatabaseSync } from "node:sqlite";
import type { Catalogue } from "../../core/catalogue.ts";
import { judge } from "../../core/commits/judge.ts";
import type { Lookups } from "../../core/commits/lookups.ts";
import type { Judging, ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import { StagedChanges } from "../../core/commits/staged-changes.ts";
import type { ReceiptPlans } from "../../core/receipt-plans.ts";
import type { Receipt } from "../../port/commit.ts";
import type { Plan } from "../../sql/plans.ts";
import type { CommitOutcome } from "../commit/protocol.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { lookupsOf, type PlanRunner } from "../sqlite-dialect.ts";
import type { Declarations } from "./declarations.ts";
import type { EntryTables } from "./entry-tables.ts";
import type { Heads } from "./heads.ts";
import type { IntegerIds } from "./integer-ids.ts";
import type { Resources } from "./resources.ts";
import type { SearchTables } from "./search-tables.ts";
import type { Transactions } from "./transactions.ts";

/** The parts of the writer that commits use. */
export interface CommitsParts {
  database: DatabaseSync;
  /** The present declarations. */
  catalogue: () => Catalogue;
  heads: Heads;
  receipts: ReceiptPlans;
  plans: PlanRunner;
  resources: Resources;
}

/** The parts that the tasks of a writer share. */
export interface TaskParts extends Omit<CommitsParts, "catalogue"> {
  collections: ReadonlyMap<number, NumberedCollection>;
  declarations: Declarations;
  ids: IntegerIds;
  entries: EntryTables;
  search: SearchTables;
  isLogged: boolean;
  commits: Commits;
  transactions: Transactions;
}

/** Decides about writes, and writes the accepted changes. */
export class Commits {
  readonly #parts: CommitsParts;
  /** Returns a new number for a group of changes. */
  readonly nextGroup: () => number;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
    const next = parts.database.prepare(
      "update meta set value = value + 1 where name = 'groups' returning value",
    );
    this.nextGroup = () => Number(next.get()?.value);
  }

  /** Writes all changes of a commit or none of them. If it throws, the caller must roll the transaction back. */
  write(commit: ResolvedCommit): CommitOutcome {
    const { result, sequences, lookups } = this.decide((judging) => judge(judging, commit));
    if ("refusal" in result) return result;
    if (commit.receipt !== undefined) this.#keep(commit.receipt, commit.at, lookups);
    return { sequences: sequences.slice(0, result.own) };
  }

  /** Stores a receipt. It replaces an expired one with the same key. */
  #keep(receipt: Receipt, now: number, lookups: Lookups): void {
    const { receipts, plans } = this.#parts;
    const replaced = lookups.hasReceipt(receipt.key) ? [receipt.key] : [];
    const totals = plans.run(receipts.add([receipt], { replaced, now }));
    if (totals === undefined) throw new Error("The store has a valid receipt with this key.");
    plans.run(receipts.raise(totals));
  }

  /** Runs a decision, and writes the changes that it stages. Returns its result, and the sequences of the changes. */
  decide<T>(decision: (judging: Judging) => Plan<T>): {
    result: T;
    sequences: readonly number[];
    lookups: Lookups;
  } {
    const { resources, catalogue, heads, plans, receipts } = this.#parts;
    const staged = new StagedChanges();
    const lookups = lookupsOf(catalogue(), receipts);
    const sequenceOf = ({ number }: NumberedCollection) => heads.of(number).sequence;
    const maxReceipts = receipts.limits.keys;
    const judging = { catalogue, staged, lookups, maxReceipts, sequenceOf, nextGroup: this.nextGroup };
    const result = plans.run(decision(judging));
    return { result, sequences: staged.since(0).map((change) => resources.write(change)), lookups };
  }
}
