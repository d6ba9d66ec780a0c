/**
 * The options of an import. A row of this table has all about one option: how the command and the service take it, what the help and the
 * OpenAPI document say of it, and what is wrong with its text. The command, the query parameters and the OpenAPI document read the table.
 */
import { attributeInfo } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { type Path, parsePath } from "../collection/paths.ts";
import { type TimeZone, timeZone } from "../collection/time-zones.ts";
import { timestampNames } from "../collection/timestamps.ts";
import type { Unique } from "../collection/unique.ts";
import { keyNamed, whyNoKey } from "../query/unique-keys.ts";
import { type Conversion, conversionNames } from "./conversions.ts";

/** Which member of an item is the id of its resource. `none`: no item has an id. */
export type IdMember = Path | "none";

/** How an import replaces ids that do not fit the collection. */
export interface NewIds {
  /** The attribute that keeps the old id. @default the old id is lost */
  keepIn?: string;
}

/** What an option is, or what is wrong with its text. A fault completes a sentence that begins with the name of the option. */
type Read<Value> = { value: Value } | { fault: string };

/** What the value of an option can depend on. */
export interface OptionContext {
  /** Without one, the checks that need a collection are left out. */
  collection?: Collection | undefined;
  /** The texts of all options that are given. */
  given: ImportTexts;
}

interface Row<Value> {
  /** How the command takes it. The query parameter and the option of the client have the same name in camel case. */
  flag: string;
  /** What `--help` says. */
  about: string;
  /** What the OpenAPI document says. */
  description: string;
  schema: { type: "string" | "boolean"; enum?: readonly string[]; default?: string | boolean };
  /** The only format to which it applies. @default all formats */
  only?: "csv" | "json";
  /** The code of a fault. */
  code: string;
  read(text: string, context: OptionContext): Read<Value>;
}

/** An option that is on or off. The command takes it without a value. */
function onOff(row: Pick<Row<boolean>, "flag" | "about" | "description">): Row<boolean> {
  return {
    ...row,
    schema: { type: "boolean", default: false },
    code: "boolean",
    read: (text) =>
      text === "true" || text === "false" ? { value: text === "true" } : { fault: "must be true or false" },
  };
}

function row<Value>(each: Row<Value>): Row<Value> {
  return each;
}

