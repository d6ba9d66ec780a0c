/** The engine of stores in a PostgreSQL database. The driver is loaded when a database is first opened. */
import type { Engine } from "../core/driver.ts";
import { describeError } from "./connection/failures.ts";

const stores = () => import("./open-store.ts");

/** Opens PostgreSQL databases. Several processes can open a database for writing. */
export const postgresEngine: Engine<{ url: string }> = {
  open: async ({ url }, options) => (await stores()).openPostgresStore(url, options),
  openReader: async ({ url }) => (await stores()).openPostgresReader(url),
  openKeys: async ({ url }) => (await stores()).openPostgresKeys(url),
  openSource: async ({ url }) => (await import("./copy/database-copy.ts")).openPostgresSource(url),
  backUp: async ({ url }, file, options) =>
    (await import("./copy/database-copy.ts")).backUpPostgres(url, file, options),
  openTarget: async ({ url }) => (await import("./copy/database-copy.ts")).openPostgresTarget(url),
  mayExist: () => true,
  requireStore: () => {},
  describeError,
};
