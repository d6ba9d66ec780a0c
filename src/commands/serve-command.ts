/** `holdfast serve`: runs the service until a signal stops it or its store fails. */
import { flushCompileCache } from "node:module";
import { about } from "../about.ts";
import { type FirstKeyPlan, planFirstKey } from "../access/first-key.ts";
import type { Config } from "../config.ts";
import { readBuiltFile } from "../program.ts";
import { type RunningServer, startServer } from "../server.ts";
import { isPostgresUrl, shownAddress } from "../store/address.ts";
import { withoutHistory } from "../store/port/options.ts";
import { configOf, type Environment, type Flags, type OnListening } from "./flags.ts";
import { createLog, type ProcessLog } from "./serve/process-log.ts";
import { shellWord } from "./wording.ts";

/** Serves until the process ends. Throws StartError if the service cannot start. */
export async function runServe(flags: Flags, env: Environment, onListening?: OnListening): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  const output = await createLog(isTerminal);
  const shutdown = createShutdown(config.stopTimeoutMs);
  let stopsWithParent = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => {
      // The signal that ended the script can arrive after its end. It is the first signal, so it must not end the service at once.
      if (stopsWithParent) stopsWithParent = false;
      else shutdown.request(0);
    });
  if (env.npm_lifecycle_event !== undefined) {
    watchParent(() => {
      if (shutdown.isRequested()) return; // one signal can end both the script and the service
      stopsWithParent = true;
      output.log.info("the npm script that started the service has ended, so the service stops");
      shutdown.request(0);
    });
  }
  await serveUntilShutdown(config, { shutdown, output, sources: { flags, env }, onListening });
}

/** The graceful stop of the process. */
export interface Shutdown {
  /** Requests it, with the exit code of the process. A second request ends the process immediately with exit code 1. */
  request(exitCode: number): void;
  requested: Promise<number>;
  isRequested(): boolean;
  /** Calls `report` with the reason before the process ends without a complete stop. */
  onIncomplete(report: (reason: string) => void): void;
}

/** How to run the service. `onListening` is called before the banner is printed. */
export interface ServingOptions {
  shutdown: Shutdown;
  output: ProcessLog;
  /** What the configuration was made from. */
  sources: { flags: Flags; env: Environment };
  onListening?: ((base: string) => void | Promise<void>) | undefined;
}

/** Whether standard error, and with it the log, goes to a terminal. */
export const isTerminal = process.stderr.isTTY === true;

/**
 * Starts the service, prints the banner, and stops the service when the shutdown is requested. Then it ends the process.
 * Throws StartError if the service cannot start.
 */
export async function serveUntilShutdown(
  config: Config,
  { shutdown, output: { log, writeLines }, sources, onListening }: ServingOptions,
): Promise<never> {
  const onFailure = (reason: string) => {
    log.fatal(reason);
    shutdown.request(1);
  };
  const starting = startServer(
    { ...config, logRequests: config.logRequests || isTerminal },
    {
      log,
      writeLines,
      onFailure,
      ...(process.stdout.isTTY === true && { showOnTerminal: (text) => process.stdout.write(text) }),
    },
  );
  if (config.http.tls !== undefined) reloadOnHangup(starting);
  let server: RunningServer | undefined;
  shutdown.onIncomplete((reason) =>
    log.error(
      `${reason} ended the process before the stop was complete: ${server?.unfinished() ?? "the service was still starting"}. Every confirmed write is on disk`,
    ),
  );
  const first = await Promise.race([starting, shutdown.requested]);
  // It has served nothing. What the start does is safe against a crash, and the next start continues it.
  if (typeof first === "number") process.exit(first);
  server = first;
  await onListening?.(`${server.origin}${config.http.prefix}`);
  const hasConsole = config.http.console && (await readBuiltFile("console/index.html")) !== undefined;
  const firstKey = await firstKeyLine(config, { server, hasConsole }, sources);
  const firstAccount = await firstAccountLine(config, server);
  process.stdout.write(`${banner(config, { server, hasConsole })}${firstKey}${firstAccount}`);
  flushCompileCache(); // Node writes it at the end, but not if the process is killed
  const exitCode = await shutdown.requested;
  await server.stop();
  process.exit(exitCode);
}

/** SIGHUP means that the certificate was renewed. It can arrive while the service is starting. */
function reloadOnHangup(starting: Promise<RunningServer>): void {
  process.on("SIGHUP", () => {
    starting.then(
      ({ reloadTls }) => reloadTls(),
      () => {}, // `serveUntilShutdown` throws this error
    );
  });
}

/**
 * The shutdown of this process. It can be requested while the service is starting. After the timeout the process ends with
 * exit code 1. Nothing is lost then, because every confirmed write is on disk.
 */
export function createShutdown(timeoutMs: number): Shutdown {
  const { promise: requested, resolve } = Promise.withResolvers<number>();
  let isRequested = false;
  let report: (reason: string) => void = () => {};
  const endAtOnce = (reason: string) => {
    report(reason);
    process.exit(1);
  };
  const request = (exitCode: number) => {
    if (isRequested) endAtOnce("a second signal or failure");
    isRequested = true;
    setTimeout(() => endAtOnce(`the limit of ${timeoutMs} ms (stopTimeoutMs)`), timeoutMs);
    resolve(exitCode);
  };
  return {
    request,
    requested,
    isRequested: () => isRequested,
    onIncomplete: (given) => {
      report = given;
    },
  };
}

const parentCheckMs = 250;