/** The options by name, in the order of the help. */
export const importOptions = {
  dryRun: onOff({
    flag: "--dry-run",
    about: "check everything, describe the columns of CSV, and import nothing",
    description: "Checks everything, writes nothing, and returns the report.",
  }),
  skipInvalid: onOff({
    flag: "--skip-invalid",
    about: "import the valid resources, and list the invalid ones",
    description: "Imports the valid resources even if others are invalid.",
  }),
  skipHooks: onOff({
    flag: "--skip-hooks",
    about: "import the resources without the hooks of the collection",
    description: "Imports the resources without the hooks of the collection.",
  }),
  delimiter: row<string>({
    flag: "--delimiter <character>",
    about: 'character between CSV cells: ",", ";", tab, … (default: ",")',
    description: "The character between the cells of CSV, or `tab`.",
    schema: { type: "string", default: "," },
    only: "csv",
    code: "delimiter",
    read(text) {
      if (text === "tab" || text === "\\t") return { value: "\t" };
      return /^[^"\r\n\p{L}\p{N}]$/u.test(text)
        ? { value: text }
        : { fault: 'must be one character such as "," or ";", or tab' };
    },
  }),
  at: row<string>({
    flag: "--at <place>",
    about: 'where the list is in one JSON object, such as data.items; "." for the object itself',
    description:
      'Where the list of resources is, if the body is one JSON object: names with dots between them, such as `data.items`. With ".", the object itself is the resource.',
    schema: { type: "string" },
    only: "json",
    code: "at",
    read: (text) =>
      text === "." || parsePath(text) !== undefined
        ? { value: text }
        : { fault: 'must be names with dots between them, such as data.items, or "." for the object itself' },
  }),
  on: row<Unique | undefined>({
    flag: "--on <attributes>",
    about: "change the resources that have the same value in a unique attribute, such as email",
    description:
      "The attributes of a unique key, with commas between them. If a resource of the collection has the same values, that of the body changes it. Otherwise, that of the body is a new resource.",
    schema: { type: "string" },
    code: "uniqueKey",
    read(text, { collection }) {
      if (collection === undefined) return { value: undefined };
      const value = keyNamed(text.split(","), collection);
      return value === undefined ? { fault: whyNoKey(collection) } : { value };
    },
  }),
  id: row<IdMember>({
    flag: "--id <name>",
    about: "attribute or column that is the id, such as _id; none: each resource gets a new id",
    description:
      "The member of each item that is the id of its resource, such as `_id`: names with dots between them. With `none`, each resource gets a new id.",
    schema: { type: "string", default: "id" },
    code: "id",
    read(text) {
      const value = text === "none" ? text : parsePath(text);
      return value === undefined
        ? { fault: "must be the name of an attribute, such as _id, or none" }
        : { value };
    },
  }),
  ids: row<NewIds>({
    flag: "--ids <how>",
    about: "new ids for resources whose ids do not fit: replace, or keep-in:<attribute>",
    description:
      "Gives resources new ids if theirs do not fit the collection, and rewrites the references to them: `replace`, or `keep-in:` with the name of an attribute that keeps the old id. Otherwise, such resources are invalid.",
    schema: { type: "string" },
    code: "ids",
    read(text, { collection, given }) {
      const [, keepIn] = /^keep-in:(.+)$/s.exec(text) ?? [];
      if (text !== "replace" && keepIn === undefined)
        return {
          fault: "must be replace, or keep-in: with the name of an attribute, such as keep-in:oldId",
        };
      const fault = collection && keepIn !== undefined ? whyNotKept(collection, keepIn) : undefined;
      if (fault !== undefined) return { fault };
      if (given.on !== undefined)
        return {
          fault: 'cannot be combined with "on": the key finds the resources, so leave their ids out',
        };
      return { value: keepIn === undefined ? {} : { keepIn } };
    },
  }),
  types: row<"text" | "infer">({
    flag: "--types <how>",
    about: "types of CSV cells that no schema declares: text, or infer from all cells (default: text)",
    description:
      "What the cells of CSV are if the schema declares no type for their attribute. `text`: strings. `infer`: numbers, booleans or dates, if all cells of the column are, and an export gives the same text again.",
    schema: { type: "string", enum: ["text", "infer"], default: "text" },
    only: "csv",
    code: "types",
    read: (text) =>
      text === "text" || text === "infer" ? { value: text } : { fault: "must be text or infer" },
  }),
  convert: row<ReadonlySet<Conversion>>({
    flag: "--convert <what>",
    about:
      "convert CSV cells of other programs: booleans, numbers, times, arrays, nulls; several with commas",
    description:
      "What to convert in the cells of CSV, with commas between: `booleans` such as `t` and `no`, `numbers` with a decimal comma, `times` in other forms than that of the service, `arrays` of PostgreSQL. With `nulls`, `\\N` and `NULL` without quotes become missing attributes. The others apply to attributes whose declared type asks for it, and with `types=infer` to columns in which every cell converts.",
    schema: { type: "string" },
    only: "csv",
    code: "convert",
    read(text) {
      const named = text.split(",");
      const value = new Set(conversionNames.filter((name) => named.includes(name)));
      return value.size === named.length
        ? { value }
        : { fault: `must be some of ${conversionNames.join(", ")}, with commas between them` };
    },
  }),
  timezone: row<TimeZone>({
    flag: "--timezone <name>",
    about: "with --convert times: time zone of times without an offset, such as Europe/Berlin",
    description:
      "With `convert=times`: the time zone of times without an offset from UTC, as a name of the IANA database such as `Europe/Berlin`. Without it, such times are refused.",
    schema: { type: "string" },
    only: "csv",
    code: "timezone",
    read(text, { given: { convert } }) {
      if (convert?.split(",").includes("times") !== true)
        return { fault: "applies only to the conversion of times" };
      const value = timeZone(text);
      return value === undefined
        ? { fault: "must be the name of a time zone, such as Europe/Berlin or UTC" }
        : { value };
    },
  }),
} as const satisfies Readonly<Record<string, Row<unknown>>>;

/** The name of an option, as in a query. */
export type ImportOptionName = keyof typeof importOptions;

/** The names of all options. */
export const importOptionNames = Object.keys(importOptions) as readonly ImportOptionName[];

/** Options as a request or a command line has them. */
export type ImportTexts = Partial<Readonly<Record<ImportOptionName, string>>>;

/** The values of the options that are given. */
export type ImportOptions = {
  readonly [Name in ImportOptionName]?: (typeof importOptions)[Name] extends Row<infer Value>
    ? Value | undefined
    : never;
};

/** What the reader of options must know of its caller, and where it reports faults. */
export interface OptionReader {
  collection?: Collection | undefined;
  isCsv: boolean;
  /** What to say of an option of another format. Completes a sentence that begins with the name of the option. */
  otherFormat: Readonly<Record<"csv" | "json", string>>;
  /** Takes a fault. If it returns, the option has no value, and the others are read. */
  refuse(name: ImportOptionName, code: string, detail: string): void;
}

/** The values of all options that are given. */
export function readImportOptions(
  given: ImportTexts,
  { collection, isCsv, otherFormat, refuse }: OptionReader,
): ImportOptions {
  const values: Partial<Record<ImportOptionName, unknown>> = {};
  for (const name of importOptionNames) {
    const text = given[name];
    if (text === undefined) continue;
    const { only, code, read }: Row<unknown> = importOptions[name];
    const result = read(text, { collection, given });
    if ("fault" in result) refuse(name, code, result.fault);
    else if (only !== undefined && (only === "csv") !== isCsv) refuse(name, code, otherFormat[only]);
    else values[name] = result.value;
  }
  return values as ImportOptions;
}

/** Why no resource of the collection can keep its old id in the attribute; `undefined` if it can. */
function whyNotKept(collection: Collection, keepIn: string): string | undefined {
  const named = JSON.stringify(keepIn);
  if (keepIn === "id") return "names the id itself: name another attribute";
  if (collection.timestamps && (timestampNames as readonly string[]).includes(keepIn))
    return `names ${named}, which the service writes: name another attribute`;
  if (attributeInfo(collection, [keepIn]).alternatives === undefined) return undefined;
  return `names ${named}, which is not an attribute of ${collection.name}: declare it, or name another one`;
}
