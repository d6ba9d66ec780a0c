/** The articles that every service is filled with, as a file that each reads in its own way. */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { createUuidSource } from "../../src/collection/uuids.ts";
import type { Articles } from "../opponents/opponent.ts";
import { articleAttributes } from "../ratios/articles.ts";

/** Articles of about this size, in bytes. */
export interface Data extends Articles {
  /** Bytes of an article as JSON, about. */
  bytes: number;
}

/** The attributes of an article of about 300 or more bytes. */
export function attributesOf(n: number, bytes: number): Record<string, unknown> {
  const attributes = articleAttributes(n);
  const summary = String(attributes.summary);
  return bytes <= 300
    ? attributes
    : { ...attributes, summary: summary.repeat(Math.ceil((bytes - 300) / summary.length)) };
}

/** Writes a file with this number of articles. */
export async function makeData(file: string, resources: number, bytes: number): Promise<Data> {
  const newUuid = createUuidSource();
  const ids = Array.from({ length: resources }, () => newUuid());
  const stream = createWriteStream(file);
  for (let n = 0; n < resources; n += 1_000) {
    const lines = ids
      .slice(n, n + 1_000)
      .map((id, at) => JSON.stringify({ id, ...attributesOf(n + at, bytes) }));
    if (!stream.write(`${lines.join("\n")}\n`)) await once(stream, "drain");
  }
  stream.end();
  await finished(stream);
  return { ids, file, bytes };
}
