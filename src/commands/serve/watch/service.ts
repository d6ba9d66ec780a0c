/** One process of `serve --watch`: it reads the configuration, and serves it if the watcher wants it to. */
import { readFiles } from "../../../config/files.ts";
import type { Config } from "../../../config.ts";
import { Problem, StartError } from "../../../errors.ts";
import { checkNames } from "../../../fit/misfits.ts";
import { requireFit } from "../../../fit.ts";
import { mayExist, openReader } from "../../../store/open.ts";
import { configOf } from "../../options.ts";
import { watchOutput } from "../../output.ts";
import { messageOf } from "../../words.ts";
import { createLog } from "../log.ts";
import { createEnd, isTerminal, serveUntilEnd } from "../serving.ts";
import type { Order, Report } from "./messages.ts";
import { stampOf } from "./stamps.ts";

const files = new Map<string, string>();
let config: Config;
let stop: () => void = () => process.exit();

watchOutput();
// Ctrl-C reaches every process of the terminal. The watcher decides what it means.
process.on("SIGINT", () => {}).on("SIGTERM", () => {});
process.on("disconnect", () => stop()); // the watcher has ended, however it did
process.on("message", (order: Order) => void obey(order));

async function obey(order: Order): Promise<void> {
  try {
    if (order.kind === "read") await read(order);
    else if (order.kind === "serve") await serve(order.port);
    else stop();
  } catch (error) {
    if (!(error instanceof StartError || error instanceof Problem)) throw error;
    report({ kind: "refused", text: messageOf(error), files: [...files] }, () => process.exit(1));
  }
}

async function read({ flags, fitsStore }: Order & { kind: "read" }): Promise<void> {
  const onFile = (path: string) => {
    if (!files.has(path)) files.set(path, stampOf(path));
  };
  config = await configOf(flags, process.env, { reportsFiles: true, onFile });
  await readFiles({ auth: () => config.auth, tls: () => config.http.tls }, Date.now());
  if (fitsStore) await requireStoreFits();
  report({ kind: "read", content: config.content, files: [...files] });
}

/** Throws StartError as the start would, before the service that runs is stopped for it. */
async function requireStoreFits(): Promise<void> {
  if (config.accept || !mayExist(config.store)) return;
  const reader = await openReader(config.store);
  try {
    for (const collection of config.collections.values()) await requireFit(reader, collection, checkNames);
  } finally {
    await reader.close();
  }
}

/** Nothing waits for `/readyz` to fail, so the listener closes at once when the service stops. */
async function serve(lastPort: number): Promise<void> {
  const end = createEnd(config.stopTimeoutMs);
  stop = () => end.request(0);
  const port = config.port === 0 ? lastPort : config.port;
  await serveUntilEnd(
    { ...config, port, drainDelayMs: 0 },
    {
      end,
      log: await createLog(isTerminal),
      onListening: (base) => new Promise((resolve) => report({ kind: "listening", base }, resolve)),
    },
  );
}

function report(message: Report, onSent?: () => void): void {
  process.send?.(message, undefined, undefined, onSent);
}
