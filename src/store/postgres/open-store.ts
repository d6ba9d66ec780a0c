/** Opens what a PostgreSQL database holds: as a store, for reading alone, or its API keys. */
import { Problem, StartError } from "../../errors.ts";
import type { OpenKeys } from "../keys.ts";
import type { ResolvedStoreOptions } from "../options.ts";
import type { StoreReader } from "../reader.ts";
import { PostgresKeys } from "./api-keys.ts";
import { answerMs, beginVisit, inWords, quiet, waitMs } from "./connection/command-connections.ts";
import { Connections } from "./connection/connections.ts";
import { describeError } from "./connection/failures.ts";
import { Scans } from "./read/scans.ts";
import { probe, selectCounts } from "./statements.ts";
import { PostgresStore } from "./store.ts";
import { Catalogue, catalogueSql, toCollection } from "./tables/catalogue.ts";
import { prepareDatabase } from "./tables/prepare.ts";

/** How many connections there may be: for reads and commits, for slow lists, and for what stays open. */
const most = { connections: 10, slow: 3, long: 6 };

/** Opens the store that the database at `url` holds, or makes one there; now, or when it can be reached. Throws StartError. */
export async function openPostgresStore(url: string, options: ResolvedStoreOptions): Promise<PostgresStore> {
  const shared = { url, waitMs, onIdleError: quiet };
  const connections = new Connections({ ...shared, max: most.connections, answerMs });
  const slow = new Connections({ ...shared, max: most.slow, waitMs: options.queryMs });
  const long = new Connections({ ...shared, max: most.long, probe: () => connections.run(probe) });
  const store = new PostgresStore({ ...options, connections, slow, long });
  try {
    await inWords(store.reach());
    return store;
  } catch (error) {
    if (error instanceof Problem && options.mayWait) return store;
    await store.close();
    throw error instanceof Problem
      ? new StartError(`${error.message} (${describeError(error.cause)})`)
      : error;
  }
}

/** Opens the store that the database at `url` holds for reading, whether or not it is served. Throws StartError. */
export async function openPostgresReader(url: string): Promise<StoreReader> {
  const { connections, close } = beginVisit(url);
  try {
    await inWords(prepareDatabase(connections));
    const { rows } = await inWords(connections.run({ sql: catalogueSql }));
    const { byName } = new Catalogue(rows.map(toCollection));
    const counted = await inWords(connections.run(selectCounts));
    const counts = new Map(counted.rows.map(([number, count]) => [Number(number), Number(count)]));
    const keys = await new PostgresKeys((statement) => connections.run(statement)).all();
    const scans = new Scans(connections);
    return {
      collections: () => byName,
      count: (name) => counts.get(byName.get(name)?.number ?? 0) ?? 0,
      async *scan(name) {
        const collection = byName.get(name);
        if (collection !== undefined) yield* scans.scan(collection);
      },
      keys: () => keys,
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

/** Opens the API keys that the database at `url` holds, and makes the tables where there are none. Throws StartError. */
export async function openPostgresKeys(url: string): Promise<OpenKeys> {
  const connections = new Connections({ url, waitMs, max: 1, answerMs, onIdleError: quiet });
  const keys = new PostgresKeys((statement) => inWords(connections.run(statement)));
  try {
    await inWords(prepareDatabase(connections));
  } catch (error) {
    await connections.close();
    throw error;
  }
  return Object.assign(keys, { close: () => connections.close() });
}
