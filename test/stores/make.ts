/**
 * Makes the stores of a release. Commit them with the release:
 *
 *     npm exec -- node --conditions=holdfast-source test/stores/make.ts [name]
 *
 * The default name is the version and the month, as in `0.1.0-2026-11`. Replaces existing stores with this name.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { about } from "../../src/about.ts";
import { end, startStore } from "../durability/program.ts";
import { openBelow } from "../http/below.ts";
import { startPostgres } from "../postgres/server.ts";
import { dump, restore } from "./dump.ts";
import { config, fill } from "./fill.ts";
import { askAt, look } from "./look.ts";
import { type Contents, keepRelease } from "./release.ts";

const name = process.argv[2] ?? `${about.version}-${new Date().toISOString().slice(0, 7)}`;
const folder = mkdtempSync(join(tmpdir(), "holdfast-stores-"));
try {
  await makeFile();
  await makeDump();
} finally {
  rmSync(folder, { recursive: true });
}

async function makeFile(): Promise<void> {
  const path = join(folder, "store.db");
  const contents = await makeStore(`sqlite:${path}`);
  const below = await openBelow({ kind: "sqlite", path });
  await keepReceipts(below);
  await below.run("pragma wal_checkpoint(truncate)");
  await below.close();
  if (existsSync(`${path}-wal`)) throw new Error("The file is not all there is.");
  keepRelease({ name: `${name}.sqlite`, contents, data: readFileSync(path) });
}

async function makeDump(): Promise<void> {
  const server = await startPostgres();
  try {
    const contents = await makeStore(server.url);
    const below = await openBelow({ kind: "postgres", url: server.url });
    await keepReceipts(below);
    const sql = await dump(server.url);
    await below.run("create database again");
    await below.close();
    const again = server.url.replace(/postgres$/, "again");
    await restore(again, sql);
    if ((await dump(again)) !== sql) throw new Error("The dump does not make the same database again.");
    keepRelease({ name: `${name}.postgres`, contents, data: Buffer.from(sql) });
  } finally {
    await server.remove();
  }
}

/** Fills a store through the real program, and returns its contents. */
async function makeStore(store: string): Promise<Contents> {
  const file = join(folder, "holdfast.config.json");
  writeFileSync(file, JSON.stringify(config));
  const flags = ["--config", file];
  const holdfast = ["--conditions=holdfast-source", "bin/holdfast.js"];
  const create = ["keys", "create", "--name", "fixture", "--store", store, ...flags];
  const key = execFileSync(process.execPath, [...holdfast, ...create], { encoding: "utf8" }).trim();
  const program = await startStore(store, flags);
  const ask = askAt(`http://127.0.0.1:${program.port}/api/v1`, key);
  try {
    const filled = await fill(ask);
    await pass(1_100); // a response has Last-Modified only after that second
    return { ...filled, key, found: await look(ask, filled) };
  } finally {
    await end(program, "SIGTERM");
  }
}

/** Stored responses expire after a day. This changes the expiry, so that the store always has them. */
function keepReceipts({ run, table }: Awaited<ReturnType<typeof openBelow>>): Promise<void> {
  return run(`update ${table("receipts")} set expires_at = ${Date.UTC(2999, 0)}`);
}
