/**
 * Stores that releases have written, which every later release must open: a file of SQLite or a dump of PostgreSQL, and beside it
 * what was in it. `make.ts` makes them, and `stores.test.ts` opens them.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/** A request, and the answer that every retry of it gets. */
export interface Kept {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  status: number;
  text: string;
}

/** What is known of a store that was written. */
export interface Contents {
  /** The configuration without `store`. */
  config: object;
  /** An API key that may do everything. */
  key: string;
  /** All ids by collection, also those of deleted resources. */
  ids: Record<string, (string | number)[]>;
  /** Lists, by their paths below the prefix. */
  lists: string[];
  receipts: Kept[];
  /** What `look` has found. */
  found: object;
}

/** A store of a release. */
export interface Release {
  /** Such as `0.1.0-2026-11.sqlite`. */
  name: string;
  kind: "sqlite" | "postgres";
  contents: Contents;
  /** The bytes of the file, or the text of the dump. */
  data: Buffer;
}

const folder = join(import.meta.dirname, "releases");

/** All stores that are kept. */
export function readReleases(): Release[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".gz"));
  return files.map((file) => {
    const name = file.slice(0, -".gz".length);
    const kind = name.endsWith(".sqlite") ? "sqlite" : "postgres";
    const contents = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Contents;
    return { name, kind, contents, data: gunzipSync(readFileSync(join(folder, file))) };
  });
}

/** Keeps a store. */
export function keepRelease({ name, contents, data }: Omit<Release, "kind">): void {
  writeFileSync(join(folder, `${name}.gz`), gzipSync(data, { level: 9 }));
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(contents, null, 1)}\n`);
}
