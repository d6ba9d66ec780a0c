/** What is served, and where. */
import { about as program } from "../../about.ts";
import { defaultHistory } from "../../store/history.ts";
import type { Option } from "../option.ts";
import { prefix } from "../own-paths.ts";
import { history, logged, text, truth, wholeNumber } from "../readers.ts";

/** What is served, and where, by place in the configuration file. */
export const serviceOptions = {
  store: {
    flag: "-s, --store <address>",
    env: "HOLDFAST_STORE",
    shownDefault: "`sqlite:holdfast.db`",
    fallback: "sqlite:holdfast.db",
    about:
      "where resources are kept: `sqlite:<file>`, relative to the working directory, or `postgres://user@host/database`",
    isPrivate: true,
    read: text,
  },
  host: {
    flag: "-H, --host <address>",
    env: "HOLDFAST_HOST",
    shownDefault: "`127.0.0.1`",
    fallback: "127.0.0.1",
    about: "the address to listen on",
    read: text,
  },
  port: {
    flag: "-p, --port <number>",
    env: "HOLDFAST_PORT",
    shownDefault: "3000",
    fallback: 3000,
    about: "the port to listen on; 0 picks a free port",
    read: wholeNumber(0, 65_535),
  },
  prefix: {
    flag: "--prefix <path>",
    env: "HOLDFAST_PREFIX",
    shownDefault: "`/api/v1`",
    fallback: "/api/v1",
    about: "the start of the path of every collection",
    read: prefix,
  },
  log: {
    flag: "--log <what>",
    env: "HOLDFAST_LOG",
    shownDefault: "`problems`",
    fallback: "problems",
    about: "what to log: `problems`, or `requests` for a line about every request (always on in a terminal)",
    read: logged,
  },
  openCollections: {
    shownDefault: "true without `collections`, else false",
    fallback: undefined,
    about: "whether clients can create collections that are not declared",
    read: truth as (value: unknown) => boolean | undefined,
  },
  docs: {
    shownDefault: "true",
    fallback: true,
    about: "whether to serve the OpenAPI document (`/openapi.json`) and a page to try requests on (`/docs`)",
    read: truth,
  },
  compression: {
    shownDefault: "true",
    fallback: true,
    about:
      "whether responses above 1 kB to GET, HEAD and QUERY are compressed with `br` or `gzip`, for clients that accept it",
    read: truth,
  },
  "info.title": {
    shownDefault: "`Holdfast`",
    fallback: "Holdfast",
    about: "the title of the OpenAPI documents and of the pages at `/` and `/docs`",
    read: text,
  },
  "info.version": {
    shownDefault: "Holdfast's version",
    fallback: program.version,
    about: "the version of your interface, in the OpenAPI documents and at `/docs`",
    read: text,
  },
  "info.description": {
    shownDefault: "none",
    fallback: undefined,
    about: "what your service is for, as Markdown, in the OpenAPI documents and at `/docs`",
    read: text as (value: unknown) => string | undefined,
  },
  readOnly: {
    shownDefault: "false",
    fallback: false,
    about: "whether to refuse every write with 503 `UNAVAILABLE`; the flag `--read-only` does the same",
    read: truth,
  },
  history: {
    shownDefault: "`{ keepDays: 30, keepChanges: 1_000_000 }`",
    fallback: { keep: defaultHistory, showPrincipal: false },
    about:
      "how long changes are kept: an object such as the default, `forever` or `none`; `keepBytes` limits the size of the history of a collection; `showPrincipal: true` shows all readers who made each change",
    read: history,
  },
} as const satisfies Record<string, Option<unknown>>;
