/**
 * The context in which a list request is read: its collection, its limits and its violations. Also reads the names of
 * attributes, and refuses attributes that cannot exist or that the caller cannot see.
 */
import {
  type AttributeInfo,
  type AttributeType,
  attributeInfo,
  type DeclaredValues,
  type Fits,
  listedAttribute,
} from "../collection/attributes.ts";
import type { Collection } from "../collection/collection.ts";
import { timeExamples, timeOf } from "../collection/dates.ts";
import type { IdKind } from "../collection/ids.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, isIdPath, type Path, parsePath } from "../collection/paths.ts";
import { forwardName, type Relation } from "../collection/relations.ts";
import { type TimeZone, timeZone } from "../collection/time-zones.ts";
import type { Filter, RelationPath } from "./filter.ts";
import { hintFor } from "./foreign-syntax.ts";
import { listParameters, type Parameters } from "./list-parameters.ts";
import { relationsAdviser, unnamedAdvice, usableRelation, type ViewOf } from "./related-resources.ts";
import { inBody, type Location, type Violations } from "./violations.ts";

/** The limits of one filter. Each of them limits the work of a store. */
export const filterLimits = {
  conditions: 100,
  groups: 100,
  depth: 10,
  values: 1_000,
  pathNames: 64,
  nameLength: 1_000,
} as const;

/** The number of conditions, groups (`and`, `or`, `not`) and values in a filter. */
export interface FilterSize {
  conditions: number;
  groups: number;
  values: number;
  /** The time that the filter compares with, once it does: Unix time in milliseconds. */
  now?: number;
  /** Whether something in the request depends on the time zone. */
  usesZone?: boolean;
}

/** The size of a filter before anything is read. */
export function emptyFilterSize(): FilterSize {
  return { conditions: 0, groups: 0, values: 0 };
}

/** What a list request can use besides its own collection and parameters. */
export interface ListScope {
  /** A condition that the path of the request adds. */
  within?: Filter | undefined;
  /** Absent: the request cannot use relations. */
  viewOf?: ViewOf;
  /** Whether relations are known only for advice: neither filters nor `embed` can use them. @default false */
  refusesRelations?: boolean;
  /** Whether the filter outlives the request, so that it cannot compare with its time. @default false */
  refusesNow?: boolean;
}

/** The context of one request. */
export interface Reading extends ListScope {
  collection: Collection;
  violations: Violations;
  /** The size of the filter so far. */
  used: FilterSize;
  /** The time zone of the request. @default UTC */
  zone?: TimeZone | undefined;
  /** The parameters of the query string. Only hints use them. */
  parameters?: Parameters;
  /** The array whose objects the filter is about: its path, and the numbers of names in it that lead to arrays because the filter says so. */
  inList?: { path: Path; known: readonly number[] };
  /** Values that the client did not write: they can be compared with every attribute of their type. */
  unjudged?: ReadonlySet<unknown>;
}

/** An attribute that a request names. */
export interface Attribute {
  path: Path;
  /** The types that it can have; `undefined`: any. */
  types: ReadonlySet<AttributeType> | undefined;
  /** The kind of ids, if the attribute is `id`. */
  idKind: IdKind | undefined;
  /** The schemas that its values must fit. */
  fits?: Fits | undefined;
  /** The type that the schema declares for all its texts and numbers. */
  declared?: DeclaredValues | undefined;
  /** The types that the items of an array can have; `undefined`: any. */
  itemTypes?: ReadonlySet<AttributeType> | undefined;
  /** The same for the items of an array. */
  declaredItems?: DeclaredValues | undefined;
  /** The relations to the resources that have the attribute; absent for an attribute of the resource itself. */
  through?: readonly [RelationPath, ...RelationPath[]];
  /** The arrays of objects that lead to it, from the outer one inwards; absent without one. */
  lists?: readonly Path[];
  /** For filters: the collection that has the attribute, and the whole path in it. */
  at?: { collection: Collection; path: Path };
  /** Whether the name is the last relation itself, without an attribute. */
  isRelation?: boolean;
}

/** The attribute with this name. If it cannot exist, adds a violation and returns `undefined`. */
export function readAttribute(name: string, location: Location, reading: Reading): Attribute | undefined {
  const { collection, violations } = reading;
  if (violations.isFull) return undefined;
  if (name.length > filterLimits.nameLength) {
    const most = filterLimits.nameLength.toLocaleString("en");
    violations.add(location, "attribute", `must name an attribute of at most ${most} characters`);
    return undefined;
  }
  const path = readPath(name);
  if (path === undefined) {
    violations.add(
      location,
      "attribute",
      `${naming(name, location)}is not a valid attribute name. Valid names look like "title" or "author.name"`,
    );
    return undefined;
  }
  const { alternatives, knownDepth, ...info } = visibleAttributeInfo(collection, path);
  if (alternatives === undefined)
    return { path, ...info, idKind: isIdPath(path) ? collection.idKind : undefined };
  violations.add(location, "unknownAttribute", () =>
    unknownAttribute(name, location, { ...reading, path, alternatives, knownDepth }),
  );
  return undefined;
}

