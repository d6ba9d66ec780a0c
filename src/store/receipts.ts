/** Receipts, as all stores handle them: their limits, and how an erasure finds those about a resource. */

/** The limits of receipts. */
export interface ReceiptLimits {
  /** The most receipts. At the limit, a store refuses new ones. If it removed an old one, a retry could repeat the write. */
  keys: number;
  /** The most bytes of all responses together. Above the limit, the oldest receipts lose their responses. */
  answers: number;
  /** The most bytes of one response. The store does not keep a longer response. */
  answer: number;
}

/** The default limits. A receipt without its response takes about 0.4 KB on the disk, so the receipts take at most 4 GB. */
export const receiptLimits: ReceiptLimits = {
  keys: 10_000_000,
  answers: 256 * 1024 ** 2,
  answer: 2 * 1024 ** 2,
};

/** Texts by which the receipts about a resource are found. */
export interface ReceiptPatterns {
  /** The key of a request to the resource contains one of these. */
  inKey: readonly string[];
  /** `brief`, with a quotation mark added, contains this. */
  inBrief: string;
  /** A response with the resource contains one of these. A few other responses contain them too. */
  inAnswer: readonly string[];
}

/** The patterns for the resource with this id, and for its path. */
export function receiptPatterns(id: string): ReceiptPatterns {
  const address = `/${encodeURIComponent(id)}`;
  const values = [`"id":${JSON.stringify(id)}`, `"id":${id},`, `"id":${id}}`].map(asString);
  return {
    inKey: [`${address}"`, `${address}/`],
    inBrief: `${address}"`,
    inAnswer: [...values, `${address}"`, `${address}\\"`],
  };
}

/** The text as it appears inside a JSON string. */
function asString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
