/** Tables as a list or an export writes them. */
import { Columns, parseResource, type TableOptions, tablePieces } from "../../src/http/lists/csv.ts";

/** The CSV of resources, given as JSON texts; its columns are the fields, or every attribute. */
export function tableText(
  texts: readonly string[],
  fields?: readonly string[],
  options: TableOptions = {},
): string {
  const columns = new Columns(fields);
  if (fields === undefined) for (const text of texts) columns.add(parseResource(text));
  return [...tablePieces(columns.names, texts, options)].join("");
}
