/** Reads the parameter `embed` and its aliases: `author,comments(status=open,limit:5,sort:-createdAt),author.team`. */
import type { Collection } from "../collection/collection.ts";
import type { SortKey } from "../collection/indexes.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath } from "../collection/paths.ts";
import type { Relation } from "../collection/relations.ts";
import type { Fields } from "../collection/visibility.ts";
import { type Filter, ownFilter } from "./filter.ts";
import { readFilterParameter } from "./filter-request.ts";
import { most } from "./page-limit.ts";
import { emptyFilterSize, type Reading, visibleAttributeInfo } from "./reading.ts";
import { relationAdvice, usableRelation, type ViewOf } from "./related-resources.ts";
import { ownSort } from "./sort.ts";
import { readSortList } from "./sort-keys.ts";
import type { Location, Violations } from "./violations.ts";

/** A relation whose resources a response contains. */
export interface Embed {
  relation: Relation;
  /** The related collection, as the caller sees it. */
  target: Collection;
  /** The most related resources of one resource. */
  limit: number;
  /** The attributes of the related resources; `undefined`: all. */
  fields: Fields | undefined;
  /** The conditions for the resources of an inverse relation, as parameters of a list. */
  conditions: readonly (readonly [parameter: string, text: string])[];
  /** The filters of the conditions. */
  filters: readonly Filter[];
  /** The order of an inverse relation. */
  sort: readonly SortKey[];
  /** The relations of the related resources. */
  embeds: readonly Embed[];
}

/**
 * The limits of `embed`. `resources` is about the most resources that one relation can add to a response, and the most in one
 * array. `rounds` is the most queries for one relation of one level. A response that reaches one of them ends early.
 */
export const embedLimits = { depth: 3, relations: 10, resources: 1_000, length: 2_000, rounds: 10 } as const;

/** The related resources of one resource if the request sets no `limit`. */
export const defaultEmbedLimit = 5;

/** The same for the aliases of `embed`. Their clients expect all of them. A larger limit would shorten lists. */
export const aliasEmbedLimit = 100;

/** The member with the links to the next related resources. */
export const nextMember = "_next";

/** The member with the names of references that lead to no resource that the caller can list. */
export const hiddenMember = "_hidden";

/** A relation while the text is read. */
interface Draft extends Omit<Embed, "embeds" | "fields"> {
  /** Whether the text has options for it. */
  isNamed: boolean;
  embeds: Map<string, Draft>;
}

/** A text with relations, where it is, and the most related resources of one resource without an option `limit`. */
export interface SentEmbed {
  text: string;
  location: Location;
  limit: number;
}

interface Context extends Pick<SentEmbed, "location" | "limit"> {
  reading: Reading & { viewOf: ViewOf };
}

/** Reads texts with relations. Adds violations. */
export function readEmbed(sent: readonly SentEmbed[], reading: Reading): readonly Embed[] {
  const { violations, viewOf } = reading;
  const roots = new Map<string, Draft>();
  for (const { text, location, limit } of sent) {
    if (viewOf === undefined) violations.add(location, "embed", "cannot be used here");
    else if (text.length > embedLimits.length)
      violations.add(location, "embed", `must have at most ${embedLimits.length} characters`);
    else {
      const context: Context = { location, limit, reading: { ...reading, viewOf } };
      for (const item of splitOutside(text)) readItem(item.trim(), roots, context);
      requireFew(roots, location, violations);
    }
  }
  return finish(roots);
}

function requireFew(roots: ReadonlyMap<string, Draft>, location: Location, violations: Violations): void {
  const count = countOf(roots);
  if (count <= embedLimits.relations) return;
  violations.add(
    location,
    "embed",
    `names ${count} relations, but can name at most ${embedLimits.relations}. Leave some out, or request them separately`,
  );
}

function countOf(drafts: ReadonlyMap<string, Draft>): number {
  return drafts.values().reduce((sum, { embeds }) => sum + 1 + countOf(embeds), 0);
}

function finish(drafts: ReadonlyMap<string, Draft>): Embed[] {
  return [...drafts.values()].map(({ isNamed: _, embeds, ...draft }) => ({
    ...draft,
    fields: undefined,
    embeds: finish(embeds),
  }));
}