/** The most relations in one name of a filter. */
export const maxRelations = 2;

/**
 * Like `readAttribute`, for filters: also the attributes of related resources, such as `author.name` and `author.team.name`.
 */
export function readFilterAttribute(
  name: string,
  location: Location,
  reading: Reading,
): Attribute | undefined {
  const found = relatedPath(name, reading, maxRelations);
  if (found === undefined) return readOwnAttribute(name, location, reading);
  if (reading.refusesRelations !== true)
    return readRelatedAttribute(name, location, { ...reading, isFilter: true }, found);
  const { path } = found;
  reading.violations.add(location, "unknownAttribute", () =>
    unknownAttribute(name, location, { ...reading, path, alternatives: [] }),
  );
  return undefined;
}

/** Like `readAttribute`, also for attributes of the objects in arrays. */
function readOwnAttribute(name: string, location: Location, reading: Reading): Attribute | undefined {
  const { collection, violations, inList } = reading;
  const own = name.length > filterLimits.nameLength || violations.isFull ? undefined : readPath(name);
  const path: Path | undefined = own && (inList === undefined ? own : [...inList.path, ...own]);
  const listed = path && visibleListed(collection, path, inList?.known);
  if (own === undefined || path === undefined || listed === undefined) {
    const attribute = readAttribute(name, location, reading);
    return attribute && { ...attribute, at: { collection, path: attribute.path } };
  }
  const { alternatives, knownDepth = 0, ...info } = listed.info;
  const outside = inList?.path.length ?? 0;
  const lists = listed.lists.filter(({ depth }) => depth > outside).map((each) => each.path);
  if (alternatives === undefined)
    return { ...info, path: listed.path, idKind: undefined, lists, at: { collection, path } };
  violations.add(location, "unknownAttribute", () =>
    unknownAttribute(name, location, {
      ...reading,
      path: own,
      alternatives,
      knownDepth: Math.max(0, knownDepth - outside),
    }),
  );
  return undefined;
}

function visibleListed(collection: Collection, path: Path, known?: readonly number[]) {
  return collection.visibility?.hidden.has(path[0]) === true
    ? undefined
    : listedAttribute(collection, path, known);
}

/**
 * Like `readAttribute`, for sorts, groups and comparisons: also the attributes of the resource that a reference names, such as
 * `author.name`. A resource has at most one value of them. `most`: the most relations in the name.
 */
export function readSingleAttribute(
  name: string,
  location: Location,
  reading: Reading,
  most = 1,
): Attribute | undefined {
  const found = relatedPath(name, reading, most);
  if (found === undefined || reading.refusesRelations === true) return readAttribute(name, location, reading);
  const { violations } = reading;
  const relation = found.relations.find(({ isList }) => isList);
  if (relation !== undefined) {
    const quoted = shortJson(relation.name);
    const detail = `${naming(name, location)}cannot be used here: ${quoted} can be several resources. Only a relation to one resource works, such as that of the reference "authorId"`;
    violations.add(location, "relation", detail);
    return undefined;
  }
  const attribute = readRelatedAttribute(name, location, reading, found);
  if (attribute?.isRelation !== true) return attribute;
  const detail = `${naming(name, location)}is a relation. Name an attribute of the related resource, such as "${name}.id"`;
  violations.add(location, "relation", detail);
  return undefined;
}

/** A name that begins with relations. */
interface RelatedPath {
  /** The whole name. */
  path: Path;
  relations: readonly [Relation, ...Relation[]];
  /** The collection of the last relation, as the caller sees it. */
  target: Collection;
  /** The name of the attribute in it. */
  rest: readonly string[];
}

/** The relations at the beginning of a name, at most `most`; `undefined` if it names an attribute of the resource itself. */
function relatedPath(name: string, { collection, viewOf }: Reading, most: number): RelatedPath | undefined {
  const path = name.length > filterLimits.nameLength ? undefined : readPath(name);
  if (path === undefined || viewOf === undefined) return undefined;
  let target = collection;
  const relations: Relation[] = [];
  const rest: string[] = [...path];
  while (relations.length < most && rest.length > 0) {
    const [first] = rest as [string];
    const found = usableRelation(target, first, viewOf);
    if (found === undefined || visibleAttributeInfo(target, rest as unknown as Path).isDeclared) break;
    relations.push(found.relation);
    target = found.target;
    rest.shift();
  }
  const [first, ...others] = relations;
  return first && { path, relations: [first, ...others], target, rest };
}

