/** What a transaction sees of the database while it judges, read in as few statements as possible and never twice. */
import { formatPath } from "../../collection/paths.ts";
import { type Reference, targetsOf } from "../../collection/refers.ts";
import { type Unique, uniqueValue } from "../../collection/unique.ts";
import type { Commit } from "../commit.ts";
import type { Catalogue, NumberedCollection, Referrer } from "./catalogue.ts";
import type { Row } from "./connections.ts";
import { uniqueLength } from "./expressions.ts";
import { idOf, keyOf } from "./keys.ts";
import type { Entry, Ledger, State } from "./ledger.ts";
import * as statements from "./statements.ts";
import type { Transaction } from "./transaction.ts";

/** The database behind a ledger. */
export class Sight {
  readonly #transaction: Transaction;
  readonly #catalogue: Catalogue;
  readonly #ledger: Ledger;
  /** Which ids are there, of resources that are not in the ledger; by number and id. */
  readonly #present = new Map<number, Map<string, boolean>>();
  /** Who has a value, by the name of the attribute and the value. */
  readonly #holders = new Map<string, readonly string[]>();
  readonly #receipts = new Map<string, number>();
  readonly #lastVersions = new Map<string, number>();
  #followingText = 0;
  readonly #targetsOf = new WeakMap<State, Map<Reference, readonly string[]>>();

  constructor(transaction: Transaction, catalogue: Catalogue, ledger: Ledger) {
    this.#transaction = transaction;
    this.#catalogue = catalogue;
    this.#ledger = ledger;
  }

  /** How many bytes of text were read because others were deleted. */
  get followingText(): number {
    return this.#followingText;
  }

