/** What is different between two configurations, in a few words. */
import { isDeepStrictEqual } from "node:util";
import type { Option } from "../../../config/option.ts";
import { options } from "../../../config/options.ts";
import type { FileContent } from "../../../config/values.ts";
import { withoutSecrets } from "../../words.ts";

/** A value longer than this, as JSON, is not shown. */
const longestShown = 40;

/** One difference. A value that is missing is `undefined`. */
interface Difference {
  path: readonly string[];
  before: unknown;
  after: unknown;
}

/** A line for each option that differs, and for each collection. Values of options that may hold a secret are left out. */
export function describeDifferences(before: FileContent, after: FileContent): string[] {
  const lines = new Map<string, string[]>();
  for (const difference of differencesBetween([], before, after)) {
    const { path } = difference;
    const place = path.slice(0, path[0] === "collections" ? 2 : path.length).join(".");
    lines.set(place, [...(lines.get(place) ?? []), describe(difference)]);
  }
  return Array.from(lines, ([place, texts]) => withoutSecrets(`${place}: ${texts.join("; ")}`));
}

function differencesBetween(path: readonly string[], before: unknown, after: unknown): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const inner = [before, after].map((value) => value ?? (path.length < 2 ? {} : value)); // a group of options
  const [a, b] = inner;
  if (!isObject(a) || !isObject(b)) return [{ path, before, after }];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].flatMap((name) => differencesBetween([...path, name], a[name], b[name]));
}

function describe({ path, before, after }: Difference): string {
  const inner = path[0] === "collections" ? path.slice(2) : [];
  const [first, second, third] = inner;
  if (first === "indexes" && inner.length === 1) return describeIndexes(before, after);
  if (first === "schema" && second === "required" && inner.length === 2)
    return describeRequired(before, after);
  if (first === "schema" && second === "properties" && third !== undefined && inner.length === 3) {
    if (before === undefined) return `attribute ${third} added`;
    if (after === undefined) return `attribute ${third} removed`;
  }
  const change = describeChange({ path, before, after });
  return inner.length === 0 ? change : `${inner.join(".")} ${change}`;
}

function describeIndexes(before: unknown, after: unknown): string {
  const name = (index: unknown) => `index on ${[index].flat().join(", ")}`;
  return describeItems(before, after, {
    added: (index) => `${name(index)} added`,
    removed: (index) => `${name(index)} removed`,
  });
}

function describeRequired(before: unknown, after: unknown): string {
  return describeItems(before, after, {
    added: (name) => `now requires ${name}`,
    removed: (name) => `no longer requires ${name}`,
  });
}

interface ItemWords {
  added(item: unknown): string;
  removed(item: unknown): string;
}

/** How a list differs: the items that it got and lost. */
function describeItems(before: unknown, after: unknown, words: ItemWords): string {
  const [a, b] = [before, after].map((list) => (Array.isArray(list) ? list : []));
  const texts = [...missingFrom(a, b).map(words.added), ...missingFrom(b, a).map(words.removed)];
  return texts.length > 0 ? texts.join("; ") : "order changed";
}

function missingFrom(list: readonly unknown[] = [], items: readonly unknown[] = []): unknown[] {
  return items.filter((item) => !list.some((each) => isDeepStrictEqual(each, item)));
}

function describeChange({ path, before, after }: Difference): string {
  if (before === undefined)
    return `added${path[0] === "collections" && path.length === 2 ? "" : shownAfter(path, after)}`;
  if (after === undefined) return "removed";
  if (Array.isArray(before) && Array.isArray(after)) {
    return describeItems(before, after, {
      added: (item) => `added${shownAfter(path, item)}`,
      removed: (item) => `removed${shownAfter(path, item)}`,
    });
  }
  const [from, to] = [shownIn(path, before), shownIn(path, after)];
  return from === undefined || to === undefined ? "changed" : `${from} → ${to}`;
}

function shownAfter(path: readonly string[], value: unknown): string {
  const text = shownIn(path, value);
  return text === undefined ? "" : ` ${text}`;
}

/** The options that may hold a secret, by the first part of their name. */
const privateOptions = new Set(
  Object.entries<Option<unknown>>(options)
    .filter(([, { isPrivate }]) => isPrivate === true)
    .map(([name]) => name.split(".")[0]),
);

/** A short value as JSON; `undefined` if it is long, or may be a secret. */
function shownIn([option]: readonly string[], value: unknown): string | undefined {
  if (privateOptions.has(option)) return undefined;
  const text = JSON.stringify(value);
  return text === undefined || text.length > longestShown ? undefined : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
