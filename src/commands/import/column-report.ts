/** Says what an import found in the columns of CSV. */
import type { ColumnSummary } from "../../import/cells.ts";
import { counted } from "../wording.ts";

/** The most columns that are listed. */
const maxListed = 100;

/** A line for each column: what it is stored as, what `--types infer` would make of it, and what was converted. */
export function columnLines(columns: readonly ColumnSummary[]): string[] {
  const width = Math.max(...columns.slice(0, maxListed).map(({ name }) => name.length), 0);
  const lines = columns
    .slice(0, maxListed)
    .map((column) => `  ${column.name.padEnd(width)}  ${describeColumn(column)}`);
  const more = columns.length - lines.length;
  return more > 0 ? [...lines, `  and ${counted(more, "column")} more`] : lines;
}

function describeColumn(column: ColumnSummary): string {
  const { types, inferred, prevents } = column;
  const stored = types.map((type) => (type === "string" ? "text" : type)).join(" or ");
  const notes = [];
  if (inferred !== undefined && inferred !== types[0]) notes.push(`--types infer makes ${inferred}s of it`);
  const seen = isMixed(column) ? foundIn(column) : "";
  if (prevents !== undefined && seen !== "") {
    const why = prevents.detail === undefined ? "" : `, which ${prevents.detail}`;
    notes.push(`${seen}; line ${prevents.line} has ${JSON.stringify(prevents.value)}${why}`);
  }
  return [stored, ...notes, ...conversionsOf(column)].join("; ");
}

/** Whether the cells of a text column look like more than texts, or it is unclear why they are texts. */
function isMixed({ found, prevents }: ColumnSummary): boolean {
  if (found === undefined) return false;
  const { string, empty: _, ...others } = found;
  return prevents?.detail !== undefined || Object.values(others).some((count) => count > 0);
}

function foundIn({ found }: ColumnSummary): string {
  const { empty: _, ...types } = found ?? { empty: 0 };
  return Object.entries(types)
    .filter(([, count]) => count > 0)
    .map(([type, count]) => counted(count, type === "string" ? "text" : type))
    .join(", ");
}

/** What was converted in a column. */
function conversionsOf({ converted = 0, cut = 0 }: ColumnSummary): string[] {
  const cuts = cut === 0 ? "" : `, ${cut.toLocaleString("en")} of them cut to milliseconds`;
  return converted === 0 ? [] : [`${converted.toLocaleString("en")} converted${cuts}`];
}

/** What the report of an import says about columns: which were converted, and which have values of other types as texts. */
export function columnNotes(columns: readonly ColumnSummary[]): string[] {
  const converted = columns
    .filter((column) => conversionsOf(column).length > 0)
    .map((column) => `${column.name}: ${conversionsOf(column)}`);
  const asText = columns
    .filter(
      ({ types, inferred }) => types[0] === "string" && (inferred === "number" || inferred === "boolean"),
    )
    .map(({ name }) => name);
  if (asText.length === 0) return converted;
  const names = `${asText.slice(0, maxNamed).join(", ")}${asText.length > maxNamed ? ", …" : ""}`;
  return [
    ...converted,
    `every cell is stored as a text, also those of ${names}. --types infer makes numbers and booleans of them`,
  ];
}

/** The most columns in a sentence. */
const maxNamed = 10;
