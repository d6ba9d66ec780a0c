/**
 * Figures of a list: counts, sums, averages and extremes, for the whole list or for groups of its resources. This file
 * defines what a client can ask for, and what the values mean. `figures-request.ts` reads the two syntaxes.
 *
 * Every store must give the values that these comments describe, in the same order. `sum` and `avg` of numbers that are
 * not integers can differ by 1e-12 of the sum of their absolute values.
 */

import { isDate } from "../collection/dates.ts";
import type { Path } from "../collection/paths.ts";
import { localTime, type TimeZone } from "../collection/time-zones.ts";
import type { DeclaredMeaning } from "../collection/types/declared-types.ts";
import type { RelatedCondition } from "./filter.ts";

/** The figures of an attribute. */
export const attributeFigures = ["sum", "avg", "min", "max"] as const;

/** One figure. `name` is its text in the request, and the name of its member in the response. */
export type Figure =
  /** The number of resources. */
  | { kind: "count"; name: string }
  /**
   * `sum` adds the numbers, and ignores all other values. Without numbers, it is 0. It is null if it exceeds the range
   * of numbers. `avg` is null without numbers. If the schema declares an exact number, both are texts and about exact numbers alone.
   * The sum is exact, with the most digits after the point that one of the numbers has, and the average is rounded to 12 of them
   * (`averageText`).
   *
   * `min` and `max` are the first and the last boolean, number or string in the order of lists, without the code
   * points of a string that the order ignores. They ignore all other values, and are null without a value. If the schema
   * declares a type such as a date, they are the first and the last value by what it means. Of equal values, the minimum is the first JSON
   * text by code point, and the maximum the last.
   */
  | { kind: (typeof attributeFigures)[number]; name: string; path: Path; as?: DeclaredMeaning };

/** The units of dates by which resources can be grouped, with the length of their texts. That of a week is its Monday. */
export const dateUnits = { year: 4, month: 7, week: 10, day: 10, hour: 13, minute: 16 } as const;

/** A unit of dates. */
export type DateUnit = keyof typeof dateUnits;

const dateShape = /^\d{4}-\d\d-\d\d(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z)?$/;

/** The date in a text, with its time, as a unit of dates needs it. `undefined` if the text is no date. */
export function wholeDate(text: unknown): string | undefined {
  if (typeof text !== "string" || !dateShape.test(text) || !isDate(text.slice(0, 10))) return undefined;
  return text.length === dateUnits.day ? `${text}T00:00` : text;
}

const dayMs = 86_400_000;

/**
 * The text of a unit in a time zone. `moment`: a day, or the first 19 characters of a time in UTC, such as `2026-01-31T08:30:00`. A day is
 * the same in all zones. `undefined` if the unit begins in a year that no text can have.
 */
export function unitText(moment: string, unit: DateUnit, zone: TimeZone | undefined): string | undefined {
  const isDay = moment.length === dateUnits.day;
  const time = Date.parse(isDay ? moment : `${moment}Z`);
  const local = isDay ? time : localTime(zone, time);
  const daysBefore = unit === "week" ? (new Date(local).getUTCDay() + 6) % 7 : 0;
  const text = new Date(local - daysBefore * dayMs).toISOString();
  return /^\d/.test(text) ? text.slice(0, dateUnits[unit]) : undefined;
}

/**
 * One attribute by which resources are grouped. `name` is its text in the request, and the name of its member in the
 * response.
 *
 * Two resources belong to the same group if their values have the same JSON text. If the schema declares a date or an exact number, all forms of an
 * instant or a number are one group, with the first of its JSON texts by code point. Resources without the attribute have a group without a
 * value, which is not the group of null. A related resource that does not match its condition counts as absent.
 *
 * With a unit, the value is the beginning of a date in UTC: `2026-01` for a month, `2026-01-31T08` for an hour. Dates
 * are days (`2026-01-31`, which is their first minute) and timestamps (`2026-01-31T08:30:00Z`, with up to 9 digits after
 * the seconds) that exist. If the schema declares a date, it is the beginning of any form, in UTC. For all other values, and
 * without the attribute, it is null. With a zone, it is the beginning of the local time (`unitText`).
 */
export interface GroupKey<Through = RelatedCondition> {
  name: string;
  path: Path;
  as?: DeclaredMeaning;
  unit: DateUnit | undefined;
  /** The name of the time zone of the unit (`timeZone`). @default UTC */
  zone?: string;
  /** The key is an attribute of the resource that this reference names. */
  through?: Through;
}

/** A sort key of groups: the place of a group key or of a figure in the request. */
export interface FigureSortKey {
  of: "group" | "figures";
  place: number;
  descending: boolean;
  /** Null comes last, and in descending order first. Otherwise it is the other way round. */
  movesNulls?: true;
}

/** The figures and groups of a request. */
export interface FigureContents<Through = RelatedCondition> {
  /** The names of figures and groups are all different. There is at least one figure. */
  figures: readonly Figure[];
  /** Without keys, all resources are one group, even if the list is empty. */
  group: readonly GroupKey<Through>[];
  /**
   * The order. Null comes first, unless a key moves nulls. Groups with equal keys are in the order of their values, key by key: in the order of
   * lists, and then by the code points of their JSON texts, and an absent value comes before null.
   */
  sort: readonly FigureSortKey[];
}
