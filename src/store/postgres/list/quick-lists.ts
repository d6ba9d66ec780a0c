/** Lists that cost no more than their page. Similar lists share a statement, and hot pages are not read again. */
import { LRUCache } from "lru-cache";
import { HotPages } from "../../core/hot-pages.ts";
import type { ParameterType } from "../../core/list-sql.ts";
import { isKeepable, isNarrowed, type PageQuery } from "../../core/related.ts";
import { Batch, type Outcome } from "../../port/batch.ts";
import { toPlace } from "../../port/log-place.ts";
import { maxPageBytes, type Page } from "../../port/page.ts";
import { integers } from "../connection/arrays.ts";
import type { Connections, Row, Statement } from "../connection/connections.ts";
import { toStored } from "../read/reads.ts";
import { type NumberedCollection, requireDeclared } from "../tables/declared-catalogue.ts";
import { type ReadPage, resourcesSql, selectPage, stateSql, toPage } from "./page-statements.ts";
import { scopeOf } from "./postgres-lists.ts";

/** How many statements read head rows at the same time. Requests that arrive in the meantime share the next one. */
const maxHeadStatements = 2;

function selectStates(numbers: readonly number[]) {
  return {
    sql: `select head.number, ${stateSql} from holdfast_heads as head where head.number = any($1::integer[])`,
    values: [integers(numbers)],
    isRepeated: true,
  };
}

/** A list without words. Lists with the same `form` can share a statement. */
export interface FormedList {
  collection: NumberedCollection;
  query: PageQuery;
  /** The SQL of the resources of the page. It contains the columns of `asked` instead of values. */
  form: string;
  types: readonly ParameterType[];
  values: readonly unknown[];
}

/** How many resources one statement looks for, unless a single list looks for more. */
const maxResources = 400;

/** Text that one statement reads, in bytes. */
const maxBytes = 4 * maxPageBytes;

/** The list with its form. */
export function formOf(collection: NumberedCollection, query: PageQuery): FormedList {
  const types: ParameterType[] = [];
  const scope = scopeOf(collection, undefined, (place, type) => {
    types.push(type);
    return `asked.value_${place}::${type}`;
  });
  return { collection, query, form: resourcesSql(query, scope), types, values: scope.values };
}

/** How many lists of this form can share a statement. */
function mostTogether({ query }: FormedList): number {
  return Math.max(1, Math.floor(maxResources / (query.limit + 1)));
}

/** The largest text of a resource that the statement reads, in bytes. With such texts, every page is complete. */
function maxSize(lists: readonly FormedList[]): number {
  const limit = lists[0]?.query.limit ?? 0;
  return Math.floor(Math.min(maxPageBytes, maxBytes / lists.length) / (limit + 1));
}

/**
 * Reads the pages of lists of one form. The columns: the place of the list from 0; sequence, count and number of the
 * declaration from the head of the collection, and its state (`stateSql`); how many resources were found, and the size of
 * the largest; their versions, times, checksums and keys, and their texts, in lines.
 *
 * The values come from a function whose result has an unknown number of rows. So the database does not make a new plan
 * for each number of lists.
 */
export function selectTogether(lists: readonly FormedList[]): Statement {
  const [{ collection, form, types }] = lists as [FormedList];
  const columns = ["place integer", ...types.map((type, n) => `value_${n + 1} ${type}`)];
  const asked = lists.map(({ values }, place) => ({
    place,
    ...Object.fromEntries(values.map((value, n) => [`value_${n + 1}`, value])),
  }));
  return {
    sql: `with state as materialized (select head.sequence, head.count, head.declared, ${stateSql} as text
        from holdfast_heads as head where head.number = ${collection.number})
      select asked.place, state.*, page.*
      from state cross join json_to_recordset($1::json) as asked(${columns.join(", ")})
      cross join lateral (
        select count(*), max(size), string_agg(concat(version, ' ', updated_at, ' ', checksum, ' ', key), E'\\n'),
          string_agg(doc::text, E'\\n') filter (where size <= $2::bigint)
        from (${form}) as found) as page`,
    values: [JSON.stringify(asked), maxSize(lists)],
    isRepeated: true,
  };
}

/**
 * The pages of the lists, in their order; `apart` for a page that only a statement of its own can read, because its texts
 * are large or contain line breaks. Throws Redeclared.
 */
function toPages(lists: readonly FormedList[], rows: readonly Row[]): readonly (ReadPage | "apart")[] {
  const byPlace = new Map(rows.map(([place, ...row]) => [Number(place), row]));
  const size = maxSize(lists);
  return lists.map((list, place) => toOwnPage(list, byPlace.get(place) ?? [], size));
}

function toOwnPage(
  { collection, query }: FormedList,
  [sequence, count, declared, state = null, found, largest, heads, texts]: Row,
  size: number,
): ReadPage | "apart" {
  requireDeclared(collection, declared);
  const lines = { heads: linesOf(heads), texts: linesOf(texts) };
  const isComplete = Number(largest) <= size && lines.texts.length === Number(found);
  if (!isComplete || lines.heads.length !== Number(found)) return "apart";
  const items = lines.heads
    .slice(0, query.limit)
    .map((head, n) => toStored(collection, rowOf(head, lines.texts[n] ?? null)));
  const more = Number(found) > query.limit;
  const total = isNarrowed(query) ? undefined : Number(count);
  return { page: { items, more, total, sequence: toPlace(Number(sequence)) }, state };
}

