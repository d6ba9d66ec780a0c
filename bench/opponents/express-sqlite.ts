import type { Opponent } from "./opponent.ts";
import { ownProgram, plainSays } from "./own-program.ts";
import { versionOf } from "./packages.ts";

/** What many would write themselves. */
export const expressSqlite: Opponent = {
  ...ownProgram("express-sqlite"),
  name: "express-sqlite",
  title: "Express + better-sqlite3",
  keeps: "every answered write is flushed to the disk (WAL, synchronous=FULL), each by itself",
  checks: "the same schema with Ajv; no change log, no versions before, no concurrency but one thread",
  versions: () => `${versionOf("express")}, ${versionOf("better-sqlite3")}`,
  says: plainSays,
};
