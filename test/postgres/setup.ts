/** Starts one database server for a whole run of tests: `node --test --test-global-setup=test/postgres/setup.ts`. */
import { type PostgresServer, startPostgres } from "./server.ts";

let server: PostgresServer | undefined;

export async function globalSetup(): Promise<void> {
  server = await startPostgres();
  process.env.HOLDFAST_STARTED_POSTGRES = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
