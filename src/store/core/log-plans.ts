/** The change logs of all collections: their counters, and which old changes are removed from them. */
import { hash } from "node:crypto";
import { type LogPlace, toNumber } from "../port/log-place.ts";
import { bytesOfChange, type History } from "../port/options.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan } from "../sql/plans.ts";
import {
  allOf,
  command,
  deleted as deletedColumns,
  numberOf,
  query,
  type RowOf,
  replaceDeleted,
  select,
  textsOf,
} from "../sql/table.ts";
import type { NumberedCollection } from "./catalogue.ts";
import { checksumOfDeleted, intactDeleted } from "./checksums.ts";

/** The internal collection of the consumers of the log. The sweep of the log reads the member `owes` of its resources (`LogKeeper`). */
export const logKeepers = "_consumers";

/** The name in `owes` for all collections that it does not name. */
export const otherCollections = "*";

/** The log keeps an outdated change for a consumer at most this long, in milliseconds. */
const maxOwedMs = 7 * 24 * 3_600_000;

/** A consumer of the log, with the place in each collection after which it needs every change. */
export interface LogKeeper {
  /** A consumer writes it in the commit that says how far it has come. @default it needs nothing */
  owes?: Readonly<Record<string, LogPlace>> | undefined;
}

/** The sequence after which the log must keep the changes, for each collection by its number. `keepers` are the texts of their records. */
function owedIn(
  keepers: readonly string[],
  collections: readonly { name: string; number: number }[],
): ReadonlyMap<number, number> {
  const all = keepers
    .map((text) => (JSON.parse(text) as LogKeeper).owes)
    .filter((owes) => owes !== undefined);
  return new Map(
    collections.flatMap(({ name, number }) => {
      const places = all
        .map((owes) => (Object.hasOwn(owes, name) ? owes[name] : owes[otherCollections]))
        .filter((place) => place !== undefined);
      return places.length === 0 ? [] : [[number, Math.min(...places.map(toNumber))] as const];
    }),
  );
}

/** A change in a log, with the bytes of its superseded text. */
export interface ChangeSize {
  sequence: number;
  at: number;
  bytes: number;
}

type NamedLog = Pick<NumberedCollection, "number" | "name">;

/** The number of a collection, with the sequence of its last change. */
export interface NumberedHead {
  number: number;
  sequence: number;
}

/** Which changes the log of a collection can lack, as its head says. Each number is a sequence; 0 if it lacks none for this reason. */
export interface LogGaps {
  /** It can lack changes up to here, because a resource was erased or history was off. */
  gapsUpTo: number;
  /** The last change that was made without history. Until here, the log can lack changes of any resource. */
  unloggedUpTo: number;
  /** The last of the oldest changes that were removed because they are no longer kept. */
  trimmedUpTo: number;
}

/** The sequence up to which a log can lack changes. A later change that is missing is damage. */
export function lackingUpTo({ gapsUpTo, trimmedUpTo }: Pick<LogGaps, "gapsUpTo" | "trimmedUpTo">): number {
  return Math.max(gapsUpTo, trimmedUpTo);
}

/** The counters of a collection. */
export interface CollectionCounts extends LogGaps {
  /** The number of its changes so far. */
  sequence: number;
  /** The number of its resources. */
  count: number;
  /** The sum of their checksums, modulo 2^32. */
  checksums: number;
}

/** The change logs of a store. Each belongs to a collection, which has a number. */
export class LogPlans {
  readonly #dialect: Dialect;
  readonly #sql: ReturnType<typeof makeTexts>;
  readonly #logs = new Map<number, ReturnType<typeof makeTextsOfLog>>();

  /** The condition `isServed` holds if the store has collections for a service. */
  constructor(dialect: Dialect, isServed: string) {
    this.#dialect = dialect;
    this.#sql = makeTexts(dialect, isServed);
  }

  /** The head of each collection, in the order of their numbers. */
  heads(): Plan<NumberedHead[]> {
    return this.#sql.heads();
  }

