/** What a file is that the user wants to import. */
import type { ImportType } from "holdfast-client";

export interface ImportFormat {
  type: ImportType;
  delimiter?: string;
}

const byEnding: Readonly<Record<string, ImportType>> = {
  csv: "text/csv",
  tsv: "text/csv",
  ndjson: "application/x-ndjson",
  jsonl: "application/x-ndjson",
};

/** The format of a file, by its name and the beginning of its text. */
export function formatOf(name: string, beginning: string): ImportFormat {
  const text = beginning.replace(/^\uFEFF/, "").trimStart();
  const ending = name.toLowerCase().split(".").at(-1) ?? "";
  // Many files with the ending .json have one object in each line.
  const type =
    byEnding[ending] ??
    (text.startsWith("[") ? "application/json" : text.startsWith("{") ? "application/x-ndjson" : "text/csv");
  if (type !== "text/csv") return { type };
  const delimiter = delimiterOf(text);
  return delimiter === "," ? { type } : { type, delimiter };
}

/** The character that separates the names in the first row: the one that occurs most. */
function delimiterOf(text: string): string {
  const row = (text.split("\n", 1)[0] ?? "").replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t", "|"].map((each) => ({ each, count: row.split(each).length }));
  const best = counts.reduce((one, other) => (other.count > one.count ? other : one));
  return best.each === "\t" ? "tab" : best.each;
}

/** A number of bytes for people. */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
