/** From what a client wrote about an attribute to a condition: values become what the attribute can be. */
import { type AttributeType, typeOf } from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { fitId, type IdKind } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, isIdPath, type Path, parsePath } from "../collection/paths.ts";
import { askedFacts } from "./asked-facts.ts";
import type { Faults, Place } from "./faults.ts";
import type { Condition, Filter, Scalar } from "./filter.ts";
import { hintFor } from "./hints.ts";
import { legacySuffixes, type OperatorName, operators } from "./operators.ts";
import { listParameters, type Parameters } from "./parameters.ts";

/** Bounds of one filter: what it costs a store grows with each. */
export const filterLimits = {
  conditions: 100,
  groups: 100,
  depth: 10,
  values: 1_000,
  pathNames: 64,
  nameLength: 1_000,
} as const;

/** Conditions, groups (`and`, `or`, `not`) and values of a filter so far. */
export interface Used {
  conditions: number;
  groups: number;
  values: number;
}

/** What a reading begins with. */
export function nothingUsed(): Used {
  return { conditions: 0, groups: 0, values: 0 };
}

/** The reading of one request. */
export interface Reading {
  collection: Collection;
  faults: Faults;
  used: Used;
  /** The query string, if there is one. Hints use it. */
  parameters?: Parameters;
}

/** An attribute that is asked about. */
export interface Attribute {
  path: Path;
  /** The types that it can have; `undefined`: any. */
  types: ReadonlySet<AttributeType> | undefined;
  /** The kind of id, where it is the id. */
  idKind: IdKind | undefined;
}

/** The attribute of this name. If there cannot be one, adds a fault. Returns `undefined` without a look when the faults are full. */
export function readAttribute(name: string, place: Place, reading: Reading): Attribute | undefined {
  const { collection, faults } = reading;
  if (faults.isFull) return undefined;
  if (name.length > filterLimits.nameLength) {
    const most = filterLimits.nameLength.toLocaleString("en");
    faults.add(place, "attribute", `must name an attribute of at most ${most} characters`);
    return undefined;
  }
  const path = readPath(name);
  if (path === undefined) {
    faults.add(
      place,
      "attribute",
      `${naming(name, place)}is not a valid attribute name. Valid names look like "title" or "author.name"`,
    );
    return undefined;
  }
  const { types, alternatives } = askedFacts(collection, path);
  if (alternatives === undefined) {
    return { path, types, idKind: isIdPath(path) ? collection.idKind : undefined };
  }
  faults.add(place, "unknownAttribute", () =>
    unknownAttribute(name, place, { ...reading, path, alternatives }),
  );
  return undefined;
}

function readPath(name: string): Path | undefined {
  const path = parsePath(name);
  return path === undefined || path.length > filterLimits.pathNames ? undefined : path;
}

/** An attribute's name and what its legacy suffix asks; no suffix where the schema lists an attribute of the whole name. */
export function splitSuffix(name: string, collection: Collection): { name: string; operator: OperatorName } {
  const suffix = (Object.keys(legacySuffixes) as (keyof typeof legacySuffixes)[]).find(
    (each) => name.endsWith(each) && name.length > each.length,
  );
  const path = suffix === undefined ? undefined : readPath(name);
  if (suffix === undefined || path === undefined || askedFacts(collection, path).isDeclared)
    return { name, operator: "eq" };
  return { name: name.slice(0, -suffix.length), operator: legacySuffixes[suffix] };
}

/** What a text from a query string may stand for, as far as the attribute can be it. */
export function candidatesOf(text: string, operator: OperatorName, attribute: Attribute): Scalar[] {
  const { kind } = operators[operator];
  if (kind === "startsWith" || kind === "endsWith") return [text];
  if (attribute.idKind !== undefined) return idsOf([text], operator, attribute.idKind);
  const all: Scalar[] = [text, ...numberOf(text, kind === "in" || kind === "contains")];
  if (Object.hasOwn(literals, text)) all.push(literals[text as keyof typeof literals]);
  const { types } = attribute;
  if (types === undefined || (kind === "contains" && types.has("array"))) return all;
  return all.filter((each) => types.has(typeOf(each)));
}

/** Values of a JSON filter; ids take the spelling that the collection keeps. */
export function valuesOf(values: readonly Scalar[], operator: OperatorName, attribute: Attribute): Scalar[] {
  if (attribute.idKind !== undefined) return idsOf(values, operator, attribute.idKind);
  return values.map((value) => (value === 0 ? 0 : value)); // -0 is 0
}

/** The condition, counted; without a value it is true of nothing, or of everything when the operator negates. */
export function toCondition(operator: OperatorName, path: Path, values: readonly Scalar[]): Filter {
  const { kind, negated } = operators[operator];
  const condition = conditionOf(kind, path, [...new Set(values)]);
  return negated ? { kind: "not", filter: condition } : condition;
}