  /** The names of all collections. */
  names(): Plan<string[]> {
    return this.#sql.names();
  }

  /** The number of resources in a collection. */
  countOf(number: number): Plan<number> {
    return this.#sql.countOf(number);
  }

  /** The counters of a collection. */
  counts(number: number): Plan<CollectionCounts> {
    return this.#sql.counts(number);
  }

  /** Changes after a sequence, in order. */
  after(number: number, sequence: number, limit: number): Plan<ChangeSize[]> {
    return this.#logOf(number).after(sequence, limit);
  }

  /** Removes the changes up to a sequence, and notes it. Needs a transaction. */
  *trim(number: number, upTo: number): Plan<void> {
    yield* this.#logOf(number).remove(upTo);
    yield* this.#sql.noteTrimmed(number, upTo);
  }

  /** The sequence after which each log, by its number, owes changes to consumers. */
  *owed(): Plan<ReadonlyMap<number, number>> {
    const collections = yield* this.#sql.collections();
    const keepers = collections.find(({ name }) => name === logKeepers);
    if (keepers === undefined) return new Map();
    return owedIn(yield* this.#logOf(keepers.number).resources(), collections);
  }

  /** Removes all changes of a resource. Returns their number. */
  *erase(number: number, id: string): Plan<number> {
    const log = this.#logOf(number);
    const count = yield* log.countOf(id);
    if (count > 0) yield* log.removeOf(id);
    return count;
  }

  /** Gives a deleted id another name in the table of deleted ids. Returns whether the table had it. */
  *renameDeleted({ number, name: collection }: NamedLog, id: string, name: string): Plan<boolean> {
    const log = this.#logOf(number);
    const version = yield* log.forgetDeleted(id);
    if (version === 0) return false;
    yield* log.noteDeleted(name, version, checksumOfDeleted(collection, { id: name, version }));
    return true;
  }

  /** The version of the last delete of an id, even if it was erased; 0 without one. Throws DATA_DAMAGED. */
  *lastDeleted({ number, name }: NamedLog, id: string): Plan<number> {
    const deletes = yield* this.#logOf(number).lastDeleted(id, erasedName(id));
    return Math.max(0, ...deletes.map((row) => intactDeleted(name, row).version));
  }

  #logOf(number: number) {
    const known = this.#logs.get(number) ?? makeTextsOfLog(this.#dialect, number);
    this.#logs.set(number, known);
    return known;
  }
}

/**
 * The name of an erased id in the table of deleted ids. No id has this form. A delete leaves a row there with the id and its last
 * version, and this row stays. If the id is used again, its versions continue after that one, so no `ETag` ever names two texts. An
 * erasure replaces the id by a hash.
 */
export function erasedName(id: string): string {
  return `#${hash("sha256", id, "base64url")}`;
}

function makeTexts({ tablePrefix }: Dialect, isServed: string) {
  const head = select({ number: "int", sequence: "int" }, "number", "sequence");
  const collection = select({ number: "int", name: "text" }, "number", "name");
  return {
    heads: query<[], NumberedHead[]>(
      `select ${head.sql} from ${tablePrefix}heads order by number`,
      allOf(head),
    ),
    names: query<[], string[]>(`select name from ${tablePrefix}collections where ${isServed}`, textsOf),
    countOf: query<[number], number>(
      `select count from ${tablePrefix}heads where number = $1::integer`,
      numberOf,
    ),
    counts: query<[number], CollectionCounts>(
      `select sequence, count, checksums & 4294967295, gaps_up_to, unlogged_up_to, trimmed_up_to
        from ${tablePrefix}heads where number = $1::bigint`,
      ([row = []]) => {
        const [sequence = 0, count = 0, checksums = 0, gapsUpTo = 0, unloggedUpTo = 0, trimmedUpTo = 0] =
          row.map(Number);
        return { sequence, count, checksums: checksums | 0, gapsUpTo, unloggedUpTo, trimmedUpTo };
      },
    ),
    noteTrimmed: command<[number, number]>(
      `update ${tablePrefix}heads set trimmed_up_to = $2::bigint where number = $1::bigint and trimmed_up_to < $2::bigint`,
    ),
    collections: query<[], { number: number; name: string }[]>(
      `select ${collection.sql} from ${tablePrefix}collections`,
      allOf(collection),
    ),
  };
}

