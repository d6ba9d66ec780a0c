/** Reads pages of lists. Each page needs one statement, which has a deadline. */
import { isQuick, listTooExpensive } from "../../core/access-path.ts";
import { builtIndexes } from "../../core/catalogue.ts";
import type { PastQuery } from "../../core/changes-since.ts";
import { decideAsync } from "../../core/decision.ts";
import type { AskClient, Declared } from "../../core/driver.ts";
import { type FiguresOf, figuresTooExpensive } from "../../core/figures.ts";
import { pastLookups } from "../../core/history-plans.ts";
import { pageAt } from "../../core/past-page.ts";
import { type GroupsQuery, listLike, type PageQuery, pastQuery } from "../../core/related.ts";
import { unfinished } from "../../core/slow-reads.ts";
import type { Figures, Page, ReferringGroups } from "../../port/page.ts";
import type { Connections } from "../connection/connections.ts";
import { isUndefinedTable } from "../connection/failures.ts";
import { historyOf, runPlan } from "../postgres-dialect.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { selectFigures, toFigures } from "./figures.ts";
import { isNarrowed, selectPage, toPage, wordsIncomplete } from "./page.ts";
import { QuickLists } from "./quick-lists.ts";
import { isQuickReferring, selectReferring, toReferring } from "./referring.ts";
import { SlowStatements } from "./slow-statements.ts";

/** What lists depend on. */
export interface ListsOptions {
  /** Connections for lists that cost no more than their page. */
  quick: Connections;
  /** Connections for all other lists. */
  slow: Connections;
  /** How long a list can take, in milliseconds. */
  maxMs: number;
}

/** Reads lists. */
export class Lists {
  readonly #maxMs: number;
  readonly #slow: SlowStatements;
  readonly #quick: QuickLists;

  constructor({ quick, slow, maxMs }: ListsOptions) {
    this.#maxMs = maxMs;
    this.#slow = new SlowStatements(slow, maxMs);
    this.#quick = new QuickLists(quick);
  }

  /**
   * Reads a page. Throws QUERY_TOO_EXPENSIVE, UNAVAILABLE while the search words are incomplete or too many lists wait,
   * and the reason of the client's signal.
   */
  async page(collection: NumberedCollection, query: PageQuery, client: AskClient): Declared<Page> {
    if (query.words !== undefined && collection.search.length === 0) return "redeclared";
    const { at } = query;
    try {
      if (at !== undefined) {
        const page = await this.#pageAt(collection, pastQuery(query, at), client);
        return this.#finished(page, collection, query);
      }
    } catch (error) {
      if (error instanceof Redeclared) return "redeclared";
      throw error;
    }
    const isCounted = query.count === true && isNarrowed(query);
    if (isQuick(query, builtIndexes(collection)) && !isCounted) return this.#quick.page(collection, query);
    try {
      const rows = await this.#slow.rows(selectPage(collection, query), client?.());
      const read = toPage(collection, query, this.#finished(rows, collection, query));
      return read === "redeclared" ? read : read.page;
    } catch (error) {
      if (isUndefinedTable(error)) return "redeclared";
      throw error;
    }
  }

  /** Reads the resources that refer to others. Throws as `page` does. */
  async referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    client: AskClient,
  ): Declared<ReferringGroups> {
    const statement = selectReferring(collection, query);
    if (isQuickReferring(collection, query))
      return toReferring(collection, query, await this.#quick.rows(statement));
    const rows = await this.#slow.rows(statement, client?.());
    return toReferring(collection, query, this.#finished(rows, collection, listLike(query)));
  }

  /** Figures. Throws as `page` does. */
  async figures(collection: NumberedCollection, query: FiguresOf, client: AskClient): Declared<Figures> {
    if (query.words !== undefined && collection.search.length === 0) return "redeclared";
    const statement = selectFigures(collection, query);
    try {
      const rows = await this.#slow.rows(statement, client?.());
      if (rows === unfinished) throw figuresTooExpensive(query, collection.indexes, this.#maxMs);
      const result = toFigures(rows, statement, query);
      if (result === "words incomplete") throw wordsIncomplete();
      return result;
    } catch (error) {
      if (isUndefinedTable(error)) return "redeclared";
      throw error;
    }
  }

  /** Reads a page as of a time, in one snapshot. */
  #pageAt(
    collection: NumberedCollection,
    query: PastQuery,
    client: AskClient,
  ): Promise<Page | typeof unfinished> {
    return this.#slow.inSnapshot((run) => {
      const current = async (each: PageQuery) => {
        const { rows } = await run(selectPage(collection, each));
        const found = toPage(collection, each, rows);
        if (found === "redeclared") throw new Redeclared();
        return found.page;
      };
      const lookups = { ...pastLookups(historyOf(collection), (plan) => runPlan(plan, run)), current };
      return decideAsync(pageAt(query, collection.idKind), lookups);
    }, client?.());
  }

  /** Throws QUERY_TOO_EXPENSIVE. */
  #finished<T>(result: T | typeof unfinished, collection: NumberedCollection, query: PageQuery): T {
    if (result === unfinished) throw listTooExpensive(query, collection, this.#maxMs);
    return result;
  }
}

/** The declaration of the collection has changed since the catalogue was read. */
class Redeclared extends Error {}
