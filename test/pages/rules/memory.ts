/** Keeps what was found in texts until the texts or the rules change. */
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

interface Kept {
  key: string;
  value: unknown;
}

/** A short text that changes with each of the texts. */
export function keyOf(...texts: readonly string[]): string {
  return hash("sha256", texts.map((text) => hash("sha256", text)).join(" "));
}

/** What earlier runs found. */
export class Memory {
  readonly #file: string;
  readonly #before: Readonly<Record<string, Kept>>;
  readonly #now: Record<string, Kept> = {};

  /** Reads the file. A file that does not exist or is damaged is an empty memory. */
  constructor(file: string) {
    this.#file = file;
    try {
      this.#before = JSON.parse(readFileSync(file, "utf8")) as Record<string, Kept>;
    } catch {
      this.#before = {};
    }
  }

  /** The value that the cache has under this name and this key, or `undefined`. The value must survive JSON. */
  recall<Value>(name: string, key: string): Value | undefined {
    const kept = this.#before[name];
    if (kept?.key !== key) return undefined;
    this.#now[name] = kept;
    return kept.value as Value;
  }

  /** Keeps a value. */
  keep<Value>(name: string, key: string, value: Value): Value {
    this.#now[name] = { key, value };
    return value;
  }

  /** Writes what this run has recalled, so that the next run finds it. */
  save(): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    const written = `${this.#file}.${process.pid}`;
    writeFileSync(written, JSON.stringify(this.#now));
    renameSync(written, this.#file);
  }
}
