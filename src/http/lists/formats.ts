/** The formats of a list other than a JSON array: NDJSON and CSV. */
import type { HttpRequest, StreamedBody } from "../message.ts";
import { tableOf } from "./table.ts";

/** How a list goes out in a format. */
interface Format {
  /** The Content-Type of the answer. */
  contentType: string;
  /** Makes the content of a page from the JSON texts of its resources; `fields` are the attributes that are asked for. */
  contentOf(
    texts: readonly string[],
    fields: readonly string[] | undefined,
    request: HttpRequest,
  ): string | Promise<StreamedBody>;
}

/** The formats by the media type that Accept names. */
export const formats = {
  "application/x-ndjson": {
    contentType: "application/x-ndjson; charset=utf-8",
    contentOf: (texts) => texts.map((text) => `${text}\n`).join(""),
  },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present", contentOf: tableOf },
} as const satisfies Readonly<Record<string, Format>>;

/** The media type of a format. */
export type ListFormat = keyof typeof formats;
