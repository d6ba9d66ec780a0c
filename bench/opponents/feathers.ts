import type { Opponent } from "./opponent.ts";
import { ownProgram, plainSays } from "./own-program.ts";
import { versionOf } from "./packages.ts";

/** A framework that makes the interface of a table. */
export const feathers: Opponent = {
  ...ownProgram("feathers"),
  name: "feathers",
  title: "Feathers + Knex",
  keeps:
    "every answered write is flushed to the disk (better-sqlite3, WAL, synchronous=FULL), each by itself",
  checks: "the same schema with Ajv when an article is created or replaced; counts all with each page",
  versions: () => [versionOf("@feathersjs/koa"), versionOf("knex"), versionOf("better-sqlite3")].join(", "),
  says: {
    collection: "/articles",
    item: plainSays.item,
    page: "/articles?$limit=20",
    filtered: (author) => `/articles?author=${author}&$sort[publishedOn]=-1&$limit=20`,
  },
  cannot: { notModified: "it has no validators" },
};
