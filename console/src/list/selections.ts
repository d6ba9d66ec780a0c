/** What a list shows as a filter in JSON, for requests that take no query string. */
import type { CollectionDetails } from "holdfast-client";
import { propertiesOf, type SchemaPart } from "../service/schema.ts";
import { type Condition, type ListQuery, parameterOf, takesSeveral } from "./list-query.ts";

/** Which resources a change is for, as the service takes it. */
export type Selection = { readonly all: true } | { readonly filter: object };

type Scalar = string | number | boolean | null;

/** What `selectionOf` knows about collections. */
export interface Known {
  info: CollectionDetails | undefined;
  /** What is known about another collection. */
  infoOf(collection: string): CollectionDetails | undefined;
}

/**
 * The resources that the filters of a list match; `undefined` if only a query string can say it, as for a search. The service reads
 * the text of a filter by the schema. So does this, because the values in JSON have types.
 */
export function selectionOf({ conditions, search, filter }: ListQuery, known: Known): Selection | undefined {
  if (search !== "") return undefined;
  try {
    const byParameter = Map.groupBy(conditions, parameterOf);
    const parts = [...byParameter.values()].map((all) => conditionOf(all, known));
    if (filter !== "") parts.push(JSON.parse(filter) as object);
    const [only] = parts;
    if (only === undefined) return { all: true };
    return { filter: parts.length === 1 ? only : { and: parts } };
  } catch {
    return undefined;
  }
}

/** The filter of all conditions with one parameter. Throws an Error if JSON cannot say it. */
function conditionOf(all: readonly Condition[], known: Known): object {
  const [{ name, operator, parameter } = { name: "", operator: "eq" as const }] = all;
  const isOther = parameter !== undefined && parameter !== `${name}:${operator}`;
  if (isOther || ["and", "or", "not"].includes(name)) throw new Error(`${name} has no form in JSON.`);
  const written = all.flatMap(({ value }) => (takesSeveral(operator) ? value.split(",") : [value]));
  const [text = ""] = written;
  const part = partAt(name.split("."), known);
  switch (operator) {
    case "exists":
      return { [name]: { exists: text === "true" } };
    case "any":
      return { [name]: { any: JSON.parse(text) } };
    case "eqi":
    case "ini":
      return { [name]: { ini: written } };
    case "startsWith":
    case "endsWith":
    case "containsi":
    case "startsWithi":
      return { [name]: { [operator]: text } };
    case "eq":
    case "in":
      return { [name]: { in: equalTo(written, name, part) } };
    case "ne":
    case "nin":
      return { [name]: { nin: equalTo(written, name, part) } };
    default: {
      const isItem = operator === "contains";
      const meant = meantBy(text, name, isItem ? itemOf(part) : part);
      const compared = isItem ? meant : meant.filter((each) => ["string", "number"].includes(typeof each));
      if (compared.length === 0) throw new Error(`${name} is not compared with ${text}.`);
      return { or: compared.map((each) => ({ [name]: { [operator]: each } })) };
    }
  }
}

const literals = new Map<string, Scalar>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const numberShape = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const millisShape = /^-?[0-9]{1,16}$/;

/** The values that texts can be equal to. The service refuses a value outside of an enumeration, also if the text has another meaning. */
function equalTo(written: readonly string[], name: string, part: SchemaPart | undefined): Scalar[] {
  const meant = written.flatMap((each) => meantBy(each, name, part));
  if (part?.enum !== undefined && !meant.every((each) => each === null || part.enum?.includes(each)))
    throw new Error(`${name} has no such value.`);
  return meant;
}

/** The values that a text can mean for an attribute. Without a schema, `5` is a number and a text. */
function meantBy(text: string, name: string, part: SchemaPart | undefined): Scalar[] {
  if (name === "id") return [text];
  if (dateFormats.has(part?.format ?? ""))
    return [text === "null" ? null : millisShape.test(text) ? Number(text) : text];
  if (part?.format === "decimal" || part?.format === "int64") return [text === "null" ? null : text];
  const number = numberShape.test(text) ? Number(text) : Number.NaN;
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  const all = [
    text,
    ...(isExact ? [number] : []),
    ...(literals.has(text) ? [literals.get(text) ?? null] : []),
  ];
  const types = typesOf(part);
  const possible = types === undefined ? all : all.filter((each) => types.includes(typeName(each)));
  if (possible.length === 0) throw new Error(`${name} cannot be ${text}.`);
  return possible;
}

const dateFormats: ReadonlySet<string> = new Set(["date-time", "date", "unix-millis", "date-value"]);

/** What `contains` compares: an item of a list, or a part of a text, which is no date or number. */
function itemOf(part: SchemaPart | undefined): SchemaPart | undefined {
  const types = typesOf(part);
  if (types === undefined || (types.includes("array") && types.includes("string"))) return undefined;
  return types.includes("array") ? subpart(part?.items) : { type: types };
}

function typeName(value: unknown): string {
  return value === null ? "null" : typeof value;
}

/** The types that an attribute can have; `undefined` if the schema does not say it. */
function typesOf(part: SchemaPart | undefined): string[] | undefined {
  const types = typeof part?.type === "string" ? [part.type] : part?.type;
  return (types ?? part?.enum?.map(typeName))?.map((each) => (each === "integer" ? "number" : each));
}

function subpart(part: SchemaPart | boolean | undefined): SchemaPart | undefined {
  return typeof part === "object" ? part : undefined;
}

/** What the service itself keeps. */
const timePart: SchemaPart = { type: "string", format: "date-time" };

/** The schema of an attribute: of the resource, of an object in it, of the objects in a list, or of a related resource. */
function partAt([first = "", ...rest]: readonly string[], { info, infoOf }: Known): SchemaPart | undefined {
  if (first === "_deleted" && rest[0] === "at") return timePart;
  if (info?.timestamps === true && (first === "createdAt" || first === "updatedAt")) return timePart;
  const relation = info?.relations.find(({ name }) => name === first);
  if (relation !== undefined && rest.length > 0)
    return partAt(rest, { info: infoOf(relation.collection), infoOf });
  return rest.reduce<SchemaPart | undefined>(
    (outer, name) => {
      const inner = outer?.properties ?? subpart(outer?.items)?.properties;
      return inner !== undefined && Object.hasOwn(inner, name) ? subpart(inner[name]) : undefined;
    },
    subpart(propertiesOf(info)[first]),
  );
}