function makeTextsOfLog({ tablePrefix, doc }: Dialect, number: number) {
  const changes = `${tablePrefix}changes_${number}`;
  const deleted = `${tablePrefix}deleted_${number}`;
  const size = select({ sequence: "int", at: "int", bytes: "int" }, "sequence", "at", "bytes");
  const lastDelete = select(deletedColumns, "id", "version", "checksum");
  return {
    after: query<[number, number], ChangeSize[]>(
      `select sequence, at, coalesce(octet_length(superseded), 0) as bytes from ${changes}
        where sequence > $1::bigint order by sequence limit $2::bigint`,
      allOf(size),
    ),
    remove: command<[number]>(`delete from ${changes} where sequence <= $1::bigint`),
    countOf: query<[string], number>(`select count(*) from ${changes} where id = $1::text`, numberOf),
    removeOf: command<[string]>(`delete from ${changes} where id = $1::text`),
    forgetDeleted: query<[string], number>(
      `delete from ${deleted} where id = $1::text returning version`,
      numberOf,
    ),
    lastDeleted: query<[string, string], RowOf<typeof deletedColumns>[]>(
      `select ${lastDelete.sql} from ${deleted} where id in ($1::text, $2::text)`,
      allOf(lastDelete),
    ),
    noteDeleted: command<[string, number, number]>(
      `insert into ${deleted} (id, version, checksum) values ($1::text, $2::bigint, $3::integer) ${replaceDeleted(deleted)}`,
    ),
    resources: query<[], string[]>(`select ${doc} from ${tablePrefix}resources_${number}`, textsOf),
  };
}

/** The limits of one step. A step can always remove one change, even a larger one. */
export interface StepLimits {
  changes: number;
  bytes: number;
}

const dayMs = 86_400_000;

/** The changes of a log to remove: all up to a sequence. */
interface DueChanges {
  number: number;
  upTo: number;
}

/** What a step has found, and whether there can be more. */
interface RetentionStep {
  due?: DueChanges;
  isMore: boolean;
}

/** Removes old changes from the logs of one store. */
export class Retention {
  readonly #logs: LogPlans;
  readonly #keepDays: number;
  readonly #keepChanges: number;
  readonly #keepBytes: number;
  readonly #step: StepLimits;
  readonly #sizes = new Map<number, LogSize>();
  /** The number of the collection that the next step begins with. */
  #next = 0;

  constructor(logs: LogPlans, history: History, step: StepLimits) {
    this.#logs = logs;
    const { keepDays, keepChanges, keepBytes = Number.POSITIVE_INFINITY } = limitsOf(history);
    this.#keepDays = keepDays;
    this.#keepChanges = keepChanges;
    this.#keepBytes = keepBytes;
    this.#step = step;
  }

