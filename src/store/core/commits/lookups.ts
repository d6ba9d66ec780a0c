/** What decisions about writes look up in a store. They do not see changes that are only staged. */
import { formatPath } from "../../../collection/paths.ts";
import { type Reference, referencedIds } from "../../../collection/references.ts";
import { uniqueValue } from "../../../query/unique-values.ts";
import type { Dialect } from "../../sql/dialect.ts";
import {
  ask,
  type Plan,
  type Row,
  type Statement,
  type Text,
  together,
  type Value,
} from "../../sql/plans.ts";
import { allOf, deleted, query, type RowOf, select } from "../../sql/table.ts";
import type { Catalogue, NumberedCollection, Referrer } from "../catalogue.ts";
import { intactDeleted } from "../checksums.ts";
import { canBeId, type UniqueSlot, uniqueKey } from "../entries.ts";
import { erasedName } from "../log-plans.ts";
import type { ReceiptPlans } from "../receipt-plans.ts";
import { type ResolvedCommit, resolvedChangesOf } from "./resolved-commit.ts";
import type { ResourceState, StagedChanges } from "./staged-changes.ts";

/** A resource that a lookup found. */
export interface FoundResource {
  id: string;
  state: ResourceState;
}

/** A lookup reads at most this many resources, and stops after it has read more than `text` bytes. */
export interface ReadLimit {
  resources: number;
  text: number;
}

/** Returns a function that makes the lookups of one transaction. The texts of their statements are made once. */
export function createLookups(
  dialect: Dialect,
): (catalogue: Pick<Catalogue, "byName">, receipts: ReceiptPlans) => Lookups {
  const known = new Map<number, Texts>();
  const textsOf = (number: number) => {
    const texts = known.get(number) ?? makeTexts(dialect, number);
    known.set(number, texts);
    return texts;
  };
  return (catalogue, receipts) => new Lookups({ dialect, receipts, catalogue, textsOf });
}

interface LookupsParts {
  dialect: Dialect;
  receipts: ReceiptPlans;
  catalogue: Pick<Catalogue, "byName">;
  textsOf(number: number): Texts;
}

/** Results by their names. `undefined`: there is no result. */
type Known<T> = Map<string, T | undefined>;

/** The lookups of one transaction. They ask for everything at most once, except for resources. */
export class Lookups {
  readonly #parts: LookupsParts;
  #existing: Known<true> | undefined;
  #states: Known<ResourceState> | undefined;
  #deleted: Known<number> | undefined;
  #holders: Known<readonly string[]> | undefined;
  #expiries: Known<number> | undefined;
  #receiptCount: number | undefined;
  #referrerBytes = 0;

  constructor(parts: LookupsParts) {
    this.#parts = parts;
  }

  /** The size of all resources that `referrers` has read, in bytes of text. */
  get referrerBytes(): number {
    return this.#referrerBytes;
  }

