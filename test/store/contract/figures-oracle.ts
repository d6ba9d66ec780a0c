/** The oracle of figures: computes them in memory, in as little code as possible. */

import { isDate } from "../../../src/collection/dates.ts";
import { isDecimal, keyOfExact } from "../../../src/collection/exact-numbers.ts";
import { valueAt } from "../../../src/collection/paths.ts";
import { compareCodePoints } from "../../../src/collection/text-comparison.ts";
import { comparedKeyOf, type DeclaredMeaning } from "../../../src/collection/types/declared-types.ts";
import type { DateUnit, Figure, FigureSortKey, GroupKey } from "../../../src/query/figures.ts";
import { type Filter, matches } from "../../../src/query/filter.ts";
import { compareSortValues, type SortValue, sortValueOf } from "../../../src/query/sort.ts";
import type { Figures, FiguresQuery } from "../../../src/store/port/page.ts";
import { scaledExact } from "../../exact-numbers.ts";
import { localTimeAt, mondayOf } from "../../temporal.ts";

type Resource = Record<string, unknown>;
export type Query = Omit<FiguresQuery, "collection" | "signal" | "filter"> & { filter?: Filter };

const unitLength: Record<DateUnit, number> = { year: 4, month: 7, week: 10, day: 10, hour: 13, minute: 16 };
const timestamp = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/;

function dateOf(value: unknown): string | null {
  if (typeof value !== "string" || !isDate(value.slice(0, 10))) return null;
  return value.length > 10 && !timestamp.test(value) ? null : value;
}

/** The beginning of a unit at a date, which is a day or a time in UTC. A day has no zone. */
function unitAt(date: string, unit: DateUnit, zone: string | undefined): string | null {
  const local =
    date.length === 10
      ? `${date}T00:00`
      : zone === undefined
        ? date
        : localTimeAt(zone, Date.parse(`${date.slice(0, 19)}Z`));
  if (!/^\d/.test(local)) return null;
  const start = unit === "week" ? mondayOf(local.slice(0, 10)) : local;
  return /^\d/.test(start) ? start.slice(0, unitLength[unit]) : null;
}

function keyOf(resource: Resource, { path, unit, as, zone }: GroupKey): unknown {
  const value = valueAt(resource, path);
  if (unit === undefined) return value;
  const isDay = typeof value === "string" && value.length === 10;
  const date = as === undefined || isDay ? dateOf(value) : (comparedKeyOf(value, as) ?? null);
  return date === null || !/^[0-9]/.test(date) ? null : unitAt(date, unit, zone);
}

/** Sums of the oracle are exact for the numbers of the generator: multiples of 1/8 that are not large. */
function figureOf(resources: readonly Resource[], figure: Figure): unknown {
  if (figure.kind === "count") return resources.length;
  const values = resources.map((each) => valueAt(each, figure.path));
  if ("as" in figure && figure.as === "exact" && (figure.kind === "sum" || figure.kind === "avg"))
    return exactTotal(values, figure.kind);
  if ("as" in figure && figure.as !== undefined) return extremeOf(values, figure.kind, figure.as);
  const numbers = values.filter((each) => typeof each === "number");
  const sum = numbers.reduce((total, each) => total + each, 0);
  if (figure.kind === "sum") return sum;
  if (figure.kind === "avg") return numbers.length === 0 ? null : sum / numbers.length;
  const sorted = values
    .filter((each) => ["boolean", "number", "string"].includes(typeof each))
    .map((each) => sortValueOf(each))
    .sort(compareSortValues);
  return (figure.kind === "min" ? sorted[0] : sorted.at(-1)) ?? null;
}

/** The sum with all digits, or the average with 12 digits after the point, of the exact numbers. */
function exactTotal(values: readonly unknown[], kind: "sum" | "avg"): string | null {
  const texts = values.filter((each) => typeof each === "string").filter(isDecimal);
  const sum = texts.reduce((total, each) => total + scaledExact(each), 0n);
  const scale = Math.max(0, ...texts.map((each) => each.split(".")[1]?.length ?? 0));
  const textOf = (scaled: bigint) =>
    String(scaled).replace(
      /^(-?)([0-9]*?)([0-9]{0,40})$/,
      (_, sign, whole, rest) => `${sign}${whole || "0"}.${rest.padStart(40, "0")}`,
    );
  if (kind === "sum") return textOf(sum).slice(0, scale === 0 ? -41 : scale - 40 || undefined);
  if (texts.length === 0) return null;
  const step = 10n ** 28n;
  const half = (BigInt(texts.length) * step) / 2n;
  const rounded = ((sum < 0n ? sum - half : sum + half) / (BigInt(texts.length) * step)) * step;
  return textOf(rounded).replace(/\.?0+$/, "");
}

