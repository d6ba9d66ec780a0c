/** Identifiers: how they are made, which ones may arrive from outside, and how they look in JSON. */
import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** Kinds of id that a collection can make, and what each is. */
export const idKinds = {
  uuid: "A JSON string, made by the service: a UUID of version 7 (RFC 9562), lower case.",
  integer: "A JSON number, made by the service: counted up, never given twice.",
} as const satisfies Record<string, string>;

/** Kinds of id that a collection can make. */
export type IdKind = keyof typeof idKinds;

const randomBytesPerId = 16;
const idsPerDraw = 256;
const maxSequence = 2 ** 32 - 1;

/**
 * Gives a function that makes UUIDs of version 7 in lower case. Each sorts after the one before, also within
 * one millisecond and when the clock goes back.
 */
export function createUuidSource(now: () => number = Date.now): () => string {
  // `v7()` alone draws random bytes from the system for every id, which is five times as slow as a pool.
  const pool = new Uint8Array(randomBytesPerId * idsPerDraw);
  let used = pool.length;
  let msecs = -1;
  let seq = 0;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const random = pool.subarray(used, used + randomBytesPerId);
    used += randomBytesPerId;
    const time = now();
    if (time > msecs) {
      msecs = time;
      seq = firstSequence(random);
    } else if (seq < maxSequence) {
      seq += 1;
    } else {
      msecs += 1;
      seq = firstSequence(random);
    }
    return v7({ msecs, seq, random });
  };
}

/** A random start in the lower half, so that a millisecond has room for two thousand million more. */
function firstSequence(random: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = random;
  return ((a & 0x7f) << 24) | (b << 16) | (c << 8) | d;
}

const anyId = /^[A-Za-z0-9._~-]{1,128}$/;
const integerText = /^(?:0|-?[1-9][0-9]{0,15})$/;

/** The text of an id that arrives from outside, or `undefined` when a collection of this kind cannot keep it. */
export function fitId(kind: IdKind, value: unknown): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== "string") return undefined;
  if (kind === "integer") return isIntegerId(value) ? value : undefined;
  // A path that ends in a dot segment never reaches us: clients take it out (RFC 3986 section 5.2.4).
  return anyId.test(value) && value !== "." && value !== ".." ? value : undefined;
}

function isIntegerId(text: string): boolean {
  return integerText.test(text) && Number.isSafeInteger(Number(text));
}

/** The JSON text of an id: `"abc"`, or `5` in a collection of integers. */
export function idJson(kind: IdKind, id: string): string {
  return kind === "integer" ? id : JSON.stringify(id);
}

/**
 * Whether an `id` member means the resource at this path: as equal text, or as the number whose shortest text
 * it is. The same for every kind, since an imported id keeps its text.
 */
export function sameId(bodyId: unknown, pathId: string): boolean {
  return typeof bodyId === "number" ? String(bodyId) === pathId : bodyId === pathId;
}