/**
 * Calls back once when the parent process has ended. npm sends a signal only to its shell, and some shells (such as dash)
 * end without passing it on. The service would then run forever.
 */
export function watchParent(onEnd: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnd();
  }, parentCheckMs);
  timer.unref();
}

/** A running service, and whether it serves the console. */
interface Served {
  server: RunningServer;
  hasConsole: boolean;
}

/** The address, the store, the mode, and a command to try. */
function banner(
  config: Config,
  { server: { origin, metrics, threads, readOnly, announced }, hasConsole }: Served,
): string {
  const base = `${origin}${config.http.prefix}`;
  const [first] = config.collections.keys();
  const lines = [
    `Holdfast ${about.version}`,
    `  listens on  ${base}`,
    `  stores in   ${shownAddress(config.store)}${config.store.kind === "sqlite" ? " (SQLite)" : ""}`,
    `  mode        ${readOnly ? "read-only; " : ""}${modeOf(config)}`,
    ...(threads === 1 ? [] : [`  threads     ${threads}`]),
    ...(config.http.hasFeed ? [] : [`  history     none: ${withoutHistory}`]),
    `  try         ${first === undefined && !readOnly ? tryCreate(base) : `curl -i ${base}/${first ?? "topics"}`}`,
    ...Object.entries(announced).map(([name, text]) => `  ${name.padEnd(12)}${text}`),
    ...(metrics === undefined ? [] : [`  metrics     ${metrics}`]),
    ...(config.http.metrics ? [`  metrics     ${origin}/metrics, for administrators`] : []),
    ...(config.http.docs ? [`  docs        ${origin}/docs`] : []),
    ...(hasConsole ? [`  console     ${origin}/`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * How to create the first API key, if the service takes keys and never had one. Only a terminal shows the link, because other
 * outputs are often kept.
 */
async function firstKeyLine(
  config: Config,
  { server, hasConsole }: Served,
  sources: ServingOptions["sources"],
): Promise<string> {
  if (config.auth?.keys !== true) return "";
  const isNeeded = await server.needsFirstKey().catch(() => false); // the store reports its own failures
  if (!isNeeded) return "";
  const plan = planFirstKey(config.auth.administrators, config.keyRoles);
  if (process.stdout.isTTY === true && hasConsole)
    return firstKeyLines([
      `${server.origin}/#first-key=${server.offerFirstKey(plan)}`,
      "(works once, for ten minutes)",
    ]);
  return firstKeyLines(firstKeyCommand(plan, sources));
}

/**
 * A link with which the first administrator of a local service signs up. Only a terminal shows it, because other outputs are often
 * kept.
 */
async function firstAccountLine({ isLocal }: Config, server: RunningServer): Promise<string> {
  if (!isLocal || process.stdout.isTTY !== true) return "";
  if ((await readBuiltFile("console/sign-in.html")) === undefined) return "";
  const link = await server.offerFirstAccount().catch(() => undefined); // the store reports its own failures
  const indent = " ".repeat(14);
  return link === undefined ? "" : `  first user  ${link}\n${indent}(works once, for ten minutes)\n`;
}

function firstKeyLines(lines: readonly string[]): string {
  return `  first key   ${lines.join(`\n${" ".repeat(14)}`)}\n`;
}

function modeOf({ collections, openCollections }: Config): string {
  if (collections.size === 0) return "open: the first create in a collection creates it";
  const declared = `declared: ${[...collections.keys()].join(", ")}`;
  return openCollections ? `${declared}; others are created on first use` : declared;
}

function tryCreate(base: string): string {
  return `curl -i ${base}/topics -H 'Content-Type: application/json' -d '{"title":"Hello"}'`;
}

/**
 * The command, for a shell in the folder in which the service was started. It names the configuration file and the store that the
 * service was started with. If a flag gave the password of the store, a second line says where the command takes it from.
 */
export function firstKeyCommand(
  { properties: { name, subject, roles } }: Pick<FirstKeyPlan, "properties">,
  { flags, env }: { flags: Flags; env: Environment },
): string[] {
  const store = storeOf(flags.store, env.HOLDFAST_STORE);
  const given = [
    ["--name", name],
    ...(subject === name ? [] : [["--subject", subject]]),
    ...roles.map((role) => ["--role", role]),
    ...sourceOf("--config", flags.config ?? env.HOLDFAST_CONFIG),
  ].map(([flag, value]) => `${flag} ${shellWord(value ?? "")}`);
  return [
    ["npx holdfast keys create", ...given, ...store.words].join(" "),
    ...(store.needsPassword ? ["(the variable PGPASSWORD must have the password of the store)"] : []),
  ];
}

function sourceOf(flag: string, value: unknown): string[][] {
  return typeof value === "string" && value !== "" ? [[flag, value]] : [];
}

/** The store. A password is not repeated, because the output of a service is often kept. */
function storeOf(flag: unknown, variable: string | undefined): { words: string[]; needsPassword: boolean } {
  const address = flag ?? variable;
  if (typeof address !== "string" || address === "") return { words: [], needsPassword: false };
  const open = withoutPassword(address);
  if (open === address) return { words: [`--store ${shellWord(address)}`], needsPassword: false };
  if (flag === undefined) return { words: ['--store "$HOLDFAST_STORE"'], needsPassword: false };
  return { words: [`--store ${shellWord(open)}`], needsPassword: true };
}

/** The address itself if it has no password. */
function withoutPassword(address: string): string {
  if (!isPostgresUrl(address)) return address;
  const url = new URL(address);
  if (url.password === "" && !url.searchParams.has("password")) return address;
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}
