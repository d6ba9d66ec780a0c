/** The oracle of figures: computes them in memory, in as little code as possible. */
import { isDate } from "../../../src/collection/dates.ts";
import { valueAt } from "../../../src/collection/paths.ts";
import { compareCodePoints } from "../../../src/collection/text.ts";
import type { DateUnit, Figure, FigureSortKey, GroupKey } from "../../../src/query/figures.ts";
import { type Filter, matches } from "../../../src/query/filter.ts";
import { compareSortValues, type SortValue, sortValueOf } from "../../../src/query/sort.ts";
import type { Figures, FiguresQuery } from "../../../src/store/figures.ts";

type Resource = Record<string, unknown>;
export type Query = Omit<FiguresQuery, "collection" | "signal" | "filter"> & { filter?: Filter };

const unitLength: Record<DateUnit, number> = { year: 4, month: 7, day: 10, hour: 13, minute: 16 };
const timestamp = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/;

function dateOf(value: unknown, unit: DateUnit): string | null {
  if (typeof value !== "string" || !isDate(value.slice(0, 10))) return null;
  if (value.length > 10 && !timestamp.test(value)) return null;
  return `${value}T00:00`.slice(0, unitLength[unit]);
}

function keyOf(resource: Resource, { path, unit }: GroupKey): unknown {
  const value = valueAt(resource, path);
  return unit === undefined ? value : dateOf(value, unit);
}

/** Sums of the oracle are exact for the numbers of the generator: multiples of 1/8 that are not large. */
function figureOf(resources: readonly Resource[], figure: Figure): unknown {
  if (figure.kind === "count") return resources.length;
  const values = resources.map((each) => valueAt(each, figure.path));
  const numbers = values.filter((each) => typeof each === "number");
  const sum = numbers.reduce((total, each) => total + each, 0);
  if (figure.kind === "sum") return sum;
  if (figure.kind === "avg") return numbers.length === 0 ? null : sum / numbers.length;
  const sorted = values
    .filter((each) => ["boolean", "number", "string"].includes(typeof each))
    .map(sortValueOf)
    .sort(compareSortValues);
  return (figure.kind === "min" ? sorted[0] : sorted.at(-1)) ?? null;
}

interface Group {
  keys: readonly unknown[];
  figures: readonly unknown[];
}

function compareKeys(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [n, value] of a.entries()) {
    const order =
      compareSortValues(sortValueOf(value), sortValueOf(b[n])) ||
      compareCodePoints(JSON.stringify(value) ?? "", JSON.stringify(b[n]) ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

/** The figures by a computation over all resources in memory: what every store must return, without the sequence. */
export function computeFigures(
  all: readonly Resource[],
  { filter, group, figures, sort, limit, offset }: Query,
): Omit<Figures, "sequence"> {
  const fitting = all.filter((each) => filter === undefined || matches(filter, each));
  const groups = new Map<string, { keys: unknown[]; resources: Resource[] }>();
  if (group.length === 0) groups.set("", { keys: [], resources: [] });
  for (const resource of fitting) {
    const keys = group.map((key) => keyOf(resource, key));
    const name = keys.map((key) => JSON.stringify(key) ?? "absent").join("\0");
    const known = groups.get(name) ?? { keys, resources: [] };
    known.resources.push(resource);
    groups.set(name, known);
  }
  const made = [...groups.values()].map(
    ({ keys, resources }): Group => ({ keys, figures: figures.map((each) => figureOf(resources, each)) }),
  );
  const ofSort = ({ keys, figures }: Group, { of, place }: FigureSortKey) =>
    of === "group" ? compareBy(keys[place]) : compareBy(figures[place]);
  made.sort((a, b) => {
    for (const key of sort) {
      const order = compareParts(ofSort(a, key), ofSort(b, key));
      if (order !== 0) return key.descending ? -order : order;
    }
    return compareKeys(a.keys, b.keys);
  });
  return {
    groups: made
      .slice(offset, offset + limit)
      .map(({ keys, figures }) => [...keys, ...figures].map((each) => JSON.stringify(each))),
    more: made.length > offset + limit,
  };
}

const compareBy = (value: unknown) => ({
  sortValue: sortValueOf(value) as SortValue,
  text: JSON.stringify(value) ?? "",
});
const compareParts = (a: ReturnType<typeof compareBy>, b: ReturnType<typeof compareBy>) =>
  compareSortValues(a.sortValue, b.sortValue) || compareCodePoints(a.text, b.text);