/** Counts a condition. Gives false, and adds a fault once, if there are too many. */
export function countCondition(values: number, place: Place, reading: Reading): boolean {
  return count({ conditions: 1, groups: 0, values }, place, reading);
}

/** Counts an `and`, `or` or `not`, as `countCondition`. Its conditions count themselves. */
export function countGroup(place: Place, reading: Reading): boolean {
  return count({ conditions: 0, groups: 1, values: 0 }, place, reading);
}

function count(more: Used, place: Place, { faults, used }: Reading): boolean {
  const before = isWithin(used);
  used.conditions += more.conditions;
  used.groups += more.groups;
  used.values += more.values;
  if (before && !isWithin(used)) faults.add(place, "filterTooLarge", tooLarge);
  return isWithin(used);
}

const tooLarge = `exceeds the limits of a filter: ${filterLimits.conditions} conditions, ${filterLimits.groups} groups (and, or, not), and ${filterLimits.values.toLocaleString("en")} values in total`;

function isWithin(used: Reading["used"]): boolean {
  const { conditions, groups, values } = filterLimits;
  return used.conditions <= conditions && used.groups <= groups && used.values <= values;
}

function conditionOf(kind: Condition["kind"], path: Path, values: readonly Scalar[]): Filter {
  const strings = values.filter((each) => typeof each === "string");
  switch (kind) {
    case "exists":
      return { kind, path, value: values[0] === true };
    case "in":
    case "contains":
      return values.length === 0 ? nothing : { kind, path, values };
    case "startsWith":
    case "endsWith":
      return strings.length === 0 ? nothing : { kind, path, values: strings };
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const comparable = values.filter((each) => typeof each === "string" || typeof each === "number");
      return comparable.length === 0 ? nothing : { kind, path, values: comparable };
    }
  }
}

const nothing: Filter = { kind: "or", filters: [] };

const literals = { true: true, false: false, null: null } as const;

const numberShape = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The number that a text is; none that no resource can have when it must be equal. */
function numberOf(text: string, exact: boolean): number[] {
  if (!numberShape.test(text)) return [];
  const number = Number(text);
  const isRounded = /^-?[0-9]+$/.test(text) && !Number.isSafeInteger(number);
  if (!Number.isFinite(number) || (exact && isRounded)) return [];
  return [number === 0 ? 0 : number]; // -0 is 0
}

/** Ids as the resources have them: numbers in a collection of integers, else strings. */
function idsOf(values: readonly Scalar[], operator: OperatorName, kind: IdKind): Scalar[] {
  const isEquality = operators[operator].kind === "in";
  return values.flatMap((value): Scalar[] => {
    if (typeof value !== "string" && typeof value !== "number") return [];
    if (kind === "integer" && !isEquality)
      return typeof value === "number" ? [value] : numberOf(value, false);
    const id = isEquality ? fitId(kind, value) : String(value);
    if (id === undefined) return [];
    return [kind === "integer" ? Number(id) : id];
  });
}

function unknownAttribute(
  name: string,
  place: Place,
  {
    collection,
    faults,
    parameters,
    path,
    alternatives,
  }: Reading & { path: Path; alternatives: readonly string[] },
): string {
  const what = `${naming(name, place)}is not an attribute of "${collection.name}".`;
  const texts = parameters?.filters.get(place.name);
  const hint =
    parameters === undefined || texts === undefined ? "" : hintFor(place.name, texts, parameters.others);
  if (hint !== "") return what + hint;
  const depth = knownDepth(collection, path);
  const start = path
    .slice(0, depth)
    .map((each) => `${each}.`)
    .join("");
  if (alternatives.length === 0) return `${what} ${shortJson(start.slice(0, -1))} has no nested attributes`;
  const known = alternatives.map((each) => start + each);
  const isParameter = place.in === "query" && place.path.length === 0;
  const wrong = formatPath(path.slice(0, depth + 1) as unknown as Path);
  const nearest = faults.suggest(wrong, () => (isParameter ? [...known, ...listParameters] : known));
  if (nearest !== "") return what + nearest;
  return known.length > maxListed ? what : `${what} Known names: ${known.join(", ")}`;
}

const maxListed = 30;

/** How many names of a path can be there. */
function knownDepth(collection: Collection, path: Path): number {
  for (let depth = 1; depth < path.length; depth++) {
    const [first, ...rest] = path.slice(0, depth) as unknown as Path;
    if (askedFacts(collection, [first, ...rest]).alternatives !== undefined) return depth - 1;
  }
  return path.length - 1;
}

/** Names what is meant where the place does not. */
function naming(name: string, place: Place): string {
  return (place.path.at(-1) ?? place.name) === name ? "" : `names ${shortJson(name)}, which `;
}