/** The attribute of related resources. If it cannot exist, adds a violation and returns `undefined`. */
function readRelatedAttribute(
  name: string,
  location: Location,
  { violations, viewOf, isFilter = false }: Reading & { isFilter?: boolean },
  { relations, target, rest }: RelatedPath,
): Attribute | undefined {
  const [outer, ...inner] = relations;
  const through = [pathOf(outer), ...inner.map(pathOf)] as const;
  const [first, ...others] = rest;
  if (first === undefined)
    return { path: ["id"], types: undefined, idKind: undefined, through, isRelation: true };
  const path: Path = [first, ...others];
  const listed = isFilter ? visibleListed(target, path) : undefined;
  const { alternatives, ...info } = listed?.info ?? visibleAttributeInfo(target, path);
  if (alternatives === undefined) {
    const lists = listed?.lists.map((each) => each.path);
    const idKind = isIdPath(path) ? target.idKind : undefined;
    const at = { collection: target, path };
    return { ...info, path: listed?.path ?? path, idKind, through, at, ...(lists && { lists }) };
  }
  violations.add(location, "unknownAttribute", () => {
    const prefix = relations.map((each) => each.name).join(".");
    const what = `${naming(name, location)}is not an attribute of "${target.name}", the collection of "${prefix}".`;
    if (viewOf !== undefined && usableRelation(target, first, viewOf) !== undefined)
      return `${what} A filter can go through ${maxRelations} relations, and "sort" and "group" through one`;
    const known = alternatives.filter((each) => !each.includes(".")).map((each) => `${prefix}.${each}`);
    return (
      what +
      (violations.suggest(name, () => known) || ` Known names: ${known.slice(0, maxListed).join(", ")}`)
    );
  });
  return undefined;
}

function pathOf({ kind, collection, path }: Relation): RelationPath {
  return { kind, collection, path };
}

/** Reads a path; `undefined` if it is invalid or too long. */
export function readPath(name: string): Path | undefined {
  const path = parsePath(name);
  return path === undefined || path.length > filterLimits.pathNames ? undefined : path;
}

/** A path that no schema declares. */
const unknownPath: Path = ["\0"];

/** Like `attributeInfo`, but the attributes that the caller cannot see do not exist. */
export function visibleAttributeInfo(collection: Collection, path: Path): AttributeInfo {
  const hidden = collection.visibility?.hidden;
  if (hidden === undefined || hidden.size === 0) return attributeInfo(collection, path);
  const isHidden = hidden.has(path[0]);
  const info = attributeInfo(collection, isHidden ? unknownPath : path);
  if (info.alternatives === undefined)
    return isHidden ? { ...info, alternatives: ["id"], knownDepth: 0 } : info;
  return { ...info, alternatives: info.alternatives.filter((name) => !hidden.has(name)) };
}

function unknownAttribute(
  name: string,
  location: Location,
  {
    collection,
    violations,
    parameters,
    path,
    alternatives,
    knownDepth: depth = 0,
    viewOf,
  }: Reading & { path: Path; alternatives: readonly string[]; knownDepth?: number | undefined },
): string {
  const what = `${naming(name, location)}is not an attribute of "${collection.name}".`;
  const texts = parameters?.filters.get(location.name);
  const adviseRelations = viewOf && relationsAdviser(collection, { viewOf, violations });
  const hint =
    parameters === undefined || texts === undefined
      ? ""
      : hintFor(location.name, texts, { others: parameters.others, adviseRelations });
  if (hint !== "") return what + hint;
  if (isAboutRelated(path, collection, viewOf))
    return `${what} ${shortJson(path[0])} is a relation, and only the filters of lists, "sort" and "group" can use attributes of related resources`;
  const unnamed = viewOf && path.length > 1 && unnamedAdvice(path[0], collection, viewOf);
  if (unnamed) return what + unnamed;
  const start = path
    .slice(0, depth)
    .map((each) => `${each}.`)
    .join("");
  if (alternatives.length === 0)
    return `${what} ${whyNoMembers(path.slice(0, depth) as unknown as Path, location, collection)}`;
  if (alternatives.some((each) => each.includes(".") && path.slice(depth).join(".").startsWith(each)))
    return `${what} A dot leads into an object, so no list can use an attribute whose own name contains a dot`;
  const known = alternatives.filter((each) => !each.includes(".")).map((each) => start + each);
  const isParameter = location.in === "query" && location.path.length === 0;
  const wrong = formatPath(path.slice(0, depth + 1) as unknown as Path);
  const nearest = violations.suggest(wrong, () => (isParameter ? [...known, ...listParameters] : known));
  if (nearest !== "") return what + nearest;
  return known.length > maxListed ? what : `${what} Known names: ${known.join(", ")}`;
}

