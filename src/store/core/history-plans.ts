/** Reads the change log: pages of changes, old versions of resources, and what lists of an earlier time need. */
import {
  type ChangedResource,
  type ChangedTexts,
  type ChangeKind,
  type KeptText,
  type LastTexts,
  type LifeEnd,
  type LoggedChange,
  type LoggedKey,
  type LogHead,
  type LogSlice,
  maxSliceBytes,
  type ResourceChange,
} from "../port/change-log.ts";
import { type LogPlace, toNumber, toPlace } from "../port/log-place.ts";
import type { Stored } from "../port/stored.ts";
import type { Dialect } from "../sql/dialect.ts";
import { type Plan, type Row, together, type Value } from "../sql/plans.ts";
import {
  allOf,
  changes as columns,
  firstOf,
  numberOf,
  query,
  quoteColumn,
  type RowOf,
  type Selection,
  select,
  textsOf,
} from "../sql/table.ts";
import type { NumberedCollection } from "./catalogue.ts";
import type { LoggedRowKey } from "./changes-since.ts";
import { type ChangeRow, requireIntactChange, storedIn } from "./checksums.ts";
import { differenceMark, isDifference, maxChain, textFrom } from "./superseded.ts";

/** The limits of one statement that rebuilds resources. It reads at least one resource. */
export interface Chunk {
  resources: number;
  /** The bytes of their texts. */
  bytes: number;
}

/** Returns a function that makes the history of a collection. The texts of its statements are made once for each collection. */
export function createHistories(
  dialect: Dialect,
  chunk: Chunk,
): (collection: NumberedCollection) => HistoryPlans {
  const known = new Map<string, Texts>();
  return (collection) => {
    // The key includes the name, because an emptied database can give the number to another collection.
    const key = `${collection.number} ${collection.name}`;
    const texts = known.get(key) ?? makeTexts(dialect, collection);
    known.set(key, texts);
    return new HistoryPlans(dialect, { collection, texts, chunk });
  };
}

/** The change log of one collection. All statements of one plan must see the same state. */
export class HistoryPlans {
  readonly #dialect: Dialect;
  readonly #collection: NumberedCollection;
  readonly #sql: Texts;
  readonly #chunk: Chunk;

  constructor(
    dialect: Dialect,
    { collection, texts, chunk }: { collection: NumberedCollection; texts: Texts; chunk: Chunk },
  ) {
    this.#dialect = dialect;
    this.#collection = collection;
    this.#sql = texts;
    this.#chunk = chunk;
  }

  /** How far the log goes. */
  head(): Plan<LogHead> {
    return this.#sql.head();
  }

  /** The changes after a place: at most `limit`, or `maxSliceBytes` of text. */
  *changesAfter(place: LogPlace, limit: number): Plan<LogSlice> {
    const changes: LoggedChange[] = [];
    const size = new SliceSize();
    for (let rows = size.next(limit); rows > 0; rows = size.next(limit)) {
      const last = changes.at(-1)?.sequence ?? place;
      const read = yield* this.#withTexts(yield* this.#sql.after(toNumber(last), rows));
      changes.push(...read);
      if (read.length < rows) break;
      size.note(
        read.map(({ text = "", superseded = "" }) => (text.length > superseded.length ? text : superseded)),
      );
    }
    return { changes, ...(yield* this.head()) };
  }

  /** The change at a place. */
  *changeAt(place: LogPlace): Plan<LoggedKey | undefined> {
    const change = yield* this.#sql.changeAt(toNumber(place));
    return change && { id: change.id, version: change.version, kind: change.kind, at: change.at };
  }

