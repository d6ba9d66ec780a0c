/** Unique attributes: no two resources of a collection can have the same value, or the same combination of values. */
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { type AttributeInfo, type AttributeType, attributeInfo } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { foldingVersion } from "./folding.ts";
import { comparedAs, maxKeys, readDistinct } from "./indexes.ts";
import { mustBe } from "./messages.ts";
import { formatPath, type Path, parsePath } from "./paths.ts";
import type { DeclaredMeaning } from "./types/declared-types.ts";

/** An attribute whose values are compared. */
export interface UniquePart {
  path: Path;
  /** The schema declares a date or an exact number: all forms of an instant or of a number are equal. */
  as?: DeclaredMeaning;
}

/** A unique attribute, or a combination of several. Any number of resources can lack one of them or have null. */
export interface Unique extends UniquePart {
  /** Whether ASCII letters are equal in upper and lower case. */
  ignoreCase: boolean;
  /** What differs between equal strings: `case`, or `accents`, which means case, accents and width (`folding.ts`). */
  ignore?: Ignored;
  /** With `ignore`: the version of the folding. */
  folding?: string;
  /** The other attributes of a combination. */
  others?: readonly UniquePart[];
  /** Only resources that match this filter can conflict. Absent: all resources. */
  where?: UniqueWhere;
}

const ignorable = ["case", "accents"] as const;

type Ignored = (typeof ignorable)[number];

/** The filter of a unique attribute. `query/unique-values.ts` reads and evaluates it. */
export interface UniqueWhere {
  /** The filter in the configuration. */
  declared: object;
  /** The attributes that it names. */
  paths: readonly Path[];
  /** The filter as stores keep it. */
  filter: { readonly kind: string };
}

/** Reads the filter of a unique attribute. Throws StartError with every fault, each with the place `at`. */
export type ReadWhere = (declared: unknown, at: string, collection: Collection) => UniqueWhere;

/** A unique attribute in a configuration: its name, or the names of a combination, alone or with options. */
export type UniqueDeclaration =
  | string
  | readonly string[]
  | (({ readonly attribute: string } | { readonly attributes: readonly string[] }) & {
      /** Whether the letters A to Z are equal in upper and lower case. @default false */
      readonly ignoreCase?: boolean;
      /** `"case"`: strings are equal in upper and lower case, in every script. `"accents"`: also with and without accents. @default neither */
      readonly ignore?: Ignored;
      /** A filter as in the body of a QUERY request. Only resources that match it can conflict. @default all resources */
      readonly where?: Readonly<Record<string, unknown>>;
    });

/** With longer values, a check of all resources could need more space than the collection. */
const maxLength = 500;

/**
 * Reads the option `unique`: `["email", ["teamId", "slug"], { "attribute": "name", "ignoreCase": true }]`. Throws StartError with
 * every fault, each with its place below `at`. The schema must declare that each attribute is a date or a short scalar of one type.
 */
export function readUnique(
  declared: unknown,
  at: string,
  { source, readWhere }: { source: () => Collection; readWhere: ReadWhere },
): readonly Unique[] {
  const read = (item: unknown, place: string): Unique => {
    const { paths, ignoreCase, ignore, where } = readOne(item, place);
    const infos = paths.map((path) => attributeInfo(source(), path));
    const [first, ...others] = readEach(paths, (path, n) => {
      const info = infos[n] as AttributeInfo;
      requireScalar(path, place, info);
      return { path, ...comparedAs(info) };
    });
    if ((ignoreCase || ignore !== undefined) && !infos.some(({ types }) => types?.has("string")))
      throw new StartError(`${place}: only strings have upper and lower case.`);
    return {
      ...(first as UniquePart),
      ignoreCase,
      ...(ignore !== undefined && { ignore, folding: foldingVersion }),
      ...(others.length > 0 && { others }),
      ...(where !== undefined && { where: readWhere(where, place, source()) }),
    };
  };
  const identityOf = (unique: Unique) =>
    JSON.stringify([pathsOf(unique).map(formatPath).sort(), unique.where?.filter]);
  return readDistinct(declared, at, read, identityOf);
}

/** The attributes of a combination, or the one attribute. */
export function pathsOf({ path, others = [] }: Unique): readonly Path[] {
  return [path, ...others.map((each) => each.path)];
}

function readOne(
  item: unknown,
  at: string,
): { paths: readonly Path[]; ignoreCase: boolean; ignore: Ignored | undefined; where: unknown } {
  const given = Array.isArray(item) ? { attributes: item } : isObject(item) ? item : { attribute: item };
  const {
    attribute,
    attributes,
    ignoreCase = false,
    ignore,
    where,
    ...unknown
  } = given as Record<string, unknown>;
  const names = attributes === undefined ? [attribute] : attribute === undefined ? attributes : undefined;
  const paths = Array.isArray(names) ? names.map(readPath) : [undefined];
  const isKnown = typeof ignoreCase === "boolean" && Object.keys(unknown).length === 0;
  if (!isKnown || !paths.every((path) => path !== undefined)) {
    const expected =
      'an attribute such as "email", a list such as ["teamId", "slug"], or { "attribute": "email", "ignoreCase": true }';
    throw mustBe(at, expected, item);
  }
  if (paths.length === 0 || paths.length > maxKeys)
    throw new StartError(`${at} must name 1 to ${maxKeys} attributes, not ${paths.length}.`);
  if (new Set(paths.map(formatPath)).size < paths.length)
    throw new StartError(`${at} names an attribute twice.`);
  if (paths.some(([name]) => name === "id"))
    throw new StartError(`${at}: ids are always unique. Remove it here.`);
  const ignored = ignorable.find((each) => each === ignore);
  if (ignore !== undefined && ignored === undefined)
    throw mustBe(`${at}.ignore`, '"case" or "accents"', ignore);
  if (ignored !== undefined && given.ignoreCase !== undefined)
    throw new StartError(`${at} has "ignore" and "ignoreCase". Remove one: "ignore" also ignores the case.`);
  return { paths, ignoreCase, ignore: ignored, where };
}

function readPath(name: unknown): Path | undefined {
  return typeof name === "string" ? parsePath(name) : undefined;
}

function requireScalar(path: Path, at: string, info: AttributeInfo): void {
  const types = [...(info.types ?? [])].filter((type) => type !== "null");
  const [type] = types;
  const ofDeclared: readonly AttributeType[] = info.declared?.type.jsonTypes ?? [];
  if (types.length > 0 && types.every((each) => ofDeclared.includes(each))) return;
  const name = JSON.stringify(formatPath(path));
  if (types.length !== 1 || type === undefined || type === "array" || type === "object") {
    throw new StartError(
      `${at}: the schema must give ${name} one type: string, number, integer or boolean (and null).`,
    );
  }
  if (type === "string" && !((info.maxLength ?? Number.POSITIVE_INFINITY) <= maxLength)) {
    throw new StartError(`${at}: the schema must give ${name} a maxLength of ${maxLength} or less.`);
  }
}
