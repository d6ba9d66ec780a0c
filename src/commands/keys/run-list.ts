import { isLive } from "../../access/api-key.ts";
import type { ApiKey } from "../../store/keys.ts";
import { configOf, type Environment } from "../options.ts";
import { withKeys } from "./with-keys.ts";

/** Writes every key to standard output: never the key itself, and never its hash. */
export async function runList(
  { asJson }: { asJson: boolean },
  all: Readonly<Record<string, unknown>>,
  env: Environment,
): Promise<void> {
  await withKeys(await configOf(all, env), async (keys) => {
    const known = await keys.all();
    const lines = asJson ? known.map(toJson) : toTable(known, Date.now());
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  });
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
  const cells = [heading, ...keys.map((key) => cellsOf(key, now))];
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
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
    endOf(key, now),
    key.lastUsedAt === undefined ? "never" : hour(key.lastUsedAt),
  ];
}

function endOf(key: ApiKey, now: number): string {
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
