/** `holdfast keys list`: prints API keys as a table or as JSON lines. It never prints the key itself or its hash. */
import { isLive } from "../../access/api-key.ts";
import { openKeys, requireStore } from "../../store/open.ts";
import type { ApiKey } from "../../store/port/keys.ts";
import { configOf, type Environment, type Flags } from "../options.ts";
import { shell } from "../shell.ts";
import { withOpen } from "../store.ts";

/** Prints every key, also expired and revoked ones. Throws StartError if the store does not exist. */
export async function runList({ json, ...flags }: Flags, env: Environment): Promise<void> {
  const { store } = await configOf(flags, env);
  requireStore(store);
  const all = await withOpen(openKeys(store), (keys) => keys.all());
  const lines = json === true ? all.map(toJson) : toTable(all, Date.now());
  shell().stdout.write(lines.map((line) => `${line}\n`).join(""));
}

function toJson({ hash: _, ...key }: ApiKey): string {
  const times = [key.createdAt, key.expiresAt, key.revokedAt, key.lastUsedAt].map((time) =>
    time === undefined ? null : new Date(time).toISOString(),
  );
  const [createdAt, expiresAt, revokedAt, lastUsedAt] = times;
  return JSON.stringify({ ...key, scopes: key.scopes ?? null, createdAt, expiresAt, revokedAt, lastUsedAt });
}

const heading = ["key", "name", "subject", "roles", "scopes", "created", "expires", "last used"];

function toTable(keys: readonly ApiKey[], now: number): string[] {
  if (keys.length === 0) return ["there are no API keys"];
  const rows = [heading, ...keys.map((key) => cellsOf(key, now))];
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function cellsOf(key: ApiKey, now: number): string[] {
  const scopes = key.scopes?.join(" ") ?? "all";
  return [
    key.prefix,
    key.name,
    key.subject,
    key.roles.join(" ") || "none",
    scopes || "none",
    day(key.createdAt),
    expiryOf(key, now),
    key.lastUsedAt === undefined ? "never" : hour(key.lastUsedAt),
  ];
}

function expiryOf(key: ApiKey, now: number): string {
  if (key.revokedAt !== undefined) return `revoked ${day(key.revokedAt)}`;
  if (key.expiresAt === undefined) return "never";
  return isLive(key, now) ? day(key.expiresAt) : `expired ${day(key.expiresAt)}`;
}

function hour(time: number): string {
  return `${new Date(time).toISOString().slice(0, 13).replace("T", " ")}:00`;
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
