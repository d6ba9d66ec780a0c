/** Reads pages of lists. Each page needs one statement, which has a deadline. */
import { isQuick } from "../../core/access-path.ts";
import { listTooExpensive } from "../../core/advice.ts";
import { builtIndexes } from "../../core/catalogue.ts";
import { pageOfDeleted } from "../../core/deleted-page.ts";
import type { AskClient } from "../../core/driver.ts";
import { type FiguresOf, figuresTooExpensive } from "../../core/figures.ts";
import { type PastQuery, pageAt } from "../../core/past-page.ts";
import { type GroupsQuery, isNarrowed, listLike, type PageQuery, queryInMemory } from "../../core/related.ts";
import { unfinished } from "../../core/slow-reads.ts";
import type { Figures, Page, ReferringGroups } from "../../port/page.ts";
import type { Plan } from "../../sql/plans.ts";
import { type Connections, runPlan } from "../connection/connections.ts";
import { isUndefinedTable } from "../connection/failures.ts";
import { askRows, storePlans } from "../postgres-dialect.ts";
import { type NumberedCollection, Redeclared } from "../tables/declared-catalogue.ts";
import { isQuickReferring, selectPage, selectReferring, toPage, toReferring } from "./page-statements.ts";
import { selectFigures, toFigures } from "./postgres-figures.ts";
import { QuickLists } from "./quick-lists.ts";
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
   * the reason of the client's signal, and an error for which `orRedeclared` returns.
   */
  async page(collection: NumberedCollection, query: PageQuery, client: AskClient): Promise<Page> {
    const { at, deleted } = query;
    if (deleted !== undefined) {
      const plan = () => pageOfDeleted({ ...queryInMemory(query), deleted }, readsOf(collection));
      const page = await this.#slow.inSnapshot((run) => runPlan(plan(), run), client?.());
      return this.#finished(page, collection, query);
    }
    if (at !== undefined) {
      const page = await this.#pageAt(collection, { ...queryInMemory(query), at }, client);
      return this.#finished(page, collection, query);
    }
    const isCounted = query.count === true && isNarrowed(query);
    if (isQuick(query, builtIndexes(collection)) && !isCounted) return this.#quick.page(collection, query);
    const rows = await this.#slow.rows(selectPage(collection, query), client?.());
    return toPage(collection, query, this.#finished(rows, collection, query)).page;
  }

  /** Reads the resources that refer to others. Throws as `page` does. */
  async referring(
    collection: NumberedCollection,
    query: GroupsQuery,
    client: AskClient,
  ): Promise<ReferringGroups> {
    const statement = selectReferring(collection, query);
    if (isQuickReferring(collection, query))
      return toReferring(collection, query, await this.#quick.rows(statement));
    const rows = await this.#slow.rows(statement, client?.());
    return toReferring(collection, query, this.#finished(rows, collection, listLike(query)));
  }

  /** Figures. Throws as `page` does. */
  async figures(collection: NumberedCollection, query: FiguresOf, client: AskClient): Promise<Figures> {
    const { columns, ...statement } = selectFigures(collection, query);
    const rows = await this.#slow.rows(statement, client?.());
    if (rows === unfinished) throw figuresTooExpensive(query, collection, this.#maxMs);
    return toFigures(collection, query, columns, rows);
  }

  /** Reads a page as of a time, in one snapshot. */
  #pageAt(
    collection: NumberedCollection,
    query: PastQuery,
    client: AskClient,
  ): Promise<Page | typeof unfinished> {
    return this.#slow.inSnapshot((run) => {
      function* current(each: PageQuery): Plan<Page> {
        return toPage(collection, each, yield* askRows([selectPage(collection, each)])).page;
      }
      return runPlan(pageAt(query, { ...readsOf(collection), current }), run);
    }, client?.());
  }

  /** Throws QUERY_TOO_EXPENSIVE. */
  #finished<T>(result: T | typeof unfinished, collection: NumberedCollection, query: PageQuery): T {
    if (result === unfinished) throw listTooExpensive(query, collection, this.#maxMs);
    return result;
  }
}

function readsOf(collection: NumberedCollection) {
  return {
    idKind: collection.idKind,
    history: storePlans.historyOf(collection),
    targetsOf: storePlans.targetsOf,
  };
}

/** Says that an error comes from a read with an old declaration. Throws any other error. */
export function orRedeclared(error: unknown): "redeclared" {
  if (error instanceof Redeclared || isUndefinedTable(error)) return "redeclared";
  throw error;
}
