/** The program of a service process. It reads the configuration and serves it when the watcher asks for that. */
import { readFilesOf } from "../../config/derived-settings.ts";
import type { Config } from "../../config.ts";
import { Problem, StartError } from "../../errors.ts";
import { checkNames, requireFit } from "../../fit.ts";
import { mayExist, openReader } from "../../store/open.ts";
import { withOpen } from "../command-store.ts";
import { configOf, type Flags } from "../flags.ts";
import { createShutdown, isTerminal, serveUntilShutdown } from "../serve-command.ts";
import { watchOutput } from "../shell.ts";
import { messageOf } from "../wording.ts";
import { createLog } from "./process-log.ts";
import { type FromService, stateOf, type ToService } from "./watcher.ts";

const files = new Map<string, string>();
let config: Config;
let given: Flags = {};
let stop: () => void = () => process.exit();

watchOutput();
// Ctrl-C reaches every process of the terminal. Only the watcher handles it.
process.on("SIGINT", () => {}).on("SIGTERM", () => {});
process.on("disconnect", () => stop()); // the watcher has ended
process.on("message", (message: ToService) => void handle(message));

async function handle(message: ToService): Promise<void> {
  try {
    if (message.kind === "read") await read(message.flags, message.mustFitStore);
    else if (message.kind === "serve") await serve(message.port);
    else stop();
  } catch (error) {
    if (!(error instanceof StartError || error instanceof Problem)) throw error;
    send({ kind: "refused", text: messageOf(error), files: [...files] }, () => process.exit(1));
  }
}

async function read(flags: Flags, mustFitStore: boolean): Promise<void> {
  const onFile = (path: string) => {
    if (!files.has(path)) files.set(path, stateOf(path));
  };
  given = flags;
  config = await configOf(flags, process.env, { reportsFiles: true, onFile });
  await readFilesOf(config, Date.now());
  if (mustFitStore) await requireStoreFits();
  send({ kind: "read", content: config.content, files: [...files] });
}

/** Throws the StartError that the start would throw. The watcher asks for this check before it stops the running service. */
async function requireStoreFits(): Promise<void> {
  const { accept, store, collections } = config;
  if (accept || !mayExist(store)) return;
  await withOpen(openReader(store), async (reader) => {
    for (const collection of collections.values()) await requireFit(reader, collection, checkNames);
  });
}

/** Without a drain delay: no load balancer waits for `/readyz` to fail. */
async function serve(lastPort: number): Promise<void> {
  const shutdown = createShutdown(config.stopTimeoutMs);
  stop = () => shutdown.request(0);
  const port = config.port === 0 ? lastPort : config.port;
  await serveUntilShutdown(
    { ...config, port, drainDelayMs: 0 },
    {
      shutdown,
      output: await createLog(isTerminal),
      sources: { flags: given, env: process.env },
      onListening: (base) => new Promise((resolve) => send({ kind: "listening", base }, resolve)),
    },
  );
}

function send(message: FromService, onSent?: () => void): void {
  process.send?.(message, undefined, undefined, onSent);
}
