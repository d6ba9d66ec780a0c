/** The formats of a list other than a JSON array, for programs that read line by line, and for tables. */

/** The formats by the media type that Accept names, with the Content-Type of the answer. */
export const formats = {
  "application/x-ndjson": { contentType: "application/x-ndjson; charset=utf-8" },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present" },
} as const satisfies Record<string, { contentType: string }>;

/** The media type of a format. */
export type ListFormat = keyof typeof formats;

/** A line for each JSON text. */
export function ndjson(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}
