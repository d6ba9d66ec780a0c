/** What stores have in common about receipts: how many they keep, and what tells of a resource in them. */

/** How many receipts there may be, and how much of their answers. */
export interface ReceiptBounds {
  /** Beyond it no new one is taken: to forget an old one would let its write happen twice. */
  keys: number;
  /** Of all answers in bytes. Beyond it the oldest go, and their receipts stay without. */
  answers: number;
  /** Of one answer in bytes; a longer one is not kept at all. */
  answer: number;
}

/** The program's bounds: a receipt without its answer takes about 0.4 KB on the disk, so that all of them take 4 GB. */
export const receiptBounds: ReceiptBounds = {
  keys: 10_000_000,
  answers: 256 * 1024 ** 2,
  answer: 2 * 1024 ** 2,
};

/** What tells of a resource. */
export interface Traces {
  /** Texts in the keys of receipts. */
  inKey: readonly string[];
  /** The end of what is left of an answer, with a quotation mark behind it. */
  inBrief: string;
  /** Texts in answers; a few that have one are of others. */
  inAnswer: readonly string[];
}

/** What tells of the resource of an id, or of its address. */
export function tracesOf(id: string): Traces {
  const address = `/${encodeURIComponent(id)}`;
  const values = [`"id":${JSON.stringify(id)}`, `"id":${id},`, `"id":${id}}`].map(asString);
  return {
    inKey: [`${address}"`, `${address}/`],
    inBrief: `${address}"`,
    inAnswer: [...values, `${address}"`, `${address}\\"`],
  };
}

/** As it appears within a JSON string. */
function asString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
