import type { Opponent } from "./opponent.ts";
import { ownProgram, plainSays } from "./own-program.ts";
import { versionOf } from "./packages.ts";

/** What those would write themselves who look for speed. */
export const fastifySqlite: Opponent = {
  ...ownProgram("fastify-sqlite"),
  name: "fastify-sqlite",
  title: "Fastify + better-sqlite3",
  keeps: "every answered write is flushed to the disk (WAL, synchronous=FULL), each by itself",
  checks:
    "the same schema with Ajv, answers written by fast-json-stringify; no change log, no versions before",
  versions: () => `${versionOf("fastify")}, ${versionOf("better-sqlite3")}`,
  says: plainSays,
};
