/** A thread that walks through a store's file once, to find damage. It sends what it finds to the thread that started it. */
import { setTimeout as pass } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../program.ts";
import { walk, walkTimes } from "../../core/walk.ts";
import { walkedFile } from "../copy/walked-file.ts";
import { describeError, resultCode } from "../file/failures.ts";
import { openDatabase } from "../file/open-file.ts";
import type { CheckMessage } from "./background.ts";

/** The errors after which the store cannot continue. A removed file is detected elsewhere (`../file/watch.ts`). */
const brokenCodes = new Set([10, 11, 26]); // SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB

function isBroken(error: unknown): boolean {
  return brokenCodes.has((resultCode(error) ?? 0) & 0xff);
}

async function check(path: string): Promise<void> {
  const send = (message: CheckMessage) => parentPort?.postMessage(message);
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      const file = walkedFile(database);
      const damageIn = (error: unknown) => (isBroken(error) ? undefined : file.damageIn(error));
      const walking = walk({ ...file, damageIn }, (text) => send({ kind: "damage", text }));
      let step = await walking.next();
      for (; step.done !== true; step = await walking.next()) await pass(walkTimes.pauseMs);
      send({ kind: "end", isDamaged: step.value });
    } finally {
      database.close();
    }
  } catch (error) {
    send({ kind: isBroken(error) ? "broken" : "interrupted", reason: describeError(error) });
  }
}

lowerThreadPriority();
// Not `await`, because the bundle of the package is a CommonJS module.
void check(workerData as string);
