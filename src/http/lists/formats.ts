/** The formats of a list other than a JSON array: NDJSON and CSV. */

/** The Content-Type of each format, by the media type in Accept. */
export const formats = {
  "application/x-ndjson": { contentType: "application/x-ndjson; charset=utf-8" },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present" },
} as const satisfies Record<string, { contentType: string }>;

/** The media type of a format. */
export type ListFormat = keyof typeof formats;

/** NDJSON: a line for each JSON text. */
export function ndjson(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}