/** Why no name leads into an attribute, and what a filter can use instead. */
function whyNoMembers(path: Path, { name }: Location, collection: Collection): string {
  const quoted = shortJson(formatPath(path));
  const { types } = visibleAttributeInfo(collection, path);
  if (types?.has("array") !== true) return `${quoted} has no nested attributes`;
  const what = `${quoted} is an array, and a name does not lead into it`;
  if (name === "sort" || name === "_sort" || name === "fields") return what;
  return `${what}. "${formatPath(path)}:contains" looks for a whole item`;
}

/** Whether a path begins with a relation that the client can know about. */
function isAboutRelated([first]: Path, collection: Collection, viewOf: ViewOf | undefined): boolean {
  if (viewOf !== undefined) return usableRelation(collection, first, viewOf) !== undefined;
  const relation = collection.relations.get(first);
  if (relation !== undefined) return !relation.isRestricted;
  // The rules of a configuration are read before its relations.
  return collection.relations.size === 0 && collection.references.some((each) => forwardName(each) === first);
}

const maxListed = 30;

/** The start of a message that names the attribute; empty if the location already names it. */
function naming(name: string, location: Location): string {
  return (location.path.at(-1) ?? location.name) === name ? "" : `names ${shortJson(name)}, which `;
}

/** Reads a time in Unix milliseconds; `undefined` if it is absent. Adds a violation for a value that is no time. */
export function readTime(value: unknown, location: Location, violations: Violations): number | undefined {
  if (value === undefined) return undefined;
  const time = typeof value === "string" || typeof value === "number" ? timeOf(String(value)) : undefined;
  if (time === undefined) violations.mustBe(location, "dateValue", `a time such as ${timeExamples}`, value);
  return time;
}

/**
 * Reads the member `max` of a change of many resources: the most of them. `verb` says what more of them would do. Adds a
 * violation, and returns `most`, unless it is a whole number from 1 to `most`. `ifLarger`: how a larger one is possible.
 */
export function readMax(
  value: unknown,
  violations: Violations,
  { most, verb, ifLarger = "" }: { most: number; verb: string; ifLarger?: string },
): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  const wanted = `a whole number from 1 to ${most}: if more resources ${verb}, nothing changes`;
  if (value === undefined) violations.add(inBody("max"), "required", `is required. Send ${wanted}`);
  else {
    const advice = typeof value === "number" && value > most ? ifLarger : "";
    violations.add(inBody("max"), "max", `must be ${wanted}. It cannot be ${shortJson(value)}${advice}`);
  }
  return most;
}

/** Reads the parameter `timezone`; `undefined` if it is absent. Adds a violation for an unknown zone. */
export function readZone(value: unknown, location: Location, violations: Violations): TimeZone | undefined {
  if (value === undefined) return undefined;
  const zone = typeof value === "string" ? timeZone(value) : undefined;
  if (zone === undefined)
    violations.mustBe(
      location,
      "timezone",
      'the name of a time zone in the IANA database, such as "Europe/Berlin" or "UTC"',
      value,
    );
  return zone;
}

/** Adds a violation for a time zone that changes nothing, because it could be meant as a filter. */
export function requireUsedZone({ zone, used, violations }: Reading, location: Location): void {
  // Beside other violations, what would use it may not have been read.
  if (zone === undefined || used.usesZone === true || violations.all.length > 0) return;
  const filter = location.in === "query" ? '"timezone:eq"' : 'it inside "filter"';
  violations.add(
    location,
    "timezone",
    `has no effect: it is for groups by a unit of dates, such as "group=placedAt:day", and for "today" in filters. To filter by an attribute with this name, write ${filter}`,
  );
}

/** Reads a value that must be one of these words; `undefined` if it is absent. Adds a violation for any other value. */
export function readWord<Word extends string | boolean>(
  value: unknown,
  location: Location,
  { words, violations }: { words: readonly Word[]; violations: Violations },
): Word | undefined {
  const word = words.find((each) => each === value);
  if (value !== undefined && word === undefined)
    violations.mustBe(location, "value", words.join(" or "), value);
  return word;
}
