import { about } from "../../about.ts";
import type { Config } from "../../config.ts";
import { shownAddress } from "../../store/address.ts";

/** Where the service listens, what it stores in, the mode, and one line to try. */
export function banner(config: Config, origin: string): string {
  const base = `${origin}${config.http.prefix}`;
  const [first] = config.collections.keys();
  const docs = config.http.docs ? [`  docs        ${origin}/docs`] : [];
  const lines = [
    `Holdfast ${about.version}`,
    `  listens on  ${base}`,
    `  stores in   ${shownAddress(config.store)}${config.store.kind === "sqlite" ? " (SQLite)" : ""}`,
    `  mode        ${config.readOnly ? "read-only; " : ""}${modeOf(config)}`,
    `  try         ${first === undefined && !config.readOnly ? tryCreate(base) : `curl -i ${base}/${first ?? "topics"}`}`,
    ...docs,
  ];
  return `${lines.join("\n")}\n`;
}

function modeOf({ collections, openCollections }: Config): string {
  if (collections.size === 0) return "open: the first create in a collection creates it";
  const declared = `declared: ${[...collections.keys()].join(", ")}`;
  return openCollections ? `${declared}; others are created on first use` : declared;
}

function tryCreate(base: string): string {
  return `curl -i ${base}/topics -H 'Content-Type: application/json' -d '{"title":"Hello"}'`;
}
