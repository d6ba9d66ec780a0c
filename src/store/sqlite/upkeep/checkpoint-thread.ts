/**
 * A thread that makes checkpoints of a long log until it is short. Writes continue in the meantime. While another program reads an
 * older state, SQLite cannot move the pages after it, so the thread tries again every second. It sends the reason if the disk fails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../program.ts";
import { describeError, failureOf } from "../file/failures.ts";
import { createLogReader, duePages } from "../file/log-state.ts";
import { openDatabase } from "../file/open-file.ts";

const pauseMs = 1_000;

async function shortenLog(path: string): Promise<void> {
  const database = openDatabase(path);
  try {
    const readLog = createLogReader(database);
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      database.exec("pragma wal_checkpoint(passive)");
      const { waiting } = readLog();
      if (waiting < duePages) return;
      await sleep(waiting < before / 2 ? 0 : pauseMs);
      before = waiting;
    }
  } finally {
    database.close();
  }
}

lowerThreadPriority();
// Not `await`, because the bundle of the package is a CommonJS module.
void shortenLog(workerData as string).catch((error: unknown) => {
  // With a full disk, the log still contains everything, and a later checkpoint can succeed.
  if (failureOf(error) === "broken") parentPort?.postMessage(describeError(error));
});
