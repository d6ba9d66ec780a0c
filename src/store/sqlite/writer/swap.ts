/** Judges commits and carries them out, inside a transaction that the caller holds open. */
import type { DatabaseSync } from "node:sqlite";
import type { Fate, Refusal, WireChange, WireCommit } from "../protocol.ts";
import type { ChangeLog } from "./change-log.ts";
import type { Constraints } from "./constraints.ts";
import type { Following } from "./following.ts";
import type { Groups } from "./groups.ts";
import type { Heads } from "./heads.ts";
import type { Receipts } from "./receipts.ts";
import type { Before, Resources } from "./resources.ts";

/** What a `Swap` works on. */
export interface SwapParts {
  database: DatabaseSync;
  heads: Heads;
  log: ChangeLog;
  receipts: Receipts;
  resources: Resources;
  constraints: Constraints;
  groups: Groups;
  following: Following;
}

/** Carries out commits on one connection. */
export class Swap {
  readonly #database: DatabaseSync;
  readonly #heads: Heads;
  readonly #log: ChangeLog;
  readonly #receipts: Receipts;
  readonly #resources: Resources;
  readonly #constraints: Constraints;
  readonly #groups: Groups;
  readonly #following: Following;

  constructor(parts: SwapParts) {
    this.#database = parts.database;
    this.#heads = parts.heads;
    this.#log = parts.log;
    this.#receipts = parts.receipts;
    this.#resources = parts.resources;
    this.#constraints = parts.constraints;
    this.#groups = parts.groups;
    this.#following = parts.following;
  }

  /** Does all of the commit or none of it. What it throws leaves the transaction in an unknown state. */
  carryOut(commit: WireCommit): Fate {
    if (!this.#constraints.mayBreak(commit)) return this.#attempt(commit);
    // What is declared is judged on what the changes made of the store, so there may be something to take back.
    const restoreHeads = this.#heads.remember();
    const restoreFollowed = this.#following.remember();
    this.#database.exec("savepoint judged");
    const fate = this.#attempt(commit);
    const refusal = "code" in fate ? fate : this.#broken(commit, fate);
    if (refusal === undefined) {
      this.#database.exec("release judged");
      return fate;
    }
    this.#database.exec("rollback to judged; release judged");
    restoreHeads();
    restoreFollowed();
    return refusal;
  }

  /** Judges everything but what is declared before the first change is written, so that nothing is taken back. */
  #attempt(commit: WireCommit): Fate {
    const { changes, receipt, at } = commit;
    if (receipt !== undefined && this.#receipts.has(receipt.key, at)) {
      return { code: "IDEMPOTENCY_KEY_REUSED", detail: "The Idempotency-Key was already used." };
    }
    if (receipt !== undefined && this.#receipts.isFull()) return tooManyReceipts;
    const befores: (Before | undefined)[] = [];
    for (const change of changes) {
      const before = this.#resources.find(change);
      if ((before?.version ?? 0) !== Math.max(0, change.expect)) return staleVersion(change, before);
      if (change.expect < 0 && this.#log.lastVersion(change.collection, change.id) !== -change.expect)
        return staleVersion(change, before);
      befores.push(before);
    }
    const origin = { at, principal: commit.principal, group: this.#groups.begin(changes.length) };
    const sequences = changes.map((change, index) => this.#resources.write(change, befores[index], origin));
    if (receipt !== undefined) this.#receipts.keep(receipt);
    return sequences;
  }

  #broken(commit: WireCommit, sequences: readonly number[]): Refusal | undefined {
    return this.#constraints.broken(commit) ?? this.#following.follow(commit, sequences);
  }
}

const tooManyReceipts: Refusal = {
  code: "UNAVAILABLE",
  detail:
    "The service has reached its limit of stored Idempotency-Keys. Try again later, when some have expired.",
};

function staleVersion({ id, expect }: WireChange, before: Before | undefined): Refusal {
  const current = before === undefined ? "does not exist" : `has version ${before.version}`;
  const expected = expect <= 0 ? "no resource" : `version ${expect}`;
  return {
    code: "PRECONDITION_FAILED",
    detail: `The resource ${JSON.stringify(id)} ${current}, but ${expected} was expected.`,
  };
}
