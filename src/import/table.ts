/** The columns of a CSV input: reads its rows, decides about the types of its columns, and says what it found. */
import { formatPath, type Path } from "../collection/paths.ts";
import { StartError } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import {
  type Cell,
  CellFault,
  type CellOptions,
  type CellReader,
  type CellType,
  type ColumnSummary,
  DeclaredCells,
  OpenCells,
} from "./cells.ts";
import { type Column, rowText } from "./columns.ts";
import { isNullWord } from "./conversions.ts";
import { type ItemViolation, shownValue } from "./items.ts";

/** A column whose type was found out from its cells. */
export interface InferredColumn {
  path: Path;
  type: CellType;
}

/** What happens to columns as a whole. */
export interface TableOptions {
  /** `infer`: the cells of a column without declared types are numbers, booleans or dates, if all of them are. @default text */
  types?: "text" | "infer" | undefined;
  /** Throws StartError if stored resources have an attribute with another type than its column. @default all types are accepted */
  requireSameTypes?: ((columns: readonly InferredColumn[]) => Promise<void>) | undefined;
  /** Receives the first columns at the end of the input. */
  onColumns?: ((columns: readonly ColumnSummary[]) => void) | undefined;
}

/** The most columns that a report describes. */
export const maxReportedColumns = 1_000;

/** The columns of one input. */
export class Table {
  readonly #columns: readonly Column[];
  readonly #readers: readonly CellReader[];
  readonly #options: CellOptions & TableOptions;
  /** How many cells of each column were missing values, by its index; `undefined` if these are not asked for. */
  readonly #nulls: Map<number, number> | undefined;

  constructor(columns: readonly Column[], options: CellOptions & TableOptions) {
    this.#columns = columns;
    this.#options = options;
    this.#readers = columns.map(({ info }) =>
      info.types === undefined ? new OpenCells(options) : new DeclaredCells(info, info.types, options),
    );
    if (options.convert?.has("nulls") === true) this.#nulls = new Map();
    this.#requireConversions();
  }

  /** Throws StartError if no column can be converted, although a conversion was asked for. */
  #requireConversions(): void {
    const { convert, types, advice } = this.#options;
    const isPossible =
      types === "infer" || this.#nulls !== undefined || this.#readers.some((each) => each.isConverting);
    if (convert === undefined || isPossible) return;
    throw new StartError(
      `There is nothing to convert into: no column has an attribute that the schema declares with a type for these conversions. Declare its type, or ${advice("types", "infer")}.`,
    );
  }

  /** The number of columns. */
  get size(): number {
    return this.#columns.length;
  }

  /** Looks at a row before it is read. */
  see(cells: readonly Cell[], line: number): void {
    this.#readers.forEach((reader, index) => {
      const cell = cells[index] as Cell;
      reader.see(this.#isNull(cell) ? emptyCell : cell, line);
    });
  }

  #isNull({ text, isQuoted }: Cell): boolean {
    return this.#nulls !== undefined && !isQuoted && isNullWord(text);
  }

  /** Decides about the types of all columns, from the rows that were seen. Throws StartError. */
  async settle(): Promise<void> {
    const inferred: InferredColumn[] = [];
    for (const [index, reader] of this.#readers.entries()) {
      if (!(reader instanceof OpenCells) || !reader.hasValues) continue;
      const { path } = this.#columns[index] as Column;
      if (reader.zoneless !== undefined) throw this.#lacksZone(path, reader.zoneless);
      reader.settle();
      inferred.push({ path, type: reader.inferred });
    }
    await this.#options.requireSameTypes?.(inferred);
  }

  #lacksZone(path: Path, { line, value }: { line: number; value: string }): StartError {
    const advice = this.#options.advice("timezone", "Europe/Berlin");
    return new StartError(
      `The column ${JSON.stringify(formatPath(path))} has times without an offset from UTC, such as ${JSON.stringify(value)} on line ${line}. If they are times in Berlin, for example, ${advice}.`,
    );
  }

  /** The text of the resource of a row, or what is wrong with its cells. */
  read(cells: readonly Cell[], line: number): string | readonly ItemViolation[] {
    const violations: ItemViolation[] = [];
    const values = this.#readers.map((reader, index) => {
      const cell = cells[index] as Cell;
      if (this.#isNull(cell)) {
        this.#nulls?.set(index, (this.#nulls.get(index) ?? 0) + 1);
        return undefined;
      }
      const value = reader.read(cell, line);
      if (!(value instanceof CellFault)) return value;
      const { path } = this.#columns[index] as Column;
      violations.push({
        in: "body",
        pointer: toFragment(path),
        code: "convert",
        detail: value.detail,
        value: shownValue(cell.text),
      });
      return undefined;
    });
    return violations.length > 0 ? violations : rowText(this.#columns, values);
  }

  /** What was found in the first columns. */
  summaries(): readonly ColumnSummary[] {
    return this.#readers.slice(0, maxReportedColumns).map((reader, index) => {
      const summary = reader.summary();
      const converted = (summary.converted ?? 0) + (this.#nulls?.get(index) ?? 0);
      const name = formatPath((this.#columns[index] as Column).path);
      return { name, ...summary, ...(converted > 0 && { converted }) };
    });
  }
}

const emptyCell: Cell = { text: "", isQuoted: false };
