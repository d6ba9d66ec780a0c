/** A PgBouncer in transaction mode, where one is installed. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { onFreePort } from "../ports.ts";
import { until } from "../until.ts";
import { isRoot } from "./binaries.ts";
import { query } from "./databases.ts";

/** The reason to skip a test if PgBouncer is missing. */
export function whyNoBouncer(): string | false {
  try {
    execFileSync("pgbouncer", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs PgBouncer: on Debian apt-get install pgbouncer";
  }
}

/** A running PgBouncer. */
export interface Bouncer {
  /** The address of the database by way of it. */
  url: string;
  stop(): Promise<void>;
}

/** Starts PgBouncer in front of the database at `url`, with at most this many connections to it. */
export function startBouncer(url: string, poolSize: number): Promise<Bouncer> {
  return onFreePort((own) => startOnPort(url, poolSize, own));
}

async function startOnPort(url: string, poolSize: number, own: number): Promise<Bouncer> {
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  const { hostname, port, pathname, username, password } = new URL(url);
  const name = pathname.slice(1);
  const login = `user=${username}${password === "" ? "" : ` password=${decodeURIComponent(password)}`}`;
  const settings = [
    "[databases]",
    `${name} = host=${hostname} port=${port || 5432} dbname=${name} ${login}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${own}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    `default_pool_size = ${poolSize}`,
  ];
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, `${settings.join("\n")}\n`);
  const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {}; // PgBouncer does not run as root
  const child = spawn("pgbouncer", ["-q", file], { ...nobody, stdio: "ignore" });
  const through = `postgres://${username}@127.0.0.1:${own}/${name}`;
  const stop = async () => {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill("SIGQUIT")) await ended;
  };
  try {
    await until("PgBouncer answers", () => {
      if (child.exitCode !== null) throw new Error("PgBouncer did not start.");
      return query(through, "select 1").then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: through, stop };
}