function linesOf(text: string | null | undefined): readonly string[] {
  return text === null || text === undefined ? [] : text.split("\n");
}

/** The row of a resource, in the order that `toStored` reads. A key can contain spaces. */
function rowOf(head: string, text: string | null): Row {
  const [version = "", at = "", checksum = ""] = head.split(" ", 3);
  const key = head.slice(version.length + at.length + checksum.length + 3);
  return [key, version, at, text, checksum];
}

/** What a read sends: a list that others of its form join, or a statement of its own. */
type Sent = { list: FormedList } | { statement: Statement };

/** A read in the queue. Equal reads have equal keys. */
type QueuedRead = Sent & { key: string };

type Rows = readonly Row[];

/** The rows of a statement, or the page of a list that was read with others. */
type Answer = Rows | ReadPage | "apart";

/** How many statements run at the same time. Lists that arrive in the meantime share the next ones. */
const maxStatements = 4;

/** After a page with large texts, this many lists of its form have statements of their own. */
const readsApart = 100;

/** How many forms with large texts are remembered. */
const maxForms = 256;

/** The quick lists of one store. */
export class QuickLists {
  readonly #connections: Connections;
  readonly #pages = new HotPages<string>({ keepsFirst: false });
  /** The states of collections by their numbers. Other services write to the same database, so each request reads the state. */
  readonly #states: Batch<number, string | undefined>;
  readonly #queue: Batch<QueuedRead, Answer>;
  /** The reads that have not been sent, by key. */
  readonly #waiting = new Map<string, Promise<unknown>>();
  /** How many of the next lists of a form have statements of their own. */
  readonly #apart = new LRUCache<string, number>({ max: maxForms });

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#states = new Batch({
      async perform(numbers: readonly number[]) {
        const { rows } = await connections.run(selectStates([...new Set(numbers)]));
        const states = new Map(rows.map(([number, state]) => [Number(number), state ?? undefined]));
        return numbers.map((number) => ({ answer: states.get(number) }));
      },
      maxConcurrent: maxHeadStatements,
    });
    this.#queue = new Batch({
      perform: (reads) => this.#perform(reads),
      kindOf: (read) => ("list" in read ? read.list.form : read.key),
      maxBatchSize: (first) => ("list" in first ? mostTogether(first.list) : 1),
      maxConcurrent: maxStatements,
    });
  }

  /** Reads a page. Throws Redeclared. */
  async page(collection: NumberedCollection, query: PageQuery): Promise<Page> {
    if (!isKeepable(query)) {
      const rows = await this.#queue.run({ key: "", statement: selectPage(collection, query) });
      return toPage(collection, query, rows as Rows).page;
    }
    const { number, declared } = collection;
    const key = `${number} ${declared} ${JSON.stringify(query)}`;
    const hot = this.#pages.find(key);
    if (hot !== undefined && hot.state === (await this.#states.run(number))) return hot.page;
    const send = () => this.#sendingOf(collection, query);
    const read = await this.#share(key, send, (answer) => {
      const page = Array.isArray(answer)
        ? toPage(collection, query, answer)
        : (answer as Exclude<Answer, Rows>);
      if (page !== "apart" && page.state !== null) this.#pages.note(key, { ...page, state: page.state });
      return page;
    });
    return read === "apart" ? this.page(collection, query) : read.page;
  }

  /** The rows of a statement. */
  rows(statement: Statement): Promise<Rows> {
    const key = JSON.stringify([statement.sql, statement.values]);
    const send = () => ({ statement });
    return this.#share(key, send, (answer) => answer as Rows);
  }

  #sendingOf(collection: NumberedCollection, query: PageQuery): Sent {
    const list = formOf(collection, query);
    const left = this.#apart.get(list.form) ?? 0;
    if (left === 0) return { list };
    this.#apart.set(list.form, left - 1);
    return { statement: selectPage(collection, query) };
  }

  /**
   * Equal reads that wait at the same time share one statement and its result. It is sent after all of them were
   * requested, so each gets a current page.
   */
  #share<T>(key: string, send: () => Sent, toResult: (answer: Answer) => T): Promise<T> {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting as Promise<T>;
    const running = this.#queue.run({ ...send(), key }).then(toResult);
    this.#waiting.set(key, running);
    running.catch(() => {
      if (this.#waiting.get(key) === running) this.#waiting.delete(key); // it was never sent
    });
    return running;
  }

  /** Reads lists of one form, or the rows of one statement. */
  async #perform(reads: readonly QueuedRead[]): Promise<Outcome<Answer>[]> {
    for (const { key } of reads) this.#waiting.delete(key);
    const lists = reads.flatMap((read) => ("list" in read ? [read.list] : []));
    const [first] = reads as [QueuedRead];
    const statement = "statement" in first ? first.statement : selectTogether(lists);
    const { rows } = await this.#connections.run({ ...statement, isRepeated: true });
    if ("statement" in first) return [{ answer: rows }];
    return toPages(lists, rows).map((answer) => {
      if (answer === "apart") this.#apart.set(first.list.form, readsApart);
      return { answer };
    });
  }
}
