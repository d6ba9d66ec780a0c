/** Describes the differences between two configurations in a few words. */
import { isDeepStrictEqual } from "node:util";
import type { FileContent } from "../../config/option-values.ts";
import { options } from "../../config/options.ts";
import { isObject } from "../../json/values.ts";
import type { Option } from "../../option.ts";
import { withoutSecrets } from "../wording.ts";

/** The maximum length of a value in a description, as JSON. */
const maxValueLength = 40;

/** One difference. A missing value is `undefined`. */
interface Difference {
  path: readonly string[];
  before: unknown;
  after: unknown;
}

/** One line for each option and each collection that differs. Leaves out the values of options that can contain a secret. */
export function describeDifferences(before: FileContent, after: FileContent): string[] {
  const byPlace = Map.groupBy(differencesBetween([], before, after), ({ path }) =>
    path.slice(0, path[0] === "collections" ? 2 : path.length).join("."),
  );
  return Array.from(byPlace, ([place, differences]) =>
    withoutSecrets(`${place}: ${differences.map(describe).join("; ")}`),
  );
}

function differencesBetween(path: readonly string[], before: unknown, after: unknown): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [a, b] = [before, after].map((value) => value ?? (path.length < 2 ? {} : value)); // a missing group of options
  if (!isObject(a) || !isObject(b)) return [{ path, before, after }];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].flatMap((name) => differencesBetween([...path, name], a[name], b[name]));
}

function describe({ path, before, after }: Difference): string {
  const inCollection = path[0] === "collections" ? path.slice(2) : [];
  const name = inCollection.join(".");
  const [first, second, attribute] = inCollection;
  if (name === "indexes") return describeItems(before, after, describeIndex);
  if (name === "schema.required") return describeItems(before, after, describeRequired);
  if (first === "schema" && second === "properties" && inCollection.length === 3) {
    if (before === undefined) return `attribute ${attribute} added`;
    if (after === undefined) return `attribute ${attribute} removed`;
  }
  const change = describeChange({ path, before, after });
  return name === "" ? change : `${name} ${change}`;
}

type Change = "added" | "removed";

function describeIndex(index: unknown, change: Change): string {
  return `index on ${[index].flat().join(", ")} ${change}`;
}

function describeRequired(name: unknown, change: Change): string {
  return `${change === "added" ? "now" : "no longer"} requires ${name}`;
}

/** The items that a list gained and lost. */
function describeItems(
  before: unknown,
  after: unknown,
  describeItem: (item: unknown, change: Change) => string,
): string {
  const [a = [], b = []] = [before, after].map((list): unknown[] => (Array.isArray(list) ? list : []));
  const isIn = (list: readonly unknown[], item: unknown) =>
    list.some((each) => isDeepStrictEqual(each, item));
  const texts = [
    ...b.filter((item) => !isIn(a, item)).map((item) => describeItem(item, "added")),
    ...a.filter((item) => !isIn(b, item)).map((item) => describeItem(item, "removed")),
  ];
  return texts.length > 0 ? texts.join("; ") : "order changed";
}

function describeChange({ path, before, after }: Difference): string {
  if (before === undefined)
    return `added${path[0] === "collections" && path.length === 2 ? "" : valueAfterSpace(path, after)}`;
  if (after === undefined) return "removed";
  if (Array.isArray(before) && Array.isArray(after))
    return describeItems(before, after, (item, change) => `${change}${valueAfterSpace(path, item)}`);
  const [from, to] = [valueText(path, before), valueText(path, after)];
  return from === undefined || to === undefined ? "changed" : `${from} → ${to}`;
}

function valueAfterSpace(path: readonly string[], value: unknown): string {
  const text = valueText(path, value);
  return text === undefined ? "" : ` ${text}`;
}

/** The first part of the name of each option that can contain a secret. */
const privateOptions = new Set(
  Object.entries<Option<unknown>>(options)
    .filter(([, { isPrivate }]) => isPrivate === true)
    .map(([name]) => name.split(".")[0]),
);

/** A value as JSON; `undefined` if it is long or can contain a secret. */
function valueText([option]: readonly string[], value: unknown): string | undefined {
  if (privateOptions.has(option)) return undefined;
  const text = JSON.stringify(value);
  return text === undefined || text.length > maxValueLength ? undefined : text;
}
