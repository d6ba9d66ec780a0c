/**
 * Reads the cells of one column of CSV. If the schema declares the types of its attribute, they decide. Otherwise, each cell is a text,
 * or with `types=infer` what all cells of the column are: numbers, booleans or dates that come back from an export as the same text.
 */

import type { AttributeInfo, AttributeType } from "../collection/attributes.ts";
import { isDate, isTimestamp } from "../collection/dates.ts";
import { withoutGuard } from "../collection/formula-guard.ts";
import type { TimeZone } from "../collection/time-zones.ts";
import {
  type Conversion,
  type PostgresArray,
  readBoolean,
  readCommaNumber,
  readPostgresArray,
} from "./conversions.ts";
import type { Advice } from "./items.ts";
import { readTime } from "./times.ts";

/** One cell of a row. */
export interface Cell {
  text: string;
  isQuoted: boolean;
}

/** How cells are read. */
export interface CellOptions {
  /** The conversions that were asked for. @default none */
  convert?: ReadonlySet<Conversion> | undefined;
  /** The time zone of times without an offset from UTC. @default they are not converted */
  timezone?: TimeZone | undefined;
  /** How to set an option, for a message. */
  advice: Advice;
}

/** What all cells of a column can be. */
export type CellType = "number" | "boolean" | "date" | "string";

/** What an import found in a column of CSV, and what it does with it. */
export interface ColumnSummary {
  /** The attribute. */
  name: string;
  /** The types that its values are stored with. A date is a string that is a date. */
  types: readonly (AttributeType | CellType)[];
  /** The type that `types=infer` gives. Absent if the schema declares the types. */
  inferred?: CellType;
  /** How many cells read as each type. Absent if the schema declares the types. */
  found?: Readonly<Record<CellType | "empty", number>>;
  /** The first cell that keeps the column from another type than `string`. Absent without one. */
  prevents?: { line: number; value: string; detail?: string };
  /** How many cells were converted. Absent if none was. */
  converted?: number;
  /** How many of these had digits below milliseconds, which were cut off. Absent if none had. */
  cut?: number;
}

/** Why a cell has no value. The text completes a sentence that begins with the attribute. */
export class CellFault {
  readonly detail: string;

  constructor(detail: string) {
    this.detail = detail;
  }
}

/** The JSON text of a cell; `undefined` if it is empty. */
export type CellValue = string | undefined | CellFault;

/** A column, and what was found in it. */
export interface CellReader {
  /** Whether its declared type asks for a conversion. */
  readonly isConverting: boolean;
  /** Looks at a cell before all cells are read. */
  see(cell: Cell, line: number): void;
  read(cell: Cell, line: number): CellValue;
  summary(): Omit<ColumnSummary, "name">;
}

const numberShape = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;

/** A column whose types the schema declares. */
export class DeclaredCells implements CellReader {
  readonly #types: ReadonlySet<AttributeType>;
  readonly #info: AttributeInfo;
  readonly #converters: readonly Converter[];
  #converted = 0;
  #cut = 0;

  constructor(info: AttributeInfo, types: ReadonlySet<AttributeType>, options: CellOptions) {
    this.#info = info;
    this.#types = types;
    this.#converters = convertersFor(info, types, options);
  }

  get isConverting(): boolean {
    return this.#converters.length > 0;
  }

  see(): void {}

