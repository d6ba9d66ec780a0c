/** Everything that is compared, in the order of the tables. A new one is one more file and one more line. */
import { expressSqlite } from "./express-sqlite.ts";
import { fastifySqlite } from "./fastify-sqlite.ts";
import { feathers } from "./feathers.ts";
import { holdfast } from "./holdfast.ts";
import { holdfastPostgres } from "./holdfast-postgres.ts";
import { jsonServer } from "./json-server.ts";
import type { Opponent } from "./opponent.ts";
import { durablePocketbase, pocketbase } from "./pocketbase.ts";
import { postgrest } from "./postgrest.ts";

/** Holdfast comes first: the answers of the constants are its own. */
export const opponents: readonly Opponent[] = [
  holdfast,
  holdfastPostgres,
  expressSqlite,
  fastifySqlite,
  feathers,
  jsonServer,
  pocketbase,
  durablePocketbase,
  postgrest,
];
