/**
 * Stores of earlier releases. Every later release must open them. Each is a file of SQLite or a dump of PostgreSQL, with a
 * description of its contents. `make.ts` makes them, and `stores.test.ts` opens them.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

/** A request, and the response that every retry of it gets. */
export interface Kept {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  status: number;
  text: string;
}

/** The description of the contents of a store. */
export interface Contents {
  /** The configuration without `store`. */
  config: object;
  /** An API key with all rights. */
  key: string;
  /** All ids by collection, also those of deleted resources. */
  ids: Record<string, (string | number)[]>;
  /** The paths of lists below the prefix. */
  lists: string[];
  receipts: Kept[];
  /** The result of `look`. */
  found: object;
}

/** A store of a release. */
export interface Release {
  /** The name, such as `0.1.0-2026-11.sqlite`. */
  name: string;
  kind: "sqlite" | "postgres";
  contents: Contents;
  /** The bytes of the file, or the text of the dump. */
  data: Buffer;
}

const folder = join(import.meta.dirname, "releases");

/** All stores of releases. */
export function readReleases(): Release[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".gz"));
  return files.map((file) => {
    const name = file.slice(0, -".gz".length);
    const kind = name.endsWith(".sqlite") ? "sqlite" : "postgres";
    const contents = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Contents;
    return { name, kind, contents, data: gunzipSync(readFileSync(join(folder, file))) };
  });
}

/** Writes a store of a release. */
export function keepRelease({ name, contents, data }: Omit<Release, "kind">): void {
  writeFileSync(join(folder, `${name}.gz`), gzipSync(data, { level: 9 }));
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(contents, null, 1)}\n`);
}