/** The first or the last of dates or exact numbers, and other scalars. Of equal ones, it is the first or the last text. */
function extremeOf(values: readonly unknown[], kind: string, as: DeclaredMeaning): unknown {
  const sorted = values
    .filter((each) => ["boolean", "number", "string"].includes(typeof each))
    .sort((a, b) => compareParts(compareBy(a, as), compareBy(b, as)));
  const found = kind === "min" ? sorted[0] : sorted.at(-1);
  return comparedKeyOf(found, as) === undefined ? sortValueOf(found) : found;
}

/** How a group key or figure is compared. The text of a unit is no date. */
function comparedAs(key: GroupKey | Figure): DeclaredMeaning | undefined {
  if (!("as" in key)) return undefined;
  return "unit" in key && key.unit !== undefined ? undefined : key.as;
}

interface Group {
  keys: readonly unknown[];
  figures: readonly unknown[];
}

function compareKeys(a: readonly unknown[], b: readonly unknown[], group: readonly GroupKey[]): number {
  for (const [n, key] of group.entries()) {
    const as = comparedAs(key);
    const order = compareParts(compareBy(a[n], as), compareBy(b[n], as));
    if (order !== 0) return order;
  }
  return 0;
}

/** The figures by a computation over all resources in memory: what every store must return, without the sequence. */
export function computeFigures(
  all: readonly Resource[],
  { filter, group, figures: named, sort, limit, offset }: Query,
): Omit<Figures, "sequence"> {
  const fitting = all.filter((each) => filter === undefined || matches(filter, each));
  const groups = new Map<string, { keys: unknown[]; resources: Resource[] }>();
  if (group.length === 0) groups.set("", { keys: [], resources: [] });
  for (const resource of fitting) {
    const keys = group.map((key) => keyOf(resource, key));
    const name = keys.map((key, n) => nameOf(key, comparedAs(group[n] as GroupKey))).join("\0");
    const known = groups.get(name) ?? { keys, resources: [] };
    known.resources.push(resource);
    known.keys = known.keys.map((key, n) => (textOf(keys[n]) < textOf(key) ? keys[n] : key));
    groups.set(name, known);
  }
  const made = [...groups.values()].map(
    ({ keys, resources }): Group => ({ keys, figures: named.map((each) => figureOf(resources, each)) }),
  );
  const ofSort = ({ keys, figures }: Group, { of, place }: FigureSortKey) =>
    of === "group"
      ? compareBy(keys[place], comparedAs(group[place] as GroupKey))
      : figureOrder(figures[place], named[place] as Figure);
  made.sort((a, b) => {
    for (const key of sort) {
      const isNull = (group: Group) =>
        ((key.of === "group" ? group.keys : group.figures)[key.place] ?? null) === null;
      const moved = key.movesNulls === true ? Number(isNull(a)) - Number(isNull(b)) : 0;
      const order = moved || compareParts(ofSort(a, key), ofSort(b, key));
      if (order !== 0) return key.descending ? -order : order;
    }
    return compareKeys(a.keys, b.keys, group);
  });
  return {
    groups: made
      .slice(offset, offset + limit)
      .map(({ keys, figures }) => [...keys, ...figures].map((each) => JSON.stringify(each))),
    more: made.length > offset + limit,
  };
}

const textOf = (value: unknown) => JSON.stringify(value) ?? "";
const nameOf = (value: unknown, as: DeclaredMeaning | undefined) =>
  (as && comparedKeyOf(value, as)) ?? (JSON.stringify(value) || "absent");
const compareBy = (value: unknown, as?: DeclaredMeaning) => ({
  sortValue: sortValueOf(value, as) as SortValue,
  // Groups have one key for each instant.
  text: textOf(value),
});
/** How groups are sorted by a figure. Values with equal keys are equal, in whatever form. A total can have more digits than a value. */
function figureOrder(value: unknown, figure: Figure): ReturnType<typeof compareBy> {
  const as = comparedAs(figure);
  const isTotal = figure.kind === "sum" || figure.kind === "avg";
  const ofTotal = isTotal && typeof value === "string" ? keyOfExact(value) : undefined;
  const key = as && (ofTotal ?? comparedKeyOf(value, as));
  return key === undefined ? compareBy(value, as) : { sortValue: [key], text: "" };
}

const compareParts = (a: ReturnType<typeof compareBy>, b: ReturnType<typeof compareBy>) =>
  compareSortValues(a.sortValue, b.sortValue) || compareCodePoints(a.text, b.text);
