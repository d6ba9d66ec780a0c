/** Reads and shortens the change logs of all collections, to remove old changes. */
import type { LogHead } from "../port/change-log.ts";
import type { Dialect } from "../sql/dialect.ts";
import { type Plan, together } from "../sql/plans.ts";
import { allOf, command, numberOf, query, select, textsOf } from "../sql/table.ts";
import { owedIn, statesOfWebhooks } from "./owed.ts";

/** A change in a log, with the bytes of its superseded text. */
export interface ChangeSize {
  sequence: number;
  at: number;
  bytes: number;
}

/** The number of a collection, with the sequence of its last change. */
export interface NumberedHead {
  number: number;
  sequence: number;
}

/** The counters of a collection. */
export interface CollectionCounts extends LogHead {
  /** The number of its resources. */
  count: number;
  /** The sum of their checksums, modulo 2^32. */
  checksums: number;
}

/** How many logs are read together. More would wait too long for a connection. */
const logsAtOnce = 100;

/** The change logs of a store. Each belongs to a collection, which has a number. */
export class LogPlans {
  readonly #dialect: Dialect;
  readonly #sql: ReturnType<typeof makeTexts>;
  readonly #logs = new Map<number, ReturnType<typeof makeTextsOfLog>>();

  /** The condition `isServed` holds if the store has collections for a service. */
  constructor(dialect: Dialect, isServed = "true") {
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
  *counts(number: number): Plan<CollectionCounts> {
    const [counts, gapsUpTo] = yield* together(this.#sql.counts(number), this.gapsUpTo(number));
    return { ...counts, gapsUpTo };
  }

  /** Changes after a sequence, in order. */
  after(number: number, sequence: number, limit: number): Plan<ChangeSize[]> {
    return this.#logOf(number).after(sequence, limit);
  }

  /** Removes the changes up to a sequence. */
  remove(number: number, upTo: number): Plan<void> {
    return this.#logOf(number).remove(upTo);
  }

  /** The sequence after which each log, by its number, owes changes to webhooks (`owed.ts`). */
  *owed(): Plan<ReadonlyMap<number, number>> {
    const collections = yield* this.#sql.collections();
    const states = collections.find(({ name }) => name === statesOfWebhooks);
    if (states === undefined) return new Map();
    return owedIn(yield* this.#logOf(states.number).resources(), collections);
  }

  /** Removes all changes of a resource. Returns their number. */
  *erase(number: number, id: string): Plan<number> {
    const log = this.#logOf(number);
    const count = yield* log.countOf(id);
    if (count > 0) yield* log.removeOf(id);
    return count;
  }

  /** Gives a deleted id another name in the table of deleted ids. Returns whether the table had it. */
  *renameDeleted(number: number, id: string, name: string): Plan<boolean> {
    const log = this.#logOf(number);
    const version = yield* log.forgetDeleted(id);
    if (version === 0) return false;
    yield* log.noteDeleted(name, version);
    return true;
  }

  /** Up to which sequence the log of a collection can lack changes; 0 if nothing was noted. */
  gapsUpTo(number: number): Plan<number> {
    return this.#sql.gapsUpTo(nameOfGaps(number));
  }

  /** Notes that the log of a collection can lack changes up to a sequence, unless a later one is noted. */
  noteGaps(number: number, sequence: number): Plan<void> {
    return this.#sql.noteGaps(nameOfGaps(number), sequence);
  }

  /** Notes gaps in the logs that lack their last change: history was off when it was made. */
  *noteGapsAtEnd(): Plan<void> {
    const heads = (yield* this.heads()).filter(({ sequence }) => sequence > 0);
    for (let from = 0; from < heads.length; from += logsAtOnce) {
      const some = heads.slice(from, from + logsAtOnce);
      const last = yield* together(
        ...some.map(({ number, sequence }) => this.after(number, sequence - 1, 1)),
      );
      for (const [n, { number, sequence }] of some.entries())
        if (last[n]?.length === 0) yield* this.noteGaps(number, sequence);
    }
  }

  #logOf(number: number) {
    const known = this.#logs.get(number) ?? makeTextsOfLog(this.#dialect, number);
    this.#logs.set(number, known);
    return known;
  }
}

function nameOfGaps(number: number): string {
  return `gaps_${number}`;
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
    counts: query<[number], Omit<CollectionCounts, "gapsUpTo">>(
      `select sequence, count, checksums & 4294967295 from ${tablePrefix}heads where number = $1::bigint`,
      ([row = []]) => {
        const [sequence = 0, count = 0, checksums = 0] = row.map(Number);
        return { sequence, count, checksums: checksums | 0 };
      },
    ),
    gapsUpTo: query<[string], number>(`select value from ${tablePrefix}meta where name = $1::text`, numberOf),
    noteGaps: command<[string, number]>(
      `insert into ${tablePrefix}meta (name, value) values ($1::text, $2::bigint) on conflict (name) do update
        set value = case when excluded.value > ${tablePrefix}meta.value then excluded.value else ${tablePrefix}meta.value end`,
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
    noteDeleted: command<[string, number]>(
      `insert into ${deleted} (id, version) values ($1::text, $2::bigint) on conflict (id) do update
        set version = case when excluded.version > ${deleted}.version then excluded.version else ${deleted}.version end`,
    ),
    resources: query<[], string[]>(`select ${doc} from ${tablePrefix}resources_${number}`, textsOf),
  };
}
