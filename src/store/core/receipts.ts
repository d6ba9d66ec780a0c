/** Receipts, as all stores handle them: their limits, and how an erasure finds those about a resource. */

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
