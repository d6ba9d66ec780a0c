/** A thread that checks a store's file for damage once, and sends the first damage or `undefined` to the thread that started it. */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { describeError, resultCode } from "../file/failures.ts";
import { openDatabase } from "../file/open-file.ts";
import { lowerThreadPriority } from "./thread-priority.ts";

/** The largest file that is checked as a whole. Only such a check finds a page that belongs to two tables. */
const maxBytesAtOnce = 256 * 1024 * 1024;

/** The first damage that is found. `undefined` if there is none. */
async function findDamage(path: string): Promise<string | undefined> {
  const database = openDatabase(path, { readOnly: true });
  try {
    for (const argument of checkArguments(database)) {
      const result = String(database.prepare(`pragma quick_check(${argument})`).get()?.quick_check);
      if (result !== "ok") return result;
      await turn(); // the thread can be stopped between two checks, but not during one
    }
    return undefined;
  } finally {
    database.close();
  }
}

/** The arguments of `quick_check`: `1`, which checks the whole file and reports one error, or the name of each table. */
function checkArguments(database: DatabaseSync): string[] {
  const { page_count: pages } = database.prepare("pragma page_count").get() as { page_count: number };
  const { page_size: bytes } = database.prepare("pragma page_size").get() as { page_size: number };
  if (pages * bytes <= maxBytesAtOnce) return ["1"];
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  return tables.map(({ name }) => String(name));
}

/** The errors that mean damage. A removed file is detected elsewhere (`../file/watch.ts`), and a lock is not damage. */
const damageCodes = new Set([10, 11, 26]); // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB

async function check(path: string): Promise<string | undefined> {
  try {
    return await findDamage(path);
  } catch (error) {
    return damageCodes.has((resultCode(error) ?? 0) & 0xff) ? describeError(error) : undefined;
  }
}

lowerThreadPriority();
// Not `await`, because the bundle of the package is a CommonJS module.
void check(workerData as string).then((damage) => parentPort?.postMessage(damage));