  /** Looks for the next changes to remove. It needs no transaction, because all instances remove changes only at the beginning of a log. */
  *step(now: number): Plan<RetentionStep> {
    if (this.#keepDays === Number.POSITIVE_INFINITY && !this.#isMeasured) return { isMore: false };
    let left = this.#step.changes;
    for (const head of yield* this.#logs.heads()) {
      if (head.number < this.#next) continue;
      this.#next = head.number;
      left -= yield* this.#measure(head, left);
      if (left <= 0) return { isMore: true };
      const upTo = yield* this.#outdated(head, now);
      if (upTo !== undefined) return { isMore: true, due: { number: head.number, upTo } };
    }
    this.#next = 0;
    return { isMore: false };
  }

  /** Removes the changes that a step has found, in a transaction. */
  *remove({ number, upTo }: DueChanges): Plan<void> {
    yield* this.#logs.trim(number, upTo);
    this.#sizes.get(number)?.removeUpTo(upTo);
  }

  get #isMeasured(): boolean {
    return this.#keepBytes !== Number.POSITIVE_INFINITY;
  }

  /** Adds new changes to the size of their log. Returns how many they are. */
  *#measure({ number, sequence }: NumberedHead, limit: number): Plan<number> {
    if (!this.#isMeasured) return 0;
    const size = this.#sizes.get(number) ?? new LogSize(this.#keepBytes);
    this.#sizes.set(number, size);
    if (size.measuredTo >= sequence) return 0;
    const rows = yield* this.#logs.after(number, size.measuredTo, limit);
    for (const row of rows) size.add(row);
    return rows.length;
  }

  /** The sequence up to which this step removes changes. `undefined` if none is outdated. */
  *#outdated({ number, sequence }: NumberedHead, now: number): Plan<number | undefined> {
    const oldestTime = now - this.#keepDays * dayMs;
    const excess = this.#sizes.get(number)?.excess ?? 0;
    if (Math.max(sequence - this.#keepChanges, excess) <= 0) return undefined;
    const isOutdated = (row: ChangeSize) =>
      row.sequence <= excess || (row.at < oldestTime && row.sequence <= sequence - this.#keepChanges);
    const oldest = (limit: number) => this.#logs.after(number, 0, limit);
    if (!(yield* oldest(1)).every(isOutdated)) return undefined;
    const owed = (yield* this.#logs.owed()).get(number) ?? Number.POSITIVE_INFINITY;
    const isOwed = (row: ChangeSize) =>
      row.sequence > owed && row.sequence > excess && row.at >= now - maxOwedMs;
    let last: number | undefined;
    let bytes = 0;
    for (const row of yield* oldest(this.#step.changes)) {
      if (!isOutdated(row) || isOwed(row) || bytes > this.#step.bytes) break;
      last = row.sequence;
      bytes += row.bytes;
    }
    return last;
  }
}

function limitsOf(history: History): Exclude<History, string> {
  if (history === "forever") return { keepDays: Number.POSITIVE_INFINITY, keepChanges: 0 };
  if (history === "none") return { keepDays: Number.NEGATIVE_INFINITY, keepChanges: 0 };
  return history;
}

/** The number of blocks in which a full log is measured. A block is kept or removed as a whole. */
const blocksOfLog = 64;

/** The size of one log. Every instance removes changes only at the beginning of a log. */
class LogSize {
  readonly #keepBytes: number;
  readonly #blocks: { upTo: number; bytes: number }[] = [];
  #bytes = 0;
  /** The sequence of the last change that is measured. */
  measuredTo = 0;
  /** The sequence of the last change that exceeds `keepBytes`. */
  excess = 0;

  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
  }

  add({ sequence, bytes: bytesOfText }: ChangeSize): void {
    const bytes = bytesOfText + bytesOfChange;
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.bytes + bytes <= this.#keepBytes / blocksOfLog) {
      last.bytes += bytes;
      last.upTo = sequence;
    } else this.#blocks.push({ upTo: sequence, bytes });
    this.#bytes += bytes;
    this.measuredTo = sequence;
    while (this.#bytes > this.#keepBytes) this.excess = this.#removeFirstBlock();
  }

  /** Removes the changes up to a sequence from the size, because the log no longer contains them. */
  removeUpTo(sequence: number): void {
    while ((this.#blocks[0]?.upTo ?? Number.POSITIVE_INFINITY) <= sequence) this.#removeFirstBlock();
  }

  /** Removes the oldest block from the size. Returns its last sequence. */
  #removeFirstBlock(): number {
    const { upTo = 0, bytes = 0 } = this.#blocks.shift() ?? {};
    this.#bytes -= bytes;
    return upTo;
  }
}
