/** Looks for damage in a store's file, in a thread of its own: a large file takes a while. */
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { describeError, resultCode } from "../file/failures.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

/** Up to here the file is checked as a whole, which also finds pages that two tables claim. */
const maxBytesAtOnce = 256 * 1024 * 1024;

/** Gives what is wrong with the file, or `undefined`. */
async function findDamage(path: string): Promise<string | undefined> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    for (const table of partsOf(database)) {
      const finding = String(database.prepare(`pragma quick_check(${table})`).get()?.quick_check);
      if (finding !== "ok") return finding;
      await turn(); // a running check cannot be stopped, one that is about to begin can
    }
    return undefined;
  } finally {
    database.close();
  }
}

function partsOf(database: DatabaseSync): string[] {
  const { page_count: pages } = database.prepare("pragma page_count").get() as { page_count: number };
  const { page_size: bytes } = database.prepare("pragma page_size").get() as { page_size: number };
  if (pages * bytes <= maxBytesAtOnce) return ["1"];
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  return tables.map(({ name }) => String(name));
}

/** Errors that are findings. That the file is gone is noticed elsewhere, and another program's lock is no damage. */
const damageCodes = new Set([10, 11, 26]); // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB

async function check(path: string): Promise<string | undefined> {
  try {
    return await findDamage(path);
  } catch (error) {
    return damageCodes.has((resultCode(error) ?? 0) & 0xff) ? describeError(error) : undefined;
  }
}

lowerThreadPriority();
parentPort?.postMessage(await check(workerData as string));