  /** Reads all that judging the commits will ask for, and locks the resources that they change. */
  async prepare(commits: readonly Commit[]): Promise<void> {
    const changes = commits.flatMap((commit) => commit.changes);
    const keys = commits.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.key]));
    const read: Promise<void>[] = [this.#readReceipts(keys)];
    const byCollection = Map.groupBy(changes, ({ key }) => key.collection);
    const collections = [...byCollection.keys()]
      .map((name) => this.#catalogue.byName.get(name) as NumberedCollection)
      .sort((a, b) => a.number - b.number);
    for (const collection of collections) {
      const own = byCollection.get(collection.name) ?? [];
      const texts = own.flatMap(({ next }) => (next === undefined ? [] : [next]));
      const ids = [...new Set(own.map(({ key }) => key.id))];
      const restored = own.filter(({ after }) => after !== undefined).map(({ key }) => key.id);
      read.push(this.#lock(collection, ids), this.#readLastVersions(collection, restored));
      read.push(...this.#readDeclared(collection, texts));
    }
    await Promise.all(read);
  }

  /** Reads what the declarations of a collection ask about the texts that it is to have. */
  prepareTexts(collection: NumberedCollection, texts: readonly string[]): Promise<unknown> {
    return Promise.all(this.#readDeclared(collection, texts));
  }

  /** Whether there is a receipt with this key that is valid at a time. */
  hasReceipt(key: string, at: number): boolean {
    return this.#ledger.receipts.has(key) || (this.#receipts.get(key) ?? 0) > at;
  }

  /** The version that the last change of a resource made; `undefined` where none is kept. */
  lastVersion(collection: NumberedCollection, id: string): number | undefined {
    const pending = this.#ledger.of(collection).changes.findLast((change) => change.id === id);
    return pending?.version ?? this.#lastVersions.get(`${collection.number}/${id}`);
  }

  /** Whether a resource is there. */
  async has(name: string, id: string): Promise<boolean> {
    const collection = this.#catalogue.byName.get(name);
    if (collection === undefined) return false;
    const entry = this.#ledger.find(collection, id);
    if (entry !== undefined) return entry.now !== undefined;
    if (this.#present.get(collection.number)?.has(id) !== true) await this.#readPresent(collection, [id]);
    return this.#present.get(collection.number)?.get(id) === true;
  }

  /** Ids of resources that had a value in a unique attribute before the group. */
  async holders(collection: NumberedCollection, unique: Unique, value: string): Promise<readonly string[]> {
    const name = nameOf(collection, unique, value);
    if (!this.#holders.has(name)) await this.#readHolders(collection, unique, [value]);
    return this.#holders.get(name) ?? [];
  }

  /**
   * Resources that refer to one of several, taken in, each with the id that it refers to: beside those that are known,
   * as many as the limit says, if there are.
   */
  async referring(
    { from, reference }: Referrer,
    ids: readonly string[],
    limit: statements.TextLimit,
  ): Promise<readonly [Entry, string][]> {
    const { entries } = this.#ledger.of(from);
    const wanted = new Set(ids);
    const known = [...entries.values()]
      .filter(({ before }) => this.#targets(before, reference).some((id) => wanted.has(id)))
      .map(({ id }) => keyOf(from.idKind, id));
    const query = { attribute: formatPath(reference.path), targets: ids, known, limit };
    const { rows } = await this.#transaction.run(statements.selectReferring(from.number, query));
    for (const row of rows) {
      this.#followingText += Buffer.byteLength(String(row[3]));
      this.#takeIn(from, row);
    }
    return [...entries.values()].flatMap((entry) =>
      this.#targets(entry.now, reference)
        .filter((id) => wanted.has(id))
        .map((id): [Entry, string] => [entry, id]),
    );
  }

  /** One of the ids that a resource refers to. */
  async referredTo({ from, reference }: Referrer, ids: readonly string[]): Promise<string | undefined> {
    const entries = [...this.#ledger.of(from).entries.values()];
    const wanted = new Set(ids);
    for (const { now } of entries) {
      const found = this.#targets(now, reference).find((id) => wanted.has(id));
      if (found !== undefined) return found;
    }
    // What the ledger has is known by now; one row more than it may account for is of somebody else.
    const accounted = entries.reduce((sum, { before }) => sum + this.#targets(before, reference).length, 0);
    const query = { attribute: formatPath(reference.path), targets: ids, limit: accounted + 1 };
    const { rows } = await this.#transaction.run(statements.selectReferringKeys(from.number, query));
    const { entries: known } = this.#ledger.of(from);
    return rows.find(([key]) => !known.has(idOf(from.idKind, String(key))))?.[1] ?? undefined;
  }

  #targets(state: State | undefined, reference: Reference): readonly string[] {
    if (state === undefined) return [];
    const known = this.#targetsOf.get(state) ?? new Map<Reference, readonly string[]>();
    let ids = known.get(reference);
    if (ids === undefined) {
      ids = [...new Set(targetsOf(JSON.parse(state.text), [reference]).map(({ id }) => id))];
      this.#targetsOf.set(state, known.set(reference, ids));
    }
    return ids;
  }

  async #lock(collection: NumberedCollection, ids: readonly string[]): Promise<void> {
    const keys = ids.map((id) => keyOf(collection.idKind, id)).sort();
    const { rows } = await this.#transaction.run(statements.lockResources(collection.number, keys));
    for (const row of rows) this.#takeIn(collection, row);
    for (const id of ids) this.#ledger.takeIn(collection, id, undefined);
  }

  #takeIn(collection: NumberedCollection, [key, version, at, text]: Row): void {
    const before: State = { version: Number(version), at: Number(at), text: String(text) };
    this.#ledger.takeIn(collection, idOf(collection.idKind, String(key)), before);
  }

  async #readReceipts(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const { rows } = await this.#transaction.run(statements.selectReceipts(keys));
    for (const [key, , , , expiresAt] of rows) this.#receipts.set(String(key), Number(expiresAt));
  }

  async #readLastVersions({ number }: NumberedCollection, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { rows } = await this.#transaction.run(statements.selectLastVersions(number, ids));
    for (const [id, version] of rows) this.#lastVersions.set(`${number}/${id}`, Number(version));
  }

  #readDeclared(collection: NumberedCollection, texts: readonly string[]): Promise<void>[] {
    const { unique, references } = collection;
    if (texts.length === 0 || unique.length + references.length === 0) return [];
    const resources = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    const targets = resources.flatMap((resource) => targetsOf(resource, references));
    const byCollection = Map.groupBy(targets, ({ reference }) => reference.collection);
    const targeted = [...byCollection].map(([name, list]) => {
      const target = this.#catalogue.byName.get(name);
      return target === undefined
        ? Promise.resolve()
        : this.#readPresent(
            target,
            list.map(({ id }) => id),
          );
    });
    const held = unique.map((each) => {
      const values = resources.flatMap((resource) => uniqueValue(resource, each) ?? []);
      return this.#readHolders(collection, each, values);
    });
    return [...targeted, ...held];
  }

  async #readPresent({ number, idKind }: NumberedCollection, ids: readonly string[]): Promise<void> {
    const keys = ids.map((id) => keyOf(idKind, id));
    const { rows } = await this.#transaction.run(statements.selectKeys(number, keys));
    const found = new Set(rows.map(([key]) => idOf(idKind, String(key))));
    const present = this.#present.get(number) ?? new Map<string, boolean>();
    for (const id of ids) present.set(id, found.has(id));
    this.#present.set(number, present);
  }

  async #readHolders(
    collection: NumberedCollection,
    unique: Unique,
    values: readonly string[],
  ): Promise<void> {
    if (values.length === 0) return;
    const beginnings = values.map((value) => [...value].slice(0, uniqueLength).join(""));
    const { rows } = await this.#transaction.run(
      statements.selectHolders(collection.number, unique, beginnings),
    );
    for (const value of values) this.#holders.set(nameOf(collection, unique, value), []);
    for (const [value, all] of Map.groupBy(rows, ([, held]) => String(held))) {
      const ids = all.map(([key]) => idOf(collection.idKind, String(key)));
      this.#holders.set(nameOf(collection, unique, value), ids);
    }
  }
}

function nameOf({ number }: NumberedCollection, { path, ignoreCase }: Unique, value: string): string {
  return `${number} ${ignoreCase} ${formatPath(path)}: ${value}`;
}