  /**
   * Reads together what decisions about the commits will look up. Locks the resources that they change, and notes them in
   * `staged`. A store that responds at once does not need this.
   */
  *readAhead(commits: readonly ResolvedCommit[], staged: StagedChanges): Plan<void> {
    const changes = commits.flatMap(resolvedChangesOf);
    const keys = commits.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.key]));
    const plans: Plan<unknown>[] = keys.length === 0 ? [] : [this.#readReceipts(keys), this.receiptCount()];
    const targets = commits.flatMap(({ requires = [] }) => requires.flatMap((each) => each.targets));
    for (const [name, own] of Map.groupBy(targets, ({ collection }) => collection)) {
      const collection = this.#parts.catalogue.byName.get(name);
      const ids = [...new Set(own.map(({ id }) => id).filter(canBeId))];
      if (collection !== undefined) plans.push(this.states(collection, ids));
    }
    const byNumber = Map.groupBy(changes, ({ collection }) => collection.number);
    for (const [, own] of [...byNumber].sort(([a], [b]) => a - b)) {
      const { collection } = own[0] as (typeof own)[0];
      const texts = own.flatMap(({ next }) => (next === undefined ? [] : [next]));
      const used = own.flatMap(({ id, after, last }) => {
        if (after !== undefined) return [id];
        return last === undefined ? [] : [id, erasedName(id)];
      });
      plans.push(this.note(collection, [...new Set(own.map(({ id }) => id))], staged));
      // After the lookup above: a resource that another instance deletes in between has left its version.
      plans.push(this.deleted(collection, [...new Set(used)]), ...this.#constraintsOf(collection, texts));
    }
    yield* together(...plans);
  }

  /** Reads together what decisions about imported resources will look up. */
  *readImported(
    collection: NumberedCollection,
    resources: readonly { id: string; text: string }[],
  ): Plan<void> {
    const texts = resources.map(({ text }) => text);
    const ids = resources.map(({ id }) => id);
    yield* together<unknown[]>(this.existing(collection, ids), ...this.#constraintsOf(collection, texts));
  }

  /** A resource that is about to change, now locked. */
  resource({ number, idKind }: NumberedCollection, id: string): Statement<ResourceState | undefined> {
    const { dialect, textsOf } = this.#parts;
    return { text: textsOf(number).resource, values: [[dialect.keyOf(idKind, id)]], read: firstState };
  }

  /** Whether a resource exists. */
  *exists(collection: NumberedCollection, id: string): Plan<boolean> {
    return (yield* this.existing(collection, [id])).has(id);
  }

  /** The ids among these that belong to resources. */
  existing({ number, idKind }: NumberedCollection, ids: readonly string[]): Plan<ReadonlyMap<string, true>> {
    const { dialect, textsOf } = this.#parts;
    this.#existing ??= new Map();
    return find(this.#existing, `${number}`, ids, function* (missing) {
      const keys = missing.map((id) => dialect.keyOf(idKind, id));
      const { existing, one } = textsOf(number);
      const found = yield* keys.length === 1 ? one(keys[0] as Value) : existing(dialect.list(keys));
      return found.map(([key]) => [dialect.idOf(idKind, key), true]);
    });
  }

  /** The resources among these ids, as they were stored when they were first looked up. Does not lock them. */
  states(
    { number, idKind }: NumberedCollection,
    ids: readonly string[],
  ): Plan<ReadonlyMap<string, ResourceState>> {
    const { dialect, textsOf } = this.#parts;
    this.#states ??= new Map();
    return find(this.#states, `${number}`, ids, function* (missing) {
      const rows = yield* textsOf(number).states(
        dialect.list(missing.map((id) => dialect.keyOf(idKind, id))),
      );
      return rows.map((row) => [dialect.idOf(idKind, row[0]), stateOf(row)]);
    });
  }

  /** The versions of the last deletes, for those of these names that are in the table of deleted ids. Throws DATA_DAMAGED. */
  deleted({ number, name }: NumberedCollection, names: readonly string[]): Plan<ReadonlyMap<string, number>> {
    const { dialect, textsOf } = this.#parts;
    this.#deleted ??= new Map();
    return find(this.#deleted, `${number}`, names, function* (missing) {
      const found = yield* textsOf(number).deleted(dialect.list(missing));
      return found.map((row) => [row.id, intactDeleted(name, row).version]);
    });
  }

  /** The last version of each id that no resource has. An id that was never used has none. */
  *lastVersions(collection: NumberedCollection, ids: readonly string[]): Plan<ReadonlyMap<string, number>> {
    const names = ids.flatMap((id) => [id, erasedName(id)]);
    const versions = yield* this.deleted(collection, names);
    if (versions.size === 0) return versions;
    const last = (id: string) => Math.max(versions.get(id) ?? 0, versions.get(erasedName(id)) ?? 0);
    return new Map(ids.map((id) => [id, last(id)]));
  }

  /**
   * The version of the last change of a resource in the log; `undefined`: it has none. `canBeOlder`: whether the resource can have changed
   * later, when the store kept no history.
   */
  lastLogged(
    { number }: NumberedCollection,
    id: string,
  ): Plan<{ version: number; canBeOlder: boolean } | undefined> {
    return this.#parts.textsOf(number).lastLogged(id);
  }

  /** The ids of resources that have a value in a unique attribute. `enough` of them are sufficient. */
  *holders(
    collection: NumberedCollection,
    place: UniqueSlot,
    { value, enough }: { value: string; enough: number },
  ): Plan<readonly string[]> {
    return (yield* this.#readHolders(collection, place, [value], enough)).get(value) ?? [];
  }

  /** One of the resources that have each of these values in a unique attribute, by value. */
  *holderOf(
    collection: NumberedCollection,
    place: UniqueSlot,
    values: readonly string[],
  ): Plan<ReadonlyMap<string, string>> {
    const all = yield* this.#readHolders(collection, place, [...new Set(values)], 1);
    return new Map([...all].flatMap(([value, [id]]) => (id === undefined ? [] : [[value, id]])));
  }

  /** The resources that refer to one of `ids`, except `known`. */
  *referrers(
    { from: { number, idKind }, reference }: Referrer,
    { ids, known, limit }: { ids: readonly string[]; known: ReadonlySet<string>; limit: ReadLimit },
  ): Plan<FoundResource[]> {
    const { dialect, textsOf } = this.#parts;
    const rows = yield* textsOf(number).referrers(
      formatPath(reference.path),
      dialect.list(ids.filter(canBeId)),
      dialect.list([...known].map((id) => dialect.keyOf(idKind, id))),
      limit.resources,
      limit.text,
    );
    const found = rows.map((row) => ({ id: dialect.idOf(idKind, row[0]), state: stateOf(row) }));
    for (const { state } of found) this.#referrerBytes += Buffer.byteLength(state.text);
    return found;
  }

  /** The ids that a reference of a collection contains, each once, starting from one id. Their order never changes. */
  targets(
    { number }: NumberedCollection,
    reference: Reference,
    { from, limit }: { from: string; limit: number },
  ): Plan<readonly string[]> {
    return this.#parts.textsOf(number).targets(formatPath(reference.path), from, limit);
  }

  /** The time at which the receipt with this key expires. */
  *receipt(key: string): Plan<number | undefined> {
    return (yield* this.#readReceipts([key])).get(key);
  }

  /** Whether the store has the receipt with this key, after a lookup of it. */
  hasReceipt(key: string): boolean {
    return this.#expiries?.get(nameIn("", key)) !== undefined;
  }

  /** The number of receipts in the store. */
  *receiptCount(): Plan<number> {
    this.#receiptCount ??= yield* this.#parts.receipts.count();
    return this.#receiptCount;
  }

  #readReceipts(keys: readonly string[]): Plan<ReadonlyMap<string, number>> {
    const { receipts } = this.#parts;
    this.#expiries ??= new Map();
    return find(this.#expiries, "", keys, (missing) => receipts.expiries(missing));
  }

  /** Reads resources that are about to change, locks them, and notes them in `staged`. */
  *note(collection: NumberedCollection, ids: readonly string[], staged: StagedChanges): Plan<void> {
    const { dialect, textsOf } = this.#parts;
    const { number, idKind } = collection;
    const keys = dialect.list(ids.map((id) => dialect.keyOf(idKind, id)));
    const rows = yield* textsOf(number).resources(keys);
    const states = new Map(rows.map((row) => [dialect.idOf(idKind, row[0]), stateOf(row)]));
    for (const id of ids) staged.note(collection, id, states.get(id));
  }

  /** What the constraints of resources depend on. */
  #constraintsOf(collection: NumberedCollection, texts: readonly string[]): Plan<unknown>[] {
    const { uniqueSlots, references } = collection;
    if (texts.length === 0 || uniqueSlots.length + references.length === 0) return [];
    const resources = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    const targets = resources.flatMap((resource) => referencedIds(resource, references));
    const byCollection = Map.groupBy(targets, ({ reference }) => reference.collection);
    const existing = [...byCollection].flatMap(([name, all]) => {
      const target = this.#parts.catalogue.byName.get(name);
      const ids = [...new Set(all.map(({ id }) => id).filter(canBeId))];
      return target === undefined ? [] : [this.existing(target, ids)];
    });
    const holders = uniqueSlots.map((place) => {
      const values = resources.flatMap((resource) => uniqueValue(resource, place.unique) ?? []);
      return this.#readHolders(collection, place, values, Number.MAX_SAFE_INTEGER);
    });
    return [...existing, ...holders];
  }

  #readHolders(
    { number, idKind }: NumberedCollection,
    { slot }: UniqueSlot,
    values: readonly string[],
    enough: number,
  ): Plan<ReadonlyMap<string, readonly string[]>> {
    const { dialect, textsOf } = this.#parts;
    this.#holders ??= new Map();
    return find(this.#holders, `${number} ${slot}`, values, function* (missing) {
      const keys = missing.map(uniqueKey);
      const rows = yield* ask({
        text: textsOf(number).holders(slot),
        values: dialect.holders.values(keys, enough),
        read: (found) => found,
      });
      if (rows.length === 0) return [];
      const byKey = Map.groupBy(rows, ([, held]) => String(held).toLowerCase());
      return missing.map((value, n) => {
        const holders = byKey.get(keys[n]?.toString("hex") ?? "") ?? [];
        return [value, holders.map(([key]) => dialect.idOf(idKind, key))];
      });
    });
  }
}

