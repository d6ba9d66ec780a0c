/** What a transaction looks up while it decides about writes. It reads everything at most once, in few statements. */
import { formatPath } from "../../../collection/paths.ts";
import { referencedIds } from "../../../collection/references.ts";
import { type Unique, uniqueValue } from "../../../collection/unique.ts";
import { canBeId } from "../../core/commits/constraints.ts";
import type {
  FoundResource,
  HoldersQuery,
  Lookups,
  ReferrersQuery,
  TargetsQuery,
} from "../../core/commits/lookups.ts";
import type { ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import type { ResourceState, StagedChanges } from "../../core/commits/staged-changes.ts";
import type { ReceiptPlans } from "../../core/receipt-plans.ts";
import { together } from "../../sql/plans.ts";
import type { Row } from "../connection/connections.ts";
import type { Transaction } from "../connection/transaction.ts";
import type { Catalogue, NumberedCollection } from "../tables/catalogue.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { uniqueKey, uniqueSlot } from "../tables/indexes.ts";
import {
  lockResources,
  selectDeleted,
  selectExistingKeys,
  selectHolders,
  selectReferrers,
  selectTargets,
} from "./statements.ts";

/** The lookups of one transaction. */
export class PostgresLookups implements Lookups {
  readonly #transaction: Transaction;
  readonly #catalogue: Catalogue;
  /** Whether resources exist, by collection and id. Staged resources are not included. */
  readonly #existing = new Map<string, boolean>();
  /** The ids of resources by collection, unique attribute and value. */
  readonly #holders = new Map<string, readonly string[]>();
  readonly #receipts: ReceiptPlans;
  #expiries: ReadonlyMap<string, number> = new Map();
  #receiptCount: number | undefined;
  /** The rows of deleted ids by collection and name; `undefined` if there is no row. */
  readonly #deleted = new Map<string, number | undefined>();
  #sequences: ReadonlyMap<number, number> = new Map();
  #referrerBytes = 0;

  constructor(transaction: Transaction, catalogue: Catalogue, receipts: ReceiptPlans) {
    this.#receipts = receipts;
    this.#transaction = transaction;
    this.#catalogue = catalogue;
  }

  /** The size of all resources that `referrers` has read, in bytes of text. */
  get referrerBytes(): number {
    return this.#referrerBytes;
  }

  /**
   * Reads what decisions about the commits will look up. Locks the resources that they change, and notes them in
   * `staged`.
   */
  async prepare(commits: readonly ResolvedCommit[], staged: StagedChanges): Promise<void> {
    const changes = commits.flatMap((commit) => commit.changes);
    const keys = commits.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.key]));
    const read: Promise<unknown>[] = keys.length === 0 ? [] : [this.#readReceipts(keys)];
    const byNumber = Map.groupBy(changes, ({ collection }) => collection.number);
    for (const [number, own] of [...byNumber].sort(([a], [b]) => a - b)) {
      const collection = this.#catalogue.byNumber.get(number) as NumberedCollection;
      const texts = own.flatMap(({ next }) => (next === undefined ? [] : [next]));
      const restored = own.filter(({ after }) => after !== undefined).map(({ id }) => id);
      const ids = [...new Set(own.map(({ id }) => id))];
      const locked = this.#lock(collection, ids).then((states) => {
        for (const id of ids) staged.note(collection, id, states.get(id));
      });
      read.push(locked, this.#readDeleted(collection, restored));
      read.push(...this.#readForConstraints(collection, texts));
    }
    await Promise.all(read);
  }

  /** Reads what decisions about imported resources will look up. */
  prepareImported(
    collection: NumberedCollection,
    resources: readonly { id: string; text: string }[],
  ): Promise<unknown> {
    const texts = resources.map(({ text }) => text);
    const ids = resources.map(({ id }) => id);
    return Promise.all([this.#readExisting(collection, ids), ...this.#readForConstraints(collection, texts)]);
  }

  async resource(collection: NumberedCollection, id: string): Promise<ResourceState | undefined> {
    return (await this.#lock(collection, [id])).get(id);
  }

  /** Notes the sequences of collections whose heads are locked, by their numbers. */
  noteSequences(sequences: ReadonlyMap<number, number>): void {
    this.#sequences = sequences;
  }

  sequence({ number }: NumberedCollection): number {
    return this.#sequences.get(number) as number; // `Commit.whole` names only locked collections
  }

  exists(collection: NumberedCollection, id: string): boolean | Promise<boolean> {
    const key = `${collection.number}/${id}`;
    return (
      this.#existing.get(key) ??
      this.#readExisting(collection, [id]).then(() => this.#existing.get(key) === true)
    );
  }

  async existing(collection: NumberedCollection, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const isKnown = (id: string) => this.#existing.get(`${collection.number}/${id}`);
    await this.#readExisting(
      collection,
      ids.filter((id) => isKnown(id) === undefined),
    );
    return new Set(ids.filter(isKnown));
  }

  async deleted(
    collection: NumberedCollection,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const keyOf = (name: string) => `${collection.number}/${name}`;
    await this.#readDeleted(
      collection,
      names.filter((name) => !this.#deleted.has(keyOf(name))),
    );
    const versions = new Map<string, number>();
    for (const name of names) {
      const version = this.#deleted.get(keyOf(name));
      if (version !== undefined) versions.set(name, version);
    }
    return versions;
  }

  holders({ collection, unique, value }: HoldersQuery): readonly string[] | Promise<readonly string[]> {
    const key = holderKey(collection, unique, value);
    return (
      this.#holders.get(key) ??
      this.#readHolders(collection, unique, [value]).then(() => this.#holders.get(key) ?? [])
    );
  }

  async referrers({ referrer, ids, known, limit }: ReferrersQuery): Promise<FoundResource[]> {
    const { from, reference } = referrer;
    const query = {
      attribute: formatPath(reference.path),
      targets: ids.filter(canBeId),
      known: [...known].map((id) => keyOf(from.idKind, id)),
      limit,
    };
    const { rows } = await this.#transaction.run(selectReferrers(from.number, query));
    const found = rows.map((row) => ({ id: idOf(from.idKind, String(row[0])), state: stateOf(row) }));
    for (const { state } of found) this.#referrerBytes += Buffer.byteLength(state.text);
    return found;
  }

  async targets({ collection, reference, from, limit }: TargetsQuery): Promise<string[]> {
    const query = { attribute: formatPath(reference.path), from, limit };
    const { rows } = await this.#transaction.run(selectTargets(collection.number, query));
    return rows.map(([target]) => String(target));
  }

  receipt(key: string): number | undefined {
    return this.#expiries.get(key);
  }

  async receiptCount(): Promise<number> {
    this.#receiptCount ??= await this.#transaction.runPlan(this.#receipts.count());
    return this.#receiptCount;
  }

  async #lock(
    { number, idKind }: Pick<NumberedCollection, "number" | "idKind">,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ResourceState>> {
    const keys = ids.map((id) => keyOf(idKind, id)).sort();
    const { rows } = await this.#transaction.run(lockResources(number, keys));
    return new Map(rows.map((row) => [idOf(idKind, String(row[0])), stateOf(row)]));
  }

  async #readReceipts(keys: readonly string[]): Promise<void> {
    const plan = together(this.#receipts.expiries(keys), this.#receipts.count());
    [this.#expiries, this.#receiptCount] = await this.#transaction.runPlan(plan);
  }

  async #readDeleted({ number }: NumberedCollection, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const { rows } = await this.#transaction.run(selectDeleted(number, names));
    for (const name of names) this.#deleted.set(`${number}/${name}`, undefined);
    for (const [name, version] of rows) this.#deleted.set(`${number}/${name}`, Number(version));
  }

  #readForConstraints(collection: NumberedCollection, texts: readonly string[]): Promise<void>[] {
    const { unique, references } = collection;
    if (texts.length === 0 || unique.length + references.length === 0) return [];
    const resources = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    const targets = resources.flatMap((resource) => referencedIds(resource, references));
    const byCollection = Map.groupBy(targets, ({ reference }) => reference.collection);
    const targetReads = [...byCollection].map(async ([name, all]) => {
      const target = this.#catalogue.byName.get(name);
      const ids = new Set(all.map(({ id }) => id).filter(canBeId));
      if (target !== undefined) await this.#readExisting(target, [...ids]);
    });
    const holderReads = unique.map((each) => {
      const values = resources.flatMap((resource) => uniqueValue(resource, each) ?? []);
      return this.#readHolders(collection, each, values);
    });
    return [...targetReads, ...holderReads];
  }

  async #readExisting(
    { number, idKind }: Pick<NumberedCollection, "number" | "idKind">,
    ids: readonly string[],
  ): Promise<void> {
    if (ids.length === 0) return;
    const keys = ids.map((id) => keyOf(idKind, id));
    const { rows } = await this.#transaction.run(selectExistingKeys(number, keys));
    const found = new Set(rows.map(([key]) => key));
    for (const [n, id] of ids.entries()) this.#existing.set(`${number}/${id}`, found.has(keys[n] as string));
  }

  async #readHolders(
    { number, idKind }: Pick<NumberedCollection, "number" | "idKind">,
    unique: Unique,
    values: readonly string[],
  ): Promise<void> {
    const collection = this.#catalogue.byNumber.get(number);
    if (values.length === 0 || collection === undefined) return;
    const keys = values.map(uniqueKey);
    const { rows } = await this.#transaction.run(selectHolders(number, uniqueSlot(collection, unique), keys));
    const byKey = Map.groupBy(rows, ([, held]) => String(held));
    for (const [n, value] of values.entries()) {
      const holders = byKey.get(keys[n]?.toString("hex") ?? "") ?? [];
      const ids = holders.map(([key]) => idOf(idKind, String(key)));
      this.#holders.set(holderKey({ number }, unique, value), ids);
    }
  }
}

function stateOf([, version, at, text, checksum]: Row): ResourceState {
  return {
    version: Number(version),
    text: String(text),
    updatedAt: Number(at),
    checksum: Number(checksum),
    rowId: undefined,
  };
}

function holderKey({ number }: { number: number }, { path, ignoreCase }: Unique, value: string): string {
  return `${number} ${ignoreCase} ${formatPath(path)}: ${value}`;
}