  /** The changes of a resource with versions below `before`, newest first. */
  *changesOf(id: string, { before, limit }: { before: number; limit: number }): Plan<ResourceChange[]> {
    return (yield* this.#sql.page(id, before, limit)).map(({ id: _, ...change }) => change);
  }

  /** Whether a resource with an id exists. */
  *exists(id: string): Plan<boolean> {
    return (yield* this.#currentOf([id])).size > 0;
  }

  /** The first delete of an id above a version. */
  *deleteAfter(id: string, version: number): Plan<ResourceChange | undefined> {
    const found = yield* this.#sql.deleteAfter(id, version);
    if (found === undefined) return undefined;
    const { id: _, ...change } = found;
    return change;
  }

  /** The changes after a sequence, without their texts. */
  keysAfter(sequence: number, limit: number): Plan<LoggedRowKey[]> {
    return this.#sql.keysAfter(sequence, limit);
  }

  /**
   * The last deletes of ids after `id` that the log has, if no later change followed. `last` is the last id that was looked at, of
   * at most `limit`; `undefined` after the end.
   */
  *deletesAfter(id: string, limit: number): Plan<{ deletes: LoggedDelete[]; last: string | undefined }> {
    const last = (yield* this.#sql.deletedIds(id, limit)).at(-1);
    return { last, deletes: last === undefined ? [] : yield* this.#sql.deletesUpTo(id, last) };
  }

  /** The sequence of the collection now, and at a time (`sequenceAtSql`). */
  *sequences(at: number): Plan<{ current: number; past: number }> {
    const [head, past] = yield* together(this.head(), this.#sql.sequenceAt(at));
    return { current: toNumber(head.sequence), past };
  }

  /** A version of a resource: the current one, or one whose change is in the log. Throws an Error if the log is damaged. */
  *version(id: string, version: number): Plan<Stored | undefined> {
    const [current, made] = yield* together(this.#current(id), this.#sql.upTo(id, version));
    if (current?.version === version) return current;
    return made?.version === version ? yield* this.#storedOf(id, made, current) : undefined;
  }

  /**
   * The version of a resource at a time: the one that its last change up to the sequence at that time made. Throws an Error if
   * the log is damaged.
   */
  *at(id: string, at: number): Plan<Stored | undefined> {
    const [current, newest] = yield* together(this.#current(id), this.#sql.upTo(id, Number.MAX_SAFE_INTEGER));
    // The log does not have the last change, so only its time is known.
    if (current !== undefined && current.version !== newest?.version && current.updatedAt <= at)
      return current;
    if (newest === undefined) return undefined;
    const made = yield* this.#lastUpTo(id, yield* this.#sql.sequenceAt(at), newest);
    if (made === undefined || made.version === current?.version) return made && current;
    return yield* this.#storedOf(id, made, current);
  }

  /** The last texts of resources, as `HistoryStore.lastTexts` says. */
  *lastTexts(versions: readonly { id: string; version: number }[]): Plan<ReadonlyMap<string, LastTexts>> {
    const texts = new Map<string, LastTexts>();
    const size = new SliceSize();
    for (let rows = size.next(versions.length); rows > 0; rows = size.next(versions.length)) {
      const some = versions.slice(texts.size, texts.size + rows);
      const ids = some.map(({ id }) => id);
      const [current, ends] = yield* together(this.#currentOf(ids), this.#lifeEnds(some));
      const others = ids.filter((id) => !current.has(id));
      const deletes = others.length === 0 ? [] : yield* this.#sql.lastDeletes(this.#dialect.list(others));
      const deleted = new Map(deletes.map(({ id, superseded }) => [id, superseded]));
      for (const id of ids)
        texts.set(id, { last: current.get(id)?.text ?? deleted.get(id), end: ends.get(id) });
      const found = ids.map((id) => texts.get(id));
      size.note([...found.map((each) => each?.last), ...found.map((each) => each?.end?.text)], ids.length);
    }
    return texts;
  }

  /** The first deletes from versions on. Most resources have none, so it looks at the last deletes first. */
  *#lifeEnds(versions: readonly { id: string; version: number }[]): Plan<ReadonlyMap<string, LifeEnd>> {
    const ended = yield* this.#sql.endedVersions(this.#dialect.records(versions));
    if (ended.length === 0) return new Map();
    const deletes = yield* this.#sql.lifeEnds(this.#dialect.records(ended));
    const unknown = ended.map(({ id, last }): [string, LifeEnd] => [id, { version: last, text: undefined }]);
    const known = deletes.map(({ id, version, superseded }): [string, LifeEnd] => [
      id,
      { version, text: superseded },
    ]);
    return new Map([...unknown, ...known]);
  }

  /**
   * The texts of changed resources from `from` on, to undo their changes: at least one of them. `needsPresent`: also their current
   * texts, or their last texts before they were deleted.
   */
  *texts(changed: readonly ChangedResource[], from: number, needsPresent: boolean): Plan<ChangedTexts[]> {
    const wanted = changed.slice(from, from + this.#chunk.resources);
    const chains = yield* this.#chains(wanted, ({ version }) => version);
    const deleted = needsPresent ? wanted.slice(0, chains.length).filter(({ exists }) => !exists) : [];
    const ends = yield* this.#chains(deleted, ({ lastVersion }) => lastVersion);
    const last = new Map(ends.map((end, n) => [deleted[n]?.id, end[0]?.kept ?? undefined]));
    const unread = deleted[ends.length];
    const found = wanted.slice(0, unread === undefined ? chains.length : wanted.indexOf(unread));
    const needsCurrent = found.filter(
      ({ exists }, n) => exists && (needsPresent || isDifference(chains[n]?.at(-1)?.kept ?? "")),
    );
    const current = yield* this.#currentOf(needsCurrent.map(({ id }) => id));
    return found.map(({ id }, n) => ({
      chain: chains[n] ?? [],
      current: current.get(id),
      deleted: last.get(id),
    }));
  }

  *#chains(of: readonly ChangedResource[], versionOf: (each: ChangedResource) => number): Plan<KeptText[][]> {
    if (of.length === 0) return [];
    const { keyOf, records } = this.#dialect;
    const { idKind } = this.#collection;
    const wanted = of.map((each) => ({
      id: each.id,
      key: keyOf(idKind, each.id),
      version: versionOf(each),
    }));
    const chains: KeptText[][] = [];
    const rows = yield* this.#sql.chains(records(wanted), this.#chunk.bytes);
    for (const { place, version, superseded = null } of rows) {
      chains[place - 1] ??= [];
      chains[place - 1]?.push({ version, kept: superseded });
    }
    return chains;
  }

  /** The last change up to a sequence, found by binary search, because a resource can have a million changes. */
  *#lastUpTo(id: string, sequence: number, newest: Made): Plan<Made | undefined> {
    if (newest.sequence <= sequence) return newest;
    const oldest = yield* this.#sql.oldest(id);
    if (oldest === undefined || oldest.sequence > sequence) return undefined;
    let last = oldest;
    let high = newest.version - 1;
    for (let low = last.version; low < high; ) {
      const middle = low + Math.ceil((high - low) / 2);
      const found = yield* this.#sql.upTo(id, middle);
      if (found === undefined) return undefined;
      if (found.sequence <= sequence) {
        last = found;
        low = middle;
      } else high = found.version - 1;
    }
    return last;
  }

  /** The state that a change made. */
  *#storedOf(id: string, made: Made, current: Stored | undefined): Plan<Stored | undefined> {
    const { version, kind, at } = made;
    const text = yield* this.#textAfter({ id, version, kind }, current);
    return text === undefined ? undefined : { id, version, text, updatedAt: at };
  }

  /** The text that a change made. The next change in the log contains it. */
  *#textAfter(
    { id, version, kind }: { id: string; version: number; kind: string },
    current: Stored | undefined,
  ): Plan<string | undefined> {
    if (kind === "deleted") return undefined;
    if (current?.version === version) return current.text;
    const chain = yield* this.#sql.chain(id, version + 1, version + maxChain);
    return textOfChain(id, version + 1, { chain, current });
  }

  /** Adds the texts before and after each change to rows, which are in order. Applies each difference only once. */
  *#withTexts(rows: readonly Kept[]): Plan<LoggedChange[]> {
    const current = yield* this.#currentOf(rows.map(({ id }) => id));
    /** The loop goes back in time. This is the oldest text of each resource so far, and its version. */
    const known = new Map<string, { version: number; text: string | undefined }>();
    const changes: LoggedChange[] = [];
    for (const { superseded: kept = null, ...row } of rows.toReversed()) {
      const { id, version } = row;
      const later = known.get(id);
      const text = later?.version === version ? later.text : yield* this.#textAfter(row, current.get(id));
      const superseded = textOf(id, { version, kept }, text);
      known.set(id, { version: version - 1, text: superseded });
      changes.push({ ...row, sequence: toPlace(row.sequence), superseded, text });
    }
    return changes.reverse();
  }

  *#current(id: string): Plan<Stored | undefined> {
    return (yield* this.#currentOf([id])).get(id);
  }

  *#currentOf(ids: readonly string[]): Plan<ReadonlyMap<string, Stored>> {
    if (ids.length === 0) return new Map();
    const { idKind } = this.#collection;
    const { keyOf, list } = this.#dialect;
    const rows = yield* this.#sql.current(list([...new Set(ids)].map((id) => keyOf(idKind, id))));
    const stored = rows.map((row) => storedIn(this.#dialect, this.#collection, row));
    return new Map(stored.map((each) => [each.id, each]));
  }
}

/**
 * The text that the change to `version` superseded. `undefined` if that change is a create, or if a later change is missing
 * because the service ran without a history for a while.
 */
export function textOfChain(
  id: string,
  version: number,
  { chain, current }: { chain: readonly KeptText[]; current: Stored | undefined },
): string | undefined {
  const last = chain.at(-1);
  if (last === undefined || last.version !== version + chain.length - 1) return undefined;
  let next = current?.version === last.version ? current.text : undefined;
  for (const each of chain.toReversed()) next = textOf(id, each, next);
  return next;
}

function textOf(id: string, { version, kept }: KeptText, next: string | undefined): string | undefined {
  if (kept === null || (next === undefined && isDifference(kept))) return undefined;
  try {
    return textFrom(kept, next ?? "");
  } catch (error) {
    throw new Error(
      `The change log is damaged: version ${version - 1} of the resource ${JSON.stringify(id)} cannot be read (${(error as Error).message}). Restore the store from a backup.`,
      { cause: error },
    );
  }
}

/** How many rows of the change log to read next, so that few more texts are read than `maxSliceBytes`. */
class SliceSize {
  #rows = 0;
  #bytes = 0;

  /** The next number of rows, at most `limit`; 0 if the slice is full. */
  next(limit: number): number {
    const left = limit - this.#rows;
    if (left <= 0 || this.#bytes >= maxSliceBytes) return 0;
    if (this.#rows === 0) return Math.min(left, firstRows);
    const bytesOfRow = Math.max(1, this.#bytes / this.#rows);
    return Math.min(
      left,
      Math.max(1, Math.floor((maxSliceBytes - this.#bytes) / bytesOfRow)),
      this.#rows * 4,
    );
  }

  /** Counts what was read. */
  note(texts: readonly (string | undefined)[], rows = texts.length): void {
    this.#rows += rows;
    for (const text of texts) this.#bytes += text?.length ?? 0;
  }
}

/** The first rows of a slice. Even if each has a mebibyte, they need little memory. */
const firstRows = 8;

/** The change that made a version. */
interface Made {
  sequence: number;
  version: number;
  kind: ChangeKind;
  at: number;
}

/** A delete in the log. */
export type LoggedDelete = Pick<LoggedChange, "id" | "version" | "at" | "principal">;

/** A row of the log with its superseded text in the kept form. */
type Kept = Omit<RowOf<typeof columns>, "kept_checksum" | "checksum"> & { kind: ChangeKind };

type Texts = ReturnType<typeof makeTexts>;

/** The statements on the change log of a collection. */
function makeTexts(
  { tablePrefix, keyColumn, doc, docBytes, among, given }: Dialect,
  { number, name }: NumberedCollection,
) {
  const changes = `${tablePrefix}changes_${number}`;
  const resources = `${tablePrefix}resources_${number}`;
  const deleted = `${tablePrefix}deleted_${number}`;
  const meta = ["sequence", "id", "version", "kind", "at", "principal", "group"] as const;
  const checksums = ["kept_checksum", "checksum"] as const;
  const change = intact(name, select(columns, ...meta, ...checksums));
  const whole = intact(name, select(columns, ...meta, "superseded", ...checksums));
  const chain = intact(
    name,
    select({ place: "int", ...columns }, "place", ...meta, "superseded", ...checksums),
  );
  /** The end of a chain: the first version from `first` to `last` whose superseded text is no difference. */
  const endOf = (id: string, first: string, last: string) =>
    `coalesce((select min(version) from ${changes} where id = ${id} and version between ${first} and ${last}
      and substr(superseded, 1, 1) is distinct from '${differenceMark}'), ${last})`;
  return {
    head: query<[], LogHead>(
      `select sequence, gaps_up_to from ${tablePrefix}heads where number = ${number}`,
      ([[sequence = 0, gapsUpTo = 0] = []]) => ({
        sequence: toPlace(Number(sequence)),
        gapsUpTo: toPlace(Number(gapsUpTo)),
      }),
    ),
    current: query<[Value], readonly Row[]>(
      `select ${keyColumn}, version, updated_at, ${doc}, checksum from ${resources} where ${among(keyColumn, 1)}`,
      (rows) => rows,
    ),
    after: query<[number, number], Kept[]>(
      `select ${whole.sql} from ${changes} where sequence > $1::bigint order by sequence limit $2::bigint`,
      allOf(whole),
    ),
    changeAt: query<[number], LoggedKey | undefined>(
      `select ${change.sql} from ${changes} where sequence = $1::bigint`,
      firstOf(change),
    ),
    keysAfter: query<[number, number], LoggedRowKey[]>(
      `select ${change.sql} from ${changes} where sequence > $1::bigint order by sequence limit $2::bigint`,
      allOf(change),
    ),
    deletedIds: query<[string, number], string[]>(
      `select id from ${deleted} where id > $1::text order by id limit $2::bigint`,
      textsOf,
    ),
    deletesUpTo: query<[string, string], LoggedDelete[]>(
      `select ${change.sql} from (select id as was, version as made from ${deleted}
          where id > $1::text and id <= $2::text) as each
        join ${changes} on id = was and version = made and kind = 'deleted'
        where not exists (select 1 from ${changes} as later where later.id = was and later.version > made)`,
      allOf(change),
    ),
    lastDeletes: query<[Value], Kept[]>(
      `select ${whole.sql} from (select id as was, version as made from ${deleted} where ${among("id", 1)}) as each
        join ${changes} on id = was and version = made and kind = 'deleted'`,
      allOf(whole),
    ),
    endedVersions: query<[Value], { id: string; version: number; last: number }[]>(
      `select wanted.id, wanted.version, each.version as last from ${given({ id: "text", version: "int" }, 1)} as wanted
        join ${deleted} as each on each.id = wanted.id and each.version >= wanted.version`,
      allOf(select({ id: "text", version: "int", last: "int" }, "id", "version", "last")),
    ),
    lifeEnds: query<[Value], Kept[]>(
      `select ${whole.sql} from (select wanted.id as was, (select version from ${changes} where id = wanted.id
          and version between wanted.version and wanted.last and kind = 'deleted' order by version limit 1) as made
          from ${given({ id: "text", version: "int", last: "int" }, 1)} as wanted) as each
        join ${changes} on id = was and version = made`,
      allOf(whole),
    ),
    sequenceAt: query<[number], number>(sequenceAtSql(changes, "$1::bigint"), numberOf),
    page: query<[string, number, number], (ResourceChange & { id: string })[]>(
      `select ${change.sql} from ${changes}
        where id = $1::text and version < $2::bigint order by version desc limit $3::bigint`,
      allOf(change),
    ),
    // The last delete bounds the search, because a resource that was never deleted can have a million changes.
    deleteAfter: query<[string, number], (ResourceChange & { id: string }) | undefined>(
      `select ${change.sql} from ${changes} where id = $1::text and version > $2::bigint and kind = 'deleted'
        and version <= (select version from ${deleted} where id = $1::text) order by version limit 1`,
      firstOf(change),
    ),
    upTo: query<[string, number], Made | undefined>(
      `select ${change.sql} from ${changes} where id = $1::text and version <= $2::bigint order by version desc limit 1`,
      firstOf(change),
    ),
    oldest: query<[string], Made | undefined>(
      `select ${change.sql} from ${changes} where id = $1::text order by version limit 1`,
      firstOf(change),
    ),
    chain: query<[string, number, number], KeptText[]>(
      `select ${whole.sql} from ${changes} where id = $1::text
        and version between $2::bigint and ${endOf("$1::text", "$2::bigint", "$3::bigint")} order by version`,
      (rows) => allOf(whole)(rows).map(({ version, superseded = null }) => ({ version, kept: superseded })),
    ),
    // The sums are made without the texts, because a thousand of them would not fit into the memory. The texts come from a subquery,
    // because PostgreSQL would read the whole log for a join.
    chains: query<[Value, number], { place: number; version: number; superseded: string | undefined }[]>(
      `select place, ${selected(meta)}, (select superseded from ${changes} as change where change.sequence = measured.sequence),
          ${selected(checksums)}
        from (select wanted.place, ${selected([...meta, ...checksums], "each.")}, sum(coalesce(octet_length(each.superseded), 0)
            + coalesce(${docBytes("resource")}, 0)) over (order by wanted.place) as running
          from ${given({ id: "text", key: "text", version: "int" }, 1)} as wanted
          left join ${resources} as resource on resource.${keyColumn} = wanted.key
          cross join ${changes} as each where each.id = wanted.id and each.version between wanted.version
            and ${endOf("wanted.id", "wanted.version", `wanted.version + ${maxChain - 1}`)}) as measured
        where running <= $2::bigint or place = 1 order by place, version`,
      allOf(chain),
    ),
  };
}

/** More than every sequence, and a power of two. */
const firstStep = 2 ** 52;

/**
 * The sequence of a collection at a time: that of its last change until then, by the times of the commits; 0 if the log `table` has no
 * change until the time `at`. It decides on the history of single resources and of lists, so both agree.
 *
 * A binary search finds it, because the log has no index of times. If the clock was set back, several sequences can fit, and the
 * result is one of them. The search always compares the same sequences, so later changes do not alter its result.
 */
function sequenceAtSql(table: string, at: string): string {
  const next = "search.sequence + search.step";
  return `with recursive search(step, sequence) as (
      select cast(${firstStep} as bigint), cast(0 as bigint)
      union all
      select step / 2, sequence + case when ${next} > (select coalesce(max(sequence), 0) from ${table}) then 0
        when (select at from ${table} where sequence <= ${next} order by sequence desc limit 1) > ${at} then 0
        else step end
      from search where step > 0)
    select coalesce(max(sequence), 0) as sequence from ${table}
    where sequence <= (select sequence from search where step = 0)`;
}

/** Reads intact changes, without their checksums. Throws DATA_DAMAGED. */
function intact<T extends ChangeRow & { kind: string; checksum: number }>(
  collection: string,
  { sql, read }: Selection<T>,
): Selection<Omit<T, "kept_checksum" | "checksum"> & { kind: ChangeKind }> {
  return {
    sql,
    read(cells) {
      const row = read(cells);
      requireIntactChange(collection, row);
      const { kept_checksum: _, checksum: __, ...change } = row;
      return change as Omit<T, "kept_checksum" | "checksum"> & { kind: ChangeKind };
    },
  };
}

function selected(names: readonly string[], prefix = ""): string {
  return names.map((name) => prefix + quoteColumn(name)).join(", ");
}
