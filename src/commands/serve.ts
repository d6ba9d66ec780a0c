/** `holdfast serve`: starts the service, says where it is, and ends it in order. */
import { Command } from "commander";
import type { Config } from "../config.ts";
import { type RunningServer, startServer } from "../server.ts";
import { about } from "./about.ts";
import { createLog } from "./log.ts";
import { addStoreOptions, configOf } from "./options.ts";

/** The command, for the command line. */
export function serveCommand(): Command {
  return addStoreOptions(new Command("serve"))
    .description("start the service")
    .option("-p, --port <number>", "port to listen on (default: 3000)")
    .option("-H, --host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--prefix <path>", "path that the collections live under (default: /api/v1)")
    .option("--log <what>", '"requests" writes a line for each request (a terminal has them anyway)')
    .option("--insecure", "listen beyond the loopback addresses although nothing is authenticated")
    .option("--accept", "start although existing resources do not fit a changed schema")
    .addHelpText("after", "\nExample:\n  holdfast serve --port 4000 --store sqlite:shop.db\n")
    .action(serve);
}

async function serve(flags: Record<string, unknown>): Promise<void> {
  const config = await configOf(flags);
  const isTerminal = process.stderr.isTTY === true;
  const log = await createLog(isTerminal);
  const server = await startServer(
    { ...config, logRequests: config.logRequests || isTerminal },
    {
      log,
      onFailure: (reason) => {
        log.fatal(reason);
        void end(1);
      },
    },
  );
  const end = endOnce(server, config.stopTimeoutMs);
  endOnSignals(end);
  process.stdout.write(banner(config, server.origin));
}

/** Where it listens, what it stores in, the mode, and one line to try. */
function banner(config: Config, origin: string): string {
  const base = `${origin}${config.http.prefix}`;
  const [first] = config.collections.keys();
  const lines = [
    `Holdfast ${about.version}`,
    `  listens on  ${base}`,
    `  stores in   ${config.store.path} (SQLite)`,
    `  mode        ${modeOf(config)}`,
    `  try         ${first === undefined ? tryCreate(base) : `curl -i ${base}/${first}`}`,
  ];
  return `${lines.join("\n")}\n`;
}

function modeOf({ collections, openCollections }: Config): string {
  if (collections.size === 0) return "open: a collection springs into being with its first create";
  const declared = `declared: ${[...collections.keys()].join(", ")}`;
  return openCollections ? `${declared}; others spring into being` : declared;
}

function tryCreate(base: string): string {
  return `curl -i ${base}/topics -H 'Content-Type: application/json' -d '{"title":"Hello"}'`;
}

/** Stops the server, once; forced with exit code 1 when it takes too long or is asked again. */
function endOnce(server: RunningServer, timeoutMs: number): (exitCode: number) => Promise<void> {
  let isEnding = false;
  return async (exitCode) => {
    if (isEnding) process.exit(1);
    isEnding = true;
    setTimeout(() => process.exit(1), timeoutMs).unref();
    await server.stop();
    process.exit(exitCode);
  };
}

function endOnSignals(end: (exitCode: number) => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void end(0));
}
