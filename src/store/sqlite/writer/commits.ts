/** Carries out commits, inside a transaction that the caller holds open to write. */
import type { DatabaseSync } from "node:sqlite";
import type { Catalogue } from "../../catalogue.ts";
import { followedBy, judge } from "../../commits/judge.ts";
import type { Lookups, WriteDecision } from "../../commits/lookups.ts";
import type { Judging, ResolvedCommit } from "../../commits/resolved-commit.ts";
import { StagedChanges } from "../../commits/staged-changes.ts";
import { decide } from "../../decision.ts";
import type { Outcome } from "../commit/protocol.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Receipts } from "./receipts.ts";
import { References } from "./references.ts";
import type { Resources } from "./resources.ts";
import { Uniques } from "./unique.ts";

/** What commits work on. */
export interface CommitsParts {
  database: DatabaseSync;
  /** What is declared now. */
  catalogue: () => Catalogue;
  log: ChangeLog;
  receipts: Receipts;
  resources: Resources;
}

/** Decides about writes, and writes what is accepted. */
export class Commits {
  readonly #parts: CommitsParts;
  readonly #lookups: Lookups;
  /** Gives a number that no group of changes has had. */
  readonly nextGroup: () => number;

  constructor(parts: CommitsParts) {
    const { database, log, receipts, resources } = parts;
    this.#parts = parts;
    const next = database.prepare("update meta set value = value + 1 where name = 'groups' returning value");
    this.nextGroup = () => Number(next.get()?.value);
    const uniques = new Uniques(database);
    const references = new References(database);
    this.#lookups = {
      resource: (collection, id) => resources.find(collection, id),
      exists: (collection, id) => resources.has(collection, id),
      existing: (collection, ids) => resources.existing(collection, ids),
      lastVersion: (collection, id) => log.lastVersion(collection.number, id),
      holders: (query) => uniques.holders(query),
      referrers: (query) => references.referrers(query),
      targets: (query) => references.targets(query),
      receipt: (key) => receipts.expiryOf(key),
      receiptCount: () => receipts.count,
    };
  }

  /** Does all of the commit or none of it. What it throws leaves the transaction in an unknown state. */
  carryOut(commit: ResolvedCommit): Outcome {
    const { result, sequences } = this.decide((judging) => judge(judging, commit));
    if ("refusal" in result) return result;
    if (commit.receipt !== undefined) this.#parts.receipts.keep(commit.receipt);
    if (result.changes.length === result.own) return { sequences, followed: none };
    return { sequences: sequences.slice(0, result.own), followed: followedBy(result) };
  }

  /** Has something decided, and writes the changes that this stages. Gives their sequences. */
  decide<T>(question: (judging: Judging) => WriteDecision<T>): { result: T; sequences: readonly number[] } {
    const { resources, catalogue, receipts } = this.#parts;
    const staged = new StagedChanges();
    const judging = { catalogue, staged, maxReceipts: receipts.bounds.keys, nextGroup: this.nextGroup };
    const result = decide(question(judging), this.#lookups);
    return { result, sequences: staged.since(0).map((change) => resources.write(change)) };
  }
}

const none: readonly never[] = [];
