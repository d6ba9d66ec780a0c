/** What the cells of a row stand for. */
import type { AttributeType } from "../../collection/attributes.ts";
import type { Path } from "../../collection/paths.ts";
import { withoutGuard } from "../../http/lists/csv.ts";

/** What one column holds. */
export interface Column {
  path: Path;
  /** The types that its attribute may have. Where nobody says, every cell is a string. */
  types: Types;
}

type Types = ReadonlySet<AttributeType> | undefined;

const textOnly: ReadonlySet<AttributeType> = new Set(["string"]);

/** One cell of a row. */
export interface Cell {
  text: string;
  isQuoted: boolean;
}

/** The JSON text of the object that a row stands for. A dotted name makes an object in the object. */
export function rowText(columns: readonly Column[], cells: readonly Cell[]): string {
  const root: Members = new Map();
  columns.forEach(({ path, types }, index) => {
    const json = cellJson(cells[index] as Cell, types);
    if (json !== undefined) membersAt(root, path.slice(0, -1)).set(path.at(-1) as string, json);
  });
  return membersJson(root);
}

/** Texts of values, or the members of an object. */
type Members = Map<string, string | Members>;

function membersAt(root: Members, names: readonly string[]): Members {
  let members = root;
  for (const name of names) {
    const inner = members.get(name);
    const next: Members = inner instanceof Map ? inner : new Map();
    if (next !== inner) members.set(name, next);
    members = next;
  }
  return members;
}

function membersJson(members: Members): string {
  const texts = [...members].map(
    ([name, value]) => `${JSON.stringify(name)}:${typeof value === "string" ? value : membersJson(value)}`,
  );
  return `{${texts.join(",")}}`;
}

/**
 * The JSON text of a cell's value, `undefined` for an empty cell. A cell that fits none of the types is a string: the
 * schema then says what is wrong with it. Where the attribute may also be a string, quotes make a cell one.
 */
export function cellJson({ text, isQuoted }: Cell, types = textOnly): string | undefined {
  const mayBeText = types.has("string");
  if (text === "") return isQuoted && mayBeText ? '""' : undefined;
  const json = structureJson(text, types) ?? (isQuoted && mayBeText ? undefined : scalarJson(text, types));
  return json ?? JSON.stringify(withoutGuard(text));
}

const numberShape = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;

/** Numbers go on as they are written: the JSON gate refuses those that cannot be kept exactly. */
function scalarJson(text: string, types: ReadonlySet<AttributeType>): string | undefined {
  // Spreadsheets write TRUE and FALSE, and may leave blanks around a number; a text must not lose its spelling.
  const value = types.has("string") ? text : text.trim().toLowerCase();
  if (value === "null" && types.has("null")) return value;
  if ((value === "true" || value === "false") && types.has("boolean")) return value;
  return types.has("number") && numberShape.test(value) ? value : undefined;
}

function structureJson(text: string, types: ReadonlySet<AttributeType>): string | undefined {
  const [first] = text.trimStart();
  const isMeant = (first === "[" && types.has("array")) || (first === "{" && types.has("object"));
  return isMeant && isJson(text) ? text : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
