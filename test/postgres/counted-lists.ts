/** Lists of a store on a PostgreSQL database, with a count of their statements. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Index, readIndexes } from "../../src/collection/indexes.ts";
import type { PageQuery } from "../../src/store/core/related.ts";
import type { Page } from "../../src/store/port/page.ts";
import type { Store } from "../../src/store/port/store.ts";
import { Connections } from "../../src/store/postgres/connection/connections.ts";
import { Lists } from "../../src/store/postgres/list/lists.ts";
import {
  Catalogue,
  catalogueSql,
  type NumberedCollection,
  toCollection,
} from "../../src/store/postgres/tables/declared-catalogue.ts";
import { declaration } from "../store/contract/fixture.ts";
import { openPostgresFixture } from "../store/postgres-fixture.ts";
import { machineTime } from "../until.ts";

/** Lists of the collection `topics`. */
export interface CountedLists {
  store: Store;
  /** The address of the database. */
  url: string;
  topics: NumberedCollection;
  /** The connections of the lists. */
  quick: Connections;
  /** Writes a resource. */
  put(id: string, attributes?: Record<string, unknown>): Promise<void>;
  page(query: PageQuery): Promise<Page>;
  /** The ids on a page. */
  ids(query: PageQuery): Promise<readonly string[]>;
  /** The statements that the database has run since the last call: how many read pages, and how many only heads. */
  taken(): { pages: number; heads: number };
  /** A slow network: from now on, responses arrive only after this. */
  delay(arrival: Promise<void>): void;
}

/** Opens a store with the collection `topics`. `settings`: options of the database sessions. */
export async function openLists(
  t: TestContext,
  {
    settings = "",
    server,
    indexes = [["n"]],
    max = 4,
    dated = [],
  }: {
    settings?: string;
    server?: string;
    indexes?: string[][];
    dated?: readonly Index[];
    max?: number;
  } = {},
): Promise<CountedLists> {
  const { store, url, cleanup } = await openPostgresFixture({}, server);
  const own = new URL(url);
  if (settings !== "") own.searchParams.set("options", settings);
  const quick = new Connections({ url: own.href, max, connectTimeoutMs: 30_000, onIdleError: () => {} });
  t.after(async () => {
    await quick.close();
    await cleanup();
  });
  const declared = [...readIndexes(indexes, "indexes"), ...dated];
  await store.migrate([declaration("topics", { indexes: declared })]);
  const { rows } = await quick.run({ sql: catalogueSql });
  const topics = new Catalogue(rows.map(toCollection)).byName.get("topics");
  assert.ok(topics);
  let statements = { pages: 0, heads: 0 };
  let arrival: Promise<void> | undefined;
  const run = quick.run.bind(quick);
  quick.run = async (statement) => {
    const result = await run(statement);
    if (statement.sql.includes("updated_at")) statements.pages++;
    else statements.heads++;
    await arrival;
    return result;
  };
  const lists = new Lists({ quick, slow: quick, maxMs: 30_000 });
  const page = (query: PageQuery) => lists.page(topics, query, undefined);
  return {
    store,
    url,
    topics,
    quick,
    page,
    async put(id, attributes = {}) {
      const key = { collection: "topics", id };
      const { version } = (await store.read(key)) ?? {};
      const change = {
        key,
        expect: version ?? "absent",
        next: JSON.stringify({ id, ...attributes }),
      } as const;
      await store.commit({ changes: [change], at: machineTime() });
    },
    async ids(query) {
      return (await page(query)).items.map(({ id }) => id);
    },
    taken() {
      const { pages, heads } = statements;
      statements = { pages: 0, heads: 0 };
      return { pages, heads };
    },
    delay(until) {
      arrival = until;
    },
  };
}
