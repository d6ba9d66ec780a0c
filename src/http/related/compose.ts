/**
 * Puts related resources into the texts of resources, as members with the names of the relations. If an array does not
 * contain all related resources, a link leads to the rest. This file reads nothing from the store (`levels.ts` does).
 */
import { formatKey } from "../../collection/indexes.ts";
import { formatCursor, listName } from "../../query/cursor.ts";
import { type Embed, hiddenMember, nextMember } from "../../query/embed-request.ts";
import { allOf } from "../../query/filter.ts";
import { referringTo } from "../../query/related-resources.ts";
import { cursorValuesOf } from "../../query/sort.ts";
import { maxPageBytes } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import { createPauses } from "../admission/turns.ts";
import { resourcePath } from "../route.ts";
import { type RelatedGroup, type RelatedLevel, withoutEmbeds } from "./levels.ts";

/** How many more bytes a response can have. */
interface Budget {
  left: number;
}

/** What the links to the rest of an array depend on. */
export interface ComposeContext {
  prefix: string;
  /** The most resources of a page. */
  maxPageSize: number;
  /** The name of the collection of the resources. */
  collection: string;
}

/**
 * The texts with related resources. The result ends before a resource whose related resources were not read, and after the
 * text that makes it longer than a page. It has at least one text. `shown` are the texts as the caller sees them.
 */
export async function composeTexts(
  context: ComposeContext,
  resources: readonly Stored[],
  { shown, levels }: { shown: readonly string[]; levels: readonly RelatedLevel[] },
): Promise<readonly string[]> {
  const budget = { left: maxPageBytes };
  const embeds = levels.map(({ embed }) => embed);
  const pause = createPauses();
  const texts: string[] = [];
  for (const [n, resource] of resources.entries()) {
    if (n > 0 && budget.left <= 0) break;
    const own = withoutEmbeds(shown[n] as string, embeds);
    const text = compose({ id: resource.id, text: own }, levels, { ...context, budget });
    if (text === undefined) break;
    texts.push(text);
    const paused = pause(text.length);
    if (paused !== undefined) await paused;
  }
  return texts;
}

interface Composition extends ComposeContext {
  budget: Budget;
}

/** The text of a resource with its related resources; `undefined` if some of its related resources were not read. */
function compose(
  { id, text }: Pick<Stored, "id" | "text">,
  levels: readonly RelatedLevel[],
  composition: Composition,
): string | undefined {
  composition.budget.left -= Buffer.byteLength(text);
  if (levels.length === 0) return text;
  const members: string[] = [];
  const hidden: string[] = [];
  const next: Record<string, string> = {};
  for (const level of levels) {
    const { name, isList } = level.embed.relation;
    const group = level.groups.get(id);
    if (group === undefined) return undefined;
    const texts = composeGroup(group, level, composition);
    if (texts === undefined) return undefined;
    members.push(`${JSON.stringify(name)}:${isList ? `[${texts.join(",")}]` : (texts[0] ?? "null")}`);
    // The caller can see the ids of a reference. Whether a resource has the id makes no difference.
    if (!isList && texts.length === 0 && group.ids !== undefined && group.ids.length > 0) hidden.push(name);
    if (isList && (group.more || texts.length < group.items.length))
      next[name] = linkAfter(id, { group, shown: texts.length, level }, composition);
  }
  if (hidden.length > 0) members.push(`${JSON.stringify(hiddenMember)}:${JSON.stringify(hidden)}`);
  if (Object.keys(next).length > 0) members.push(`${JSON.stringify(nextMember)}:${JSON.stringify(next)}`);
  return `${text.slice(0, -1)},${members.join(",")}}`;
}

/** The texts of related resources. The result ends before a text that is not complete; `undefined` if this is the first one. */
function composeGroup(
  { items }: RelatedGroup,
  { embed, texts: own, inner }: RelatedLevel,
  composition: Composition,
): string[] | undefined {
  const texts: string[] = [];
  for (const item of items) {
    if (texts.length > 0 && composition.budget.left <= 0) break;
    const shown = { id: item.id, text: own.get(item.id) as string };
    const text = compose(shown, inner, { ...composition, collection: embed.target.name });
    if (text === undefined && texts.length === 0) return undefined;
    if (text === undefined) break;
    texts.push(text);
  }
  return texts;
}

interface CutGroup {
  group: RelatedGroup;
  /** How many of its resources the response contains. */
  shown: number;
  level: RelatedLevel;
}

/** The path of the list that continues a group. */
function linkAfter(
  id: string,
  { group, shown, level }: CutGroup,
  { prefix, maxPageSize, collection }: Composition,
): string {
  const { relation, target } = level.embed;
  const last = group.items[shown - 1];
  if (relation.kind === "reference") return linkToIds(`${prefix}/${target.name}`, group, last);
  const path = `${resourcePath(`${prefix}/${collection}`, id)}/${relation.name}`;
  return `${path}?${parametersAfter(id, last, level.embed, maxPageSize)}`;
}

function parametersAfter(
  id: string,
  last: Stored | undefined,
  { relation, target, limit, conditions, filters, sort }: Embed,
  maxPageSize: number,
): string {
  const keys = sort.map(formatKey);
  const sorting = keys.length === 0 ? [] : [`sort=${keys.map(encodeURIComponent).join(",")}`];
  const filtering = conditions.map((each) => each.map(encodeURIComponent).join("="));
  const kept = [...filtering, `limit=${Math.min(limit, maxPageSize)}`, ...sorting].join("&");
  if (last === undefined) return kept;
  const within = referringTo(target, relation.path, id);
  const contents = { filter: allOf([...filters, within]), sort };
  const list = listName(target.name, { ...contents, words: undefined, at: undefined });
  return `${kept}&cursor=${formatCursor(list, cursorValuesOf(JSON.parse(last.text), sort))}`;
}

/** The most ids in a link. */
const maxIds = 50;

function linkToIds(path: string, { ids = [] }: RelatedGroup, last: Stored | undefined): string {
  const rest = ids.slice(last === undefined ? 0 : ids.indexOf(last.id) + 1);
  return `${path}?id:in=${rest.slice(0, maxIds).map(encodeURIComponent).join(",")}`;
}