  /**
   * If a cell fits none of the types, it is a string, and the schema reports it, unless a conversion was asked for. If the attribute can be a
   * string, a cell in quotes is one.
   */
  read({ text, isQuoted }: Cell, line: number): CellValue {
    const types = this.#types;
    const isQuotedString = isQuoted && types.has("string");
    if (text === "") return isQuotedString ? '""' : undefined;
    const json = structureJson(text, types) ?? (isQuotedString ? undefined : scalarJson(text, types));
    if (this.#converters.length === 0) return json ?? JSON.stringify(withoutGuard(text));
    const trimmed = text.trim();
    const fitting = json ?? (this.#fits(text) ? JSON.stringify(text) : undefined);
    if (fitting !== undefined) return pointFault(this.#converters, trimmed, line) ?? fitting;
    return this.#convert(trimmed, line);
  }

  /** Whether a text is already one that the schema allows. */
  #fits(text: string): boolean {
    const { declared } = this.#info;
    return declared?.type.isValue(text, declared.forms) === true;
  }

  #convert(text: string, line: number): CellValue {
    const results = this.#converters.map((each) => each.convert(text, line));
    const found = results.find((each) => each !== undefined && !("fault" in each)) ?? results.find(Boolean);
    if (found === undefined)
      return new CellFault(`is not ${this.#converters.map(({ forms }) => forms).join(", or ")}`);
    if ("fault" in found) return new CellFault(found.fault);
    this.#converted++;
    if (found.isCut === true) this.#cut++;
    return found.json;
  }

  summary(): Omit<ColumnSummary, "name"> {
    const { declared } = this.#info;
    const isDate = declared?.type.name === "date";
    return {
      types: [...this.#types].map((each) => (each === "string" && isDate ? "date" : each)),
      ...(this.#converted > 0 && { converted: this.#converted }),
      ...(this.#cut > 0 && { cut: this.#cut }),
    };
  }
}

/** A number keeps its digits: the JSON parser refuses a number that cannot be stored exactly. */
function scalarJson(text: string, types: ReadonlySet<AttributeType>): string | undefined {
  // Spreadsheets write TRUE and FALSE, and can add spaces around a number. A string must stay as it is.
  const value = types.has("string") ? text : text.trim().toLowerCase();
  if (value === "null" && types.has("null")) return value;
  if ((value === "true" || value === "false") && types.has("boolean")) return value;
  return types.has("number") && numberShape.test(value) ? value : undefined;
}

function structureJson(text: string, types: ReadonlySet<AttributeType>): string | undefined {
  const [first] = text.trimStart();
  const canBe = (first === "[" && types.has("array")) || (first === "{" && types.has("object"));
  if (!canBe) return undefined;
  try {
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

/** A converted value, or why a text is ambiguous or impossible; `undefined` if the text has another form. */
type Conversed = { json: string; isCut?: boolean } | { fault: string } | undefined;

/** A conversion of one column. */
interface Converter {
  /** What it reads. Completes a sentence that begins with “is not”. */
  forms: string;
  convert(text: string, line: number): Conversed;
  /** Where the column has a decimal comma. Only the conversion of numbers knows. */
  separators?: Separators;
}

/** The conversions for which the schema of a column asks. A column that can be any string needs none. */
function convertersFor(
  info: AttributeInfo,
  types: ReadonlySet<AttributeType>,
  options: CellOptions,
): Converter[] {
  const { convert = new Set(), timezone, advice } = options;
  const isAsked = (name: Conversion, isWanted: boolean | undefined) => convert.has(name) && isWanted === true;
  const isText = types.has("string");
  const converters: Converter[] = [];
  if (isAsked("booleans", types.has("boolean") && !isText)) converters.push(toBooleans(!types.has("number")));
  const isTextNumber = info.declared?.type.arithmetic !== undefined;
  if (isAsked("numbers", (types.has("number") && !isText) || isTextNumber))
    converters.push(toNumbers(isTextNumber));
  if (isAsked("times", isText && info.declared?.forms.has("time")))
    converters.push(toTimes(timezone, advice));
  if (isAsked("arrays", types.has("array") && !isText)) converters.push(toArrays(info, options));
  return converters;
}

function toBooleans(withDigits: boolean): Converter {
  return {
    forms: `true or false, t or f, yes or no${withDigits ? ", 1 or 0" : ""}`,
    convert(text) {
      const json = readBoolean(text, { withDigits });
      return json === undefined ? undefined : { json };
    },
  };
}

/** The lines of the first number with a decimal comma and of the first one with a point. A column has only one of them. */
interface Separators {
  comma?: number;
  point?: number;
}

/** `isText`: they are texts in JSON. */
function toNumbers(isText: boolean): Converter {
  const separators: Separators = {};
  return {
    forms: "a number, such as 12.5 or 12,5",
    separators,
    convert(text, line) {
      const read = readCommaNumber(text);
      if (read === undefined || "fault" in read) return read;
      if (separators.point !== undefined)
        return { fault: `has a decimal comma, but line ${separators.point} has a decimal point` };
      separators.comma ??= line;
      return { json: isText ? JSON.stringify(read.json) : read.json };
    },
  };
}

/** What is wrong with a number that has a decimal point, in a column with decimal commas. */
function pointFault(converters: readonly Converter[], text: string, line: number): CellFault | undefined {
  if (!text.includes(".")) return undefined;
  const separators = converters.find((each) => each.separators !== undefined)?.separators;
  if (separators === undefined) return undefined;
  separators.point ??= line;
  return separators.comma === undefined
    ? undefined
    : new CellFault(`has a decimal point, but line ${separators.comma} has a decimal comma`);
}

function toTimes(zone: TimeZone | undefined, advice: Advice): Converter {
  return {
    forms: "a time such as 2026-01-31T08:30:00.000Z or 2026-01-31 08:30:00+00",
    convert(text) {
      const time = readTime(text, zone);
      if (time === undefined) return undefined;
      if ("fault" in time)
        return { fault: `${time.fault}${time.lacksZone ? `. ${zoneAdvice(advice)}` : ""}` };
      return { json: JSON.stringify(time.text), isCut: time.isCut };
    },
  };
}

function zoneAdvice(advice: Advice): string {
  return `If it is a time in Berlin, for example, ${advice("timezone", "Europe/Berlin")}`;
}

function toArrays({ itemTypes, declaredItems }: AttributeInfo, options: CellOptions): Converter {
  const forms = "an array, such as [1,2] or {1,2}";
  const types = itemTypes ?? new Set<AttributeType>(["string", "null"]);
  const items = convertersFor(
    { isDeclared: true, types, alternatives: undefined, declared: declaredItems },
    types,
    {
      ...options,
      convert: new Set([...(options.convert ?? []), "booleans"]),
    },
  );
  /** The JSON text of an item, or what is wrong with it. */
  const itemJson = (item: string | null | PostgresArray, line: number): string | { fault: string } => {
    if (item === null) return "null";
    if (typeof item !== "string") return arrayJson(item, line);
    const json = types.has("string") ? undefined : scalarJson(item, types);
    if (json !== undefined) return json;
    const converted = items.map((each) => each.convert(item, line)).find(Boolean);
    if (converted === undefined) return JSON.stringify(item);
    return "fault" in converted ? converted : converted.json;
  };
  const arrayJson = (array: PostgresArray, line: number): string | { fault: string } => {
    const texts = array.map((each) => itemJson(each, line));
    return texts.find((each) => typeof each !== "string") ?? `[${texts.join(",")}]`;
  };
  return {
    forms,
    convert(text, line) {
      const array = readPostgresArray(text);
      if (array === undefined) return undefined;
      const json = arrayJson(array, line);
      return typeof json === "string" ? { json } : { fault: `has an item that ${json.fault}` };
    },
  };
}

/** The most characters of a cell in a summary. */
const maxValue = 100;

/** A cell that is an example of a type. */
interface Example {
  line: number;
  value: string;
  detail?: string;
}

/** What a text is. */
interface Sight {
  type: CellType;
  isConverted?: true;
  /** The separator of a fraction. */
  separator?: "comma" | "point";
  /** Why a text that looks like another type is a string. */
  detail?: string;
  lacksZone?: true;
}

/** How many cells are of each type, and the first of each. */
class Votes {
  readonly counts: Record<CellType, number> = { number: 0, boolean: 0, date: 0, string: 0 };
  readonly first: Partial<Record<CellType, Example>> = {};
  /** Times without an offset from UTC. They count as strings. */
  zoneless = 0;
  firstZoneless: Example | undefined;
  firstComma: Example | undefined;
  firstPoint: Example | undefined;

  add({ type, separator, detail, lacksZone }: Sight, text: string, line: number): void {
    this.counts[type]++;
    this.first[type] ??= exampleOf(text, line, detail);
    if (separator === "comma") this.firstComma ??= exampleOf(text, line);
    if (separator === "point") this.firstPoint ??= exampleOf(text, line);
    if (lacksZone === undefined) return;
    this.zoneless++;
    this.firstZoneless ??= exampleOf(text, line);
  }

  get all(): number {
    const { number, boolean, date, string } = this.counts;
    return number + boolean + date + string;
  }
}

function exampleOf(text: string, line: number, detail?: string): Example {
  // A part of a string would keep the whole of it in memory.
  const value = text.length > maxValue ? Buffer.from(text.slice(0, maxValue)).toString() : text;
  return { line, value, ...(detail !== undefined && { detail }) };
}

/** What most texts are. */
const sights = {
  string: { type: "string" },
  integer: { type: "number" },
  fraction: { type: "number", separator: "point" },
  boolean: { type: "boolean" },
  date: { type: "date" },
} as const satisfies Record<string, Sight>;

/** A column whose types no schema declares. */
export class OpenCells implements CellReader {
  readonly isConverting = false;
  readonly #options: CellOptions;
  readonly #unquoted = new Votes();
  readonly #quoted = new Votes();
  #empty = 0;
  #firstQuotedEmpty: Example | undefined;
  #quotedEmpty = 0;
  /** The type that all cells have. @default each cell is a text */
  #type: CellType = "string";
  #converted = 0;
  #cut = 0;

  constructor(options: CellOptions) {
    this.#options = options;
  }

  see({ text, isQuoted }: Cell, line: number): void {
    if (text !== "") (isQuoted ? this.#quoted : this.#unquoted).add(this.#sightOf(text), text, line);
    else if (isQuoted) {
      this.#quotedEmpty++;
      this.#firstQuotedEmpty ??= { line, value: "" };
    } else this.#empty++;
  }

  /** What a text is, by itself. */
  #sightOf(text: string): Sight {
    if (isSameNumber(text)) return text.includes(".") ? sights.fraction : sights.integer;
    if (text === "true" || text === "false") return sights.boolean;
    if (isDate(text) || isTimestamp(text)) return sights.date;
    const { convert, timezone } = this.#options;
    if (convert === undefined) return sights.string;
    if (convert.has("booleans") && readBoolean(text, { withDigits: false }) !== undefined)
      return { type: "boolean", isConverted: true };
    const number = convert.has("numbers") ? readCommaNumber(text) : undefined;
    if (number !== undefined && "fault" in number) return { type: "string", detail: number.fault };
    if (number !== undefined && isSameNumber(withoutZeros(number.json)))
      return { type: "number", isConverted: true, separator: "comma" };
    const time = convert.has("times") ? readTime(text, timezone) : undefined;
    if (time === undefined) return sights.string;
    if ("fault" in time)
      return { type: "string", detail: time.fault, ...(time.lacksZone && { lacksZone: true }) };
    return { type: "date", isConverted: true };
  }

  /** Whether every cell with a text is in quotes. Then the quotes say nothing about types. */
  get #isAllQuoted(): boolean {
    const hasEmptyText = this.#quotedEmpty > 0 && this.#empty > 0;
    return this.#unquoted.all === 0 && this.#quoted.all > 0 && !hasEmptyText;
  }

  get #votes(): Votes {
    return this.#isAllQuoted ? this.#quoted : this.#unquoted;
  }

  /** The type that `types=infer` gives to the cells that were seen. */
  get inferred(): CellType {
    const { counts, firstComma, firstPoint } = this.#votes;
    const found = (Object.keys(counts) as CellType[]).filter((type) => this.#counts[type] > 0);
    const [only = "string", other] = found;
    if (other !== undefined || (firstComma !== undefined && firstPoint !== undefined)) return "string";
    return only;
  }

  get #counts(): Record<CellType, number> {
    const { counts } = this.#votes;
    const inQuotes = this.#isAllQuoted ? 0 : this.#quoted.all + this.#quotedEmpty;
    return { ...counts, string: counts.string + inQuotes };
  }

  /** Whether the column has a value. */
  get hasValues(): boolean {
    return this.#unquoted.all + this.#quoted.all + this.#quotedEmpty > 0;
  }

  /** A time without an offset from UTC, if all cells are dates but for such times. */
  get zoneless(): { line: number; value: string } | undefined {
    const { zoneless, firstZoneless } = this.#votes;
    const { number, boolean, string } = this.#counts;
    return number + boolean === 0 && string === zoneless ? firstZoneless : undefined;
  }

  /** Reads the cells from now on as the type that all of them have. */
  settle(): void {
    this.#type = this.inferred;
  }

  read({ text, isQuoted }: Cell): CellValue {
    if (text === "") return isQuoted && this.#type === "string" ? '""' : undefined;
    if (this.#type === "string") return JSON.stringify(withoutGuard(text));
    const { convert, timezone } = this.#options;
    const { type, isConverted } = convert === undefined ? { type: this.#type } : this.#sightOf(text);
    if (isConverted === undefined) return type === "date" ? JSON.stringify(text) : text;
    this.#converted++;
    if (type === "boolean") return readBoolean(text, { withDigits: false });
    if (type === "number") return text.replace(",", ".");
    const time = readTime(text, timezone) as { text: string; isCut: boolean };
    if (time.isCut) this.#cut++;
    return JSON.stringify(time.text);
  }

  summary(): Omit<ColumnSummary, "name"> {
    const { inferred } = this;
    const prevents = this.#preventing();
    return {
      types: [this.#type],
      inferred,
      found: { ...this.#counts, empty: this.#empty + (this.#isAllQuoted ? this.#quotedEmpty : 0) },
      ...(inferred === "string" && prevents && { prevents }),
      ...(this.#converted > 0 && { converted: this.#converted }),
      ...(this.#cut > 0 && { cut: this.#cut }),
    };
  }

  /** The first cell that is not of the type of most other cells. */
  #preventing(): Example | undefined {
    const { first, firstComma, firstPoint } = this.#votes;
    if (firstComma !== undefined && firstPoint !== undefined) {
      const later = firstComma.line > firstPoint.line ? firstComma : firstPoint;
      return {
        ...later,
        detail: "is written in another way than others: the column has decimal commas and decimal points",
      };
    }
    if (!this.#isAllQuoted && this.#quoted.all + this.#quotedEmpty > 0 && first.string === undefined) {
      const [quoted] = [...Object.values(this.#quoted.first), this.#firstQuotedEmpty]
        .filter((each) => each !== undefined)
        .sort((a, b) => a.line - b.line);
      return quoted && { ...quoted, detail: "is in quotes, and other cells are not" };
    }
    if (first.string !== undefined) return first.string;
    const { number, boolean, date } = this.#counts;
    const most = Math.max(number, boolean, date);
    const [least] = (["number", "boolean", "date"] as const)
      .filter((type) => this.#counts[type] > 0)
      .sort((a, b) => Number(this.#counts[a] === most) - Number(this.#counts[b] === most));
    return least && first[least];
  }
}

/** Whether a text is the one that an export writes for its number. */
function isSameNumber(text: string): boolean {
  const code = text.charCodeAt(0);
  if (code !== 0x2d && (code < 0x30 || code > 0x39)) return false; // most texts
  const number = Number(text);
  if (String(number) !== text || !Number.isFinite(number)) return false;
  return !Number.isInteger(number) || Number.isSafeInteger(number);
}

/** A number without the zeros at the end of its fraction. */
function withoutZeros(number: string): string {
  return number.replace(/\.?0+$/, "");
}
