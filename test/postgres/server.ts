/** A PostgreSQL server for tests, in a temporary folder and on a free port. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { onFreePort } from "../ports.ts";
import { until } from "../until.ts";
import { type Binaries, findBinaries, findDistributed } from "./binaries.ts";

/** A running server. */
export interface PostgresServer {
  port: number;
  /** The address of its first database. */
  url: string;
  /** The folder of its data. */
  data: string;
  /** Ends it: gracefully, at once as in a crash, or by kill -9 of its first process. The other processes then end too. */
  stop(how?: keyof typeof stopSignals): Promise<void>;
  /** Starts it again on the same port, with the same data. */
  start(): Promise<void>;
  /** Lets this process end while the server runs. */
  unref(): void;
  /** Ends it and removes its data. */
  remove(): Promise<void>;
}

const stopSignals = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const;

const execute = promisify(execFile);

const quick = ["fsync=off", "full_page_writes=off", "max_connections=500", "shared_buffers=64MB"];

/** Creates and starts a server. `settings` are added to the settings that make it fast. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  return startNew(await makePlace(findBinaries), settings);
}

/** Starts a server of the distribution, as people install it. Only where `findDistributed` finds it. */
export async function startDistributed(settings: readonly string[] = []): Promise<PostgresServer> {
  return startNew(await makePlace(findDistributed), settings);
}

async function startNew(
  { binaries, folder, data }: Awaited<ReturnType<typeof makePlace>>,
  settings: readonly string[],
): Promise<PostgresServer> {
  await execute(
    binaries.initdb,
    ["-D", data, "-U", "holdfast", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"],
    binaries.spawnOptions,
  );
  return startOn(binaries, { folder, data, settings: [...quick, ...settings] });
}

/** Starts a second server that follows the first, which is restarted for it. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const { binaries, folder, data } = await makePlace(findBinaries);
  await primary.stop();
  await execute("cp", ["-a", primary.data, data]);
  await execute("touch", [join(data, "standby.signal")]);
  await primary.start();
  const origin = `primary_conninfo=host=127.0.0.1 port=${primary.port} user=holdfast`;
  return startOn(binaries, { folder, data, settings: [...quick, origin] });
}

async function makePlace(
  find: (folder: string) => Binaries | Promise<Binaries>,
): Promise<{ binaries: Binaries; folder: string; data: string }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  chmodSync(folder, 0o755);
  const binaries = await find(folder);
  return { binaries, folder, data: join(mkdtempFor(binaries, folder), "data") };
}

interface Place {
  folder: string;
  data: string;
  settings: readonly string[];
}

function startOn(binaries: Binaries, place: Place): Promise<PostgresServer> {
  return onFreePort((port) => startOnPort(binaries, place, port));
}

async function startOnPort(
  binaries: Binaries,
  { folder, data, settings }: Place,
  port: number,
): Promise<PostgresServer> {
  const url = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = run(binaries, { data, port, settings });
    await untilReady(url, child);
  };
  const startAgain = async () => {
    // After a kill, a start fails until the last process of the killed server has ended.
    await until("the database starts again", () =>
      start().then(
        () => true,
        (error: Error) => {
          if (/did not start/.test(error.message)) return false;
          throw error;
        },
      ),
    );
  };
  const stop = async (how: keyof typeof stopSignals = "fast") => {
    if (child === undefined || child.exitCode !== null) return;
    child.ref();
    const ended = once(child, "exit");
    child.kill(stopSignals[how]);
    await ended;
    child = undefined;
  };
  const remove = async () => {
    await stop("immediate");
    await rm(folder, { recursive: true, force: true });
  };
  await start();
  return { port, url, data, start: startAgain, stop, remove, unref: () => child?.unref() };
}

/** Creates a folder that the server can write to. */
function mkdtempFor({ spawnOptions: { uid, gid } }: Binaries, folder: string): string {
  const own = mkdtempSync(join(folder, "cluster-"));
  if (uid !== undefined && gid !== undefined) chownSync(own, uid, gid);
  return own;
}

function run(
  { postgres, spawnOptions }: Binaries,
  { data, port, settings }: { data: string; port: number; settings: readonly string[] },
): ChildProcess {
  const options = ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings];
  const flags = options.flatMap((option) => ["-c", option]);
  return spawn(postgres, ["-D", data, "-p", String(port), ...flags], { ...spawnOptions, stdio: "ignore" });
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  await until("the database starts", async () => {
    if (child.exitCode !== null) throw new Error("The database did not start.");
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  });
}