/** Splits at the commas that are not in parentheses. */
function splitOutside(text: string): string[] {
  return text.match(/(?:\([^()]*\)?|[^,(])+|(?<=,|^)(?=,|$)/g) ?? [""];
}

const itemForm = /^([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*)(?:\(([^()]*)\))?$/;

function readItem(item: string, roots: Map<string, Draft>, context: Context): void {
  const { location, reading } = context;
  const { violations } = reading;
  const [, path, options] = itemForm.exec(item) ?? [];
  if (path === undefined) {
    const example = "author,comments(limit:5,sort:-createdAt),author.team";
    violations.add(location, "embed", `has the part ${shortJson(item)}. Write relations such as ${example}`);
    return;
  }
  const names = path.split(".");
  if (names.length > embedLimits.depth) {
    violations.add(
      location,
      "embed",
      `names ${shortJson(path)}, but relations can be at most ${embedLimits.depth} deep`,
    );
    return;
  }
  const draft = draftAt(names, roots, context);
  if (draft === undefined) return;
  if (draft.isNamed) violations.add(location, "embed", `names ${shortJson(path)} twice`);
  draft.isNamed = true;
  if (options !== undefined) readOptions(options, { draft, path, context });
}

/** The draft of a relation, created with those before it in the path. */
function draftAt(names: readonly string[], roots: Map<string, Draft>, context: Context): Draft | undefined {
  let drafts = roots;
  let { collection } = context.reading;
  let draft: Draft | undefined;
  for (const name of names) {
    draft = drafts.get(name) ?? createDraft(name, collection, context);
    if (draft === undefined) return undefined;
    drafts.set(name, draft);
    drafts = draft.embeds;
    collection = draft.target;
  }
  return draft;
}

function createDraft(name: string, collection: Collection, context: Context): Draft | undefined {
  const { location, reading } = context;
  const { violations, viewOf } = reading;
  const found = usableRelation(collection, name, viewOf);
  if (found === undefined) {
    violations.add(location, "embed", () => unknownRelation(name, collection, context));
    return undefined;
  }
  const limit = found.relation.isList ? context.limit : 1;
  return { ...found, limit, conditions: [], filters: [], sort: [], isNamed: false, embeds: new Map() };
}

function unknownRelation(name: string, collection: Collection, { reading }: Context): string {
  const { violations, viewOf } = reading;
  const what = `names ${shortJson(name)}, which is not a relation of "${collection.name}".`;
  const advice = relationAdvice(name, collection, { viewOf, violations });
  const isAttribute = visibleAttributeInfo(collection, [name]).isDeclared;
  return `${what}${isAttribute ? " Responses contain the attribute without embed." : ""}${advice}`;
}

/** Reads `status=open,limit:5,sort:-createdAt,sort:title`. */
function readOptions(
  text: string,
  { draft, path, context }: { draft: Draft; path: string; context: Context },
): void {
  const { location, reading } = context;
  const { violations } = reading;
  const refuse = (detail: string, advice = "") =>
    violations.add(location, "embed", `${detail} in ${shortJson(`${path}(${text})`)}${advice}`);
  const { relation, target } = draft;
  const { options, conditions, unknown } = splitOptions(text);
  const valuesOf = (name: string) =>
    options.flatMap((each) => (each.startsWith(name) ? each.slice(each.indexOf(":") + 1).trim() : []));
  const unclear = conditions.find(([name]) => optionNames.includes(name));
  const [limit, ...otherLimits] = valuesOf("limit");
  const sort = valuesOf("sort");
  if (!relation.isList) refuse(`has options`, `, which is a single resource`);
  else if (unknown !== undefined)
    refuse(
      `has the option ${shortJson(unknown)}`,
      '. The options are "limit:5" and "sort:-createdAt". Conditions have an equals sign, such as "status=open"',
    );
  else if (unclear !== undefined) {
    const [name, value] = unclear;
    const advice = `. Write "${name}:${value}". For an attribute with this name, write "${name}:eq=${value}"`;
    refuse(`has ${shortJson(`${name}=${value}`)}`, advice);
  } else if (otherLimits.length > 0) refuse("has two limits");
  else if (limit !== undefined && limit !== most && !/^0*[1-9][0-9]{0,8}$/.test(limit))
    refuse(`has a limit of ${shortJson(limit)}`, `. It must be a whole number of at least 1, or ${most}`);
  else if (Number(limit ?? 1) > embedLimits.resources)
    refuse(`has a limit of ${limit}`, `. At most ${embedLimits.resources.toLocaleString("en")} are possible`);
  else if (sort.length > 0 && relation.kind === "reference")
    refuse(`has a sort`, `. This relation has the order of the ids in "${formatPath(relation.path)}"`);
  else if (conditions.length > 0 && relation.kind === "reference")
    refuse(
      `has a condition`,
      `. This relation has all resources of the ids in "${formatPath(relation.path)}"`,
    );
  else {
    if (limit !== undefined) draft.limit = limit === most ? embedLimits.resources : Number(limit);
    if (sort.length > 0)
      draft.sort = ownSort(
        readSortList(sort, location, { collection: target, violations, used: emptyFilterSize() }),
      );
    const { filters, usesZone } = readConditions(conditions, target, context);
    const { zone } = reading;
    draft.filters = filters;
    // The link to the rest of the array has the same conditions.
    draft.conditions = usesZone && zone !== undefined ? [...conditions, ["timezone", zone.name]] : conditions;
  }
}

const optionNames: readonly string[] = ["limit", "sort"];
const optionForm = /^(?:limit|sort)\s*:/;

type Conditions = Embed["conditions"];

/** Splits at commas. A part that is neither an option nor a condition belongs to the values of the condition before it. */
function splitOptions(text: string): { options: string[]; conditions: Conditions; unknown?: string } {
  const options: string[] = [];
  const conditions: [string, string][] = [];
  let isInValues = false;
  for (const each of text.split(",")) {
    const part = each.trim();
    const equals = part.indexOf("=");
    if (equals !== -1) conditions.push([part.slice(0, equals).trim(), part.slice(equals + 1)]);
    else if (optionForm.test(part)) options.push(part);
    else if (isInValues) (conditions.at(-1) as [string, string])[1] += `,${part}`;
    else return { options, conditions, unknown: part };
    isInValues = equals !== -1 || (isInValues && !optionForm.test(part));
  }
  return { options, conditions };
}

/** Reads the conditions as a list of the related collection would, and whether the time zone has an effect. Adds violations. */
function readConditions(
  conditions: Conditions,
  collection: Collection,
  context: Context,
): { filters: Filter[]; usesZone: boolean } {
  const { location, reading } = context;
  const { used, violations, viewOf, zone } = reading;
  const inner: Reading = { collection, violations, used, viewOf, zone, refusesRelations: true };
  const usedBefore = used.usesZone === true;
  used.usesZone = false;
  const byName = Map.groupBy(conditions, ([name]) => name);
  const filters = Array.from(byName, ([name, all]) => {
    const texts = all.map(([, text]) => text);
    return ownFilter(readFilterParameter(name, texts, inner, location));
  });
  const { usesZone } = used;
  used.usesZone ||= usedBefore;
  return { filters, usesZone };
}