/** Finds what is not known yet, and remembers it. Returns the results of the names. */
function* find<T>(
  known: Known<T>,
  place: string,
  names: readonly string[],
  read: (missing: readonly string[]) => Plan<Iterable<readonly [string, T]>>,
): Plan<ReadonlyMap<string, T>> {
  const missing = names.filter((name) => !known.has(nameIn(place, name)));
  const found = missing.length === 0 ? new Map<string, T>() : new Map(yield* read(missing));
  for (const name of missing) known.set(nameIn(place, name), found.get(name));
  for (const name of names) {
    const result = known.get(nameIn(place, name));
    if (result !== undefined) found.set(name, result);
  }
  return found;
}

function nameIn(place: string, name: string): string {
  return `${place}/${name}`;
}

type Texts = ReturnType<typeof makeTexts>;

function makeTexts(dialect: Dialect, number: number) {
  const { tablePrefix, keyColumn, doc, rowId, among, docBytes } = dialect;
  const resources = `${tablePrefix}resources_${number}`;
  const refers = `${tablePrefix}refers_${number}`;
  const columns = (table: string) =>
    `${table}.${keyColumn}, ${table}.version, ${table}.updated_at, ${table}.${doc}, ${table}.checksum, ${rowId}`;
  const all = (rows: readonly Row[]) => rows;
  const lastDelete = select(deleted, "id", "version", "checksum");
  const state = `select ${columns(resources)} from ${resources} where`;
  const lock = dialect.lock(number);
  const holders = new Map<number, Text>();
  return {
    resource: { sql: `${state} ${keyColumn} = $1::text ${lock}` },
    resources: query<[Value], readonly Row[]>(`${state} ${among(keyColumn, 1)} ${lock}`, all),
    states: query<[Value], readonly Row[]>(`${state} ${among(keyColumn, 1)}`, all),
    existing: query<[Value], readonly Row[]>(
      `select ${keyColumn} from ${resources} where ${among(keyColumn, 1)}`,
      all,
    ),
    // On SQLite, this is faster than a list of one key.
    one: query<[Value], readonly Row[]>(
      `select ${keyColumn} from ${resources} where ${keyColumn} = $1::text`,
      all,
    ),
    deleted: query<[Value], RowOf<typeof deleted>[]>(
      `select ${lastDelete.sql} from ${tablePrefix}deleted_${number} where ${among("id", 1)}`,
      allOf(lastDelete),
    ),
    lastLogged: query<[string], { version: number; canBeOlder: boolean } | undefined>(
      `select version, (select unlogged_up_to from ${tablePrefix}heads where number = ${number}) - sequence
        from ${tablePrefix}changes_${number} where id = $1::text order by version desc limit 1`,
      ([row]) => row && { version: Number(row[0]), canBeOlder: Number(row[1]) > 0 },
    ),
    holders(slot: number): Text {
      const text = holders.get(slot) ?? { sql: dialect.holders.sql(number, slot) };
      holders.set(slot, text);
      return text;
    },
    referrers: query<[string, Value, Value, number, number], readonly Row[]>(
      `select ${columns("resource")} from (
          select key, size, sum(size) over (order by key rows unbounded preceding) as running from (
            select resource.key, ${docBytes("resource")} as size
            from (select distinct key from ${refers} where attribute = $1::text and ${among("target", 2)}) as refers
            join ${resources} as resource using (key) where not ${among(`resource.${keyColumn}`, 3)}
            order by resource.key limit $4::bigint
          ) as referring
        ) as measured join ${resources} as resource using (key)
        where running - measured.size <= $5::bigint order by measured.key`,
      all,
    ),
    targets: query<[string, string, number], readonly string[]>(
      `select distinct target from ${refers} where attribute = $1::text and target >= $2::text order by target limit $3::bigint`,
      (rows) => rows.map(([target]) => String(target)),
    ),
  };
}

function firstState([row]: readonly Row[]): ResourceState | undefined {
  return row && stateOf(row);
}

function stateOf([, version, at, text, checksum, rowId]: Row): ResourceState {
  return {
    version: Number(version),
    text: String(text),
    updatedAt: Number(at),
    checksum: Number(checksum),
    rowId: rowId == null ? undefined : Number(rowId),
  };
}
