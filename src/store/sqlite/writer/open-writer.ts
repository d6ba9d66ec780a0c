/** Opens the writer's connection and creates the parts of the writer. */
import { DatabaseSync } from "node:sqlite";
import { ReceiptPlans } from "../../core/receipt-plans.ts";
import type { CommitMeter } from "../../port/commit-meter.ts";
import type { WriterSettings } from "../commit/protocol.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import { logSizeLimit } from "../file/log-state.ts";
import { createFileCheck, noteFiles } from "../file/watch.ts";
import { createMarksMemory, Marks } from "../marks.ts";
import { logPlans, PlanRunner, sqliteDialect } from "../sqlite-dialect.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Commits } from "./commits.ts";
import { Declarations } from "./declarations.ts";
import { EntryTables } from "./entry-tables.ts";
import { Erasure } from "./erasure.ts";
import { flushLog } from "./flush-log.ts";
import { Heads } from "./heads.ts";
import { IntegerIds } from "./integer-ids.ts";
import { WriterLoad } from "./load.ts";
import { Resources } from "./resources.ts";
import { SearchTables } from "./search-tables.ts";
import { Transactions } from "./transactions.ts";
import { Upkeep } from "./upkeep.ts";
import { Writer } from "./writer.ts";

/** How long to wait for a write transaction of another process. Such a process only changes API keys. */
const busyTimeoutMs = 5_000;

/** A larger cache makes no write faster, because the system keeps the file in memory anyway. */
const cacheKibibytes = 4 * 1024;

/**
 * Opens a writer, which counts with `meter` if there is one. `prepareFile` must have prepared the file. Throws the error of
 * SQLite if the file cannot be opened.
 */
export function openWriter(settings: WriterSettings, meter?: CommitMeter): Writer {
  const database = openToWrite(settings);
  flushLog(settings.path);
  const collections = new Map<number, NumberedCollection>();
  const heads = new Heads(database);
  const ids = new IntegerIds();
  const entries = new EntryTables(database);
  const search = new SearchTables(database);
  const plans = new PlanRunner(database);
  const isLogged = settings.history !== "none";
  const receipts = new ReceiptPlans(sqliteDialect, settings.receipts);
  const marks = new Marks(settings.marks ?? createMarksMemory());
  const transactions = new Transactions({
    database,
    heads,
    search,
    marks,
    findLostFile: createFileCheck(settings.path),
    meter,
  });
  const declarations = new Declarations({ database, collections, heads, search, marks, transactions });
  transactions.run(() => {
    if (isLogged) plans.run(logPlans.noteGapsAtEnd());
    noteFiles(settings.path, database);
  });
  const resources = new Resources({ database, heads, entries, search, isLogged, marks });
  const catalogue = () => declarations.catalogue;
  const commits = new Commits({ database, catalogue, heads, receipts, plans, resources });
  const shared = {
    database,
    collections,
    heads,
    ids,
    entries,
    search,
    isLogged,
    receipts,
    plans,
    resources,
    commits,
    transactions,
    declarations,
  };
  return new Writer({
    ...shared,
    load: new WriterLoad(shared),
    upkeep: new Upkeep(shared, settings.history),
    erasure: new Erasure(shared),
    checkpoints: new Checkpoints(database, transactions, meter),
  });
}

function openToWrite({ path, synchronous }: WriterSettings): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, limits: { attach: 0 } });
  database.exec(`
    pragma synchronous = ${synchronous};
    pragma journal_size_limit = ${logSizeLimit};
    pragma wal_autocheckpoint = 0;
    pragma cache_size = -${cacheKibibytes};
  `);
  return database;
}
