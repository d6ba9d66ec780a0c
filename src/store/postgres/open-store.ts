/** Opens a PostgreSQL database: as a store, for reading only, or for its API keys. */

import { Problem, StartError } from "../../errors.ts";
import { Damage } from "../core/checksums.ts";
import { hadEver, ignoreBegin, scannedIn } from "../core/driver.ts";
import { StoredKeys } from "../core/key-plans.ts";
import { slowPlaces } from "../core/slow-reads.ts";
import { walkAtOnce } from "../core/walk.ts";
import type { OpenKeys } from "../port/keys.ts";
import { type ResolvedStoreOptions, resolveOptions } from "../port/options.ts";
import type { StoreReader } from "../port/store.ts";
import {
  Connections,
  connectTimeoutMs,
  ignore,
  openCommandConnections,
  probe,
  runPlan,
  type Statement,
  withStartErrors,
} from "./connection/connections.ts";
import { describeError, retryOnce } from "./connection/failures.ts";
import { walkedDatabase } from "./copy/database-contents.ts";
import { storePlans } from "./postgres-dialect.ts";
import { PostgresDriver } from "./postgres-driver.ts";
import { Scans } from "./read/reads.ts";
import { Catalogue, catalogueSql, toCollection } from "./tables/declared-catalogue.ts";
import { prepareDatabase } from "./tables/prepare.ts";

/** The limits of connections: for reads and commits, for slow lists, and for work without a timeout. */
const maxConnections = { main: 10, slow: slowPlaces, long: 6 };

/**
 * Opens the store in the database at `url`, and creates it if it does not exist. If the database is unreachable and
 * `mayWait` is set, this happens later. Throws StartError.
 */
export async function openPostgresStore(url: string, options: ResolvedStoreOptions): Promise<PostgresDriver> {
  const shared = { url, connectTimeoutMs: options.connectMs, onIdleError: ignore };
  const main = { max: maxConnections.main, responseTimeoutMs: options.responseMs };
  const connections = new Connections({ ...shared, ...main });
  const slow = new Connections({ ...shared, max: maxConnections.slow, connectTimeoutMs: options.queryMs });
  const long = new Connections({ ...shared, max: maxConnections.long, probe: () => connections.run(probe) });
  const maxBatchSize = options.groupCommit ? 1_000 : 1;
  const damage = new Damage(options.attachment as Int32Array | undefined);
  const store = new PostgresDriver({ ...options, connections, slow, long, maxBatchSize, damage });
  try {
    await withStartErrors(store.reach());
    return store;
  } catch (error) {
    if (error instanceof Problem && options.mayWait) return store;
    await store.close();
    throw error instanceof Problem
      ? new StartError(`${error.message} (${describeError(error.cause)})`)
      : error;
  }
}

/** Opens the store in the database at `url` for reading, even if a service uses it. Throws StartError. */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const { connections, close } = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(connections));
    const { rows } = await withStartErrors(connections.run({ sql: catalogueSql }));
    let known: Catalogue | undefined;
    /** Read late, so that a damaged declaration does not end a check of the other data. */
    const catalogue = () => {
      known ??= new Catalogue(rows.map(toCollection));
      return known.byName;
    };
    const selectCounts = { sql: "select number, count from holdfast_heads" };
    const counted = await withStartErrors(connections.run(selectCounts));
    const counts = new Map(counted.rows.map(([number, count]) => [Number(number), Number(count)]));
    const scans = new Scans(connections);
    async function* scanEach(...[names, begin]: Parameters<StoreReader["scanEach"]>) {
      const known = names.map((name) => catalogue().get(name));
      yield* scans.scanEach(scannedIn(known, begin));
    }
    return {
      collections: catalogue,
      count: (name) => counts.get(catalogue().get(name)?.number ?? 0) ?? 0,
      scan: (name) => scanEach([name], ignoreBegin),
      scanEach,
      findDamage: (report) =>
        withStartErrors(walkAtOnce(walkedDatabase(connections, { isThorough: true }), report)),
      async close() {
        scans.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens the API keys in the database at `url`, and creates the tables of the store if they do not exist. Throws
 * StartError.
 */
export async function openPostgresKeys(url: string): Promise<OpenKeys> {
  const connections = new Connections({
    url,
    connectTimeoutMs,
    max: 1,
    responseTimeoutMs: resolveOptions({}).responseMs,
    onIdleError: ignore,
  });
  const run = (statement: Statement) => withStartErrors(connections.run(statement));
  const keys = new StoredKeys(storePlans.keys, {
    read: (plan) => runPlan(plan, (statement) => retryOnce(() => run(statement))),
    write: (change) => runPlan(storePlans.keys.change(change), run),
  });
  try {
    await withStartErrors(prepareDatabase(connections));
  } catch (error) {
    await connections.close();
    throw error;
  }
  return Object.assign(keys, {
    hadEver: (...key: [string, string]) => runPlan(hadEver(storePlans, ...key), run),
    close: () => connections.close(),
  });
}
