/** What every import has around it: the store while it runs, its bar, and what an interruption does. */
import type { Readable } from "node:stream";
import type { Config } from "../../config.ts";
import { onStoreOf, openStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { type Progress, startProgress, type Work } from "../progress.ts";

/** The exit code of what was interrupted, as shells expect it: 128 and the number of SIGINT. */
const interruptedExitCode = 130;

class Interrupted extends Error {}

/** Runs an import on a stream that a signal destroys. When one came, says so and sets the exit code. */
export async function interruptible(
  stream: Readable,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await work(interruptOnSignals(stream));
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    process.stderr.write("holdfast: interrupted; nothing was imported\n");
    process.exitCode = interruptedExitCode;
  } finally {
    stream.destroy();
  }
}

function interruptOnSignals(stream: Readable): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => {
    controller.abort(new Interrupted());
    stream.destroy(new Interrupted());
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt); // a second one kills
  stream.on("error", () => {}); // whoever reads it is told
  return controller.signal;
}

/** Opens the store for as long as something takes that shows its progress. */
export async function inStore<T>(
  config: Config,
  work: Work,
  run: (store: Store, onProgress: Progress["update"]) => Promise<T>,
): Promise<T> {
  const store = await openStore(config.store, { onFailure: () => {}, history: config.history });
  let progress: Progress | undefined;
  try {
    progress = await startProgress(work);
    const onProgress: Progress["update"] = (done, resources) => progress?.update(done, resources);
    return await onStoreOf(config.store, run(store, onProgress));
  } finally {
    progress?.stop();
    await store.close();
  }
}
