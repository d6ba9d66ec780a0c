/** Holdfast on PostgreSQL, which shares the processor with it. */
import { has } from "../harness/commands.ts";
import { bytesOf, databaseFor, placePostgres, postgresPid, postgresVersion } from "../harness/postgres.ts";
import { fillThroughImport, holdfastSays, serve, versionOfProject } from "./holdfast.ts";
import type { Opponent } from "./opponent.ts";

/** Holdfast on PostgreSQL. */
export const holdfastPostgres: Opponent = {
  name: "holdfast-postgres",
  title: "Holdfast on PostgreSQL",
  keeps: "every answered write is flushed to the disk (PostgreSQL, fsync and synchronous_commit on)",
  checks: "as Holdfast does; PostgreSQL runs on the same processors and is counted with it",
  versions: () => `holdfast ${versionOfProject()}, PostgreSQL ${postgresVersion()}`,
  missing: () =>
    has("taskset") ? undefined : "the database cannot be kept on one processor without taskset",
  fill: async (folder, articles) => fillThroughImport(folder, await databaseFor(folder), articles),
  async start(folder, options) {
    const url = await databaseFor(folder);
    placePostgres(options.cpu);
    const server = await serve(folder, url, options);
    return { ...server, beside: [postgresPid()] };
  },
  bytes: bytesOf,
  says: holdfastSays,
};
