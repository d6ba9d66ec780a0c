/** The types of figures and their options, derived from the attributes of the resources. */
import type { At, Filter, PageLimit, Path } from "./list-types.ts";
import type { ExactNumber } from "./schema.ts";

/** The units of dates by which resources can be grouped. */
export type DateUnit = "year" | "month" | "week" | "day" | "hour" | "minute";

/** A figure: `count`, `sum(views)`, `avg(views)`, `min(views)` or `max(views)`. */
export type FigureName<T> =
  | "count"
  | "count()"
  | `${"sum" | "avg"}(${PathOf<T, number | ExactNumber>})`
  | `${"min" | "max"}(${Path<T>})`;

/** A group key: an attribute, or a unit of its date, such as `placedAt:month`. */
export type GroupName<T> = Path<T> | `${PathOf<T, string>}:${DateUnit}`;

/** A group or figure to sort by. `:nullsfirst` and `:nullslast` say where null is. */
export type SortedName<Names extends string> = `${"" | "-"}${Names}${"" | ":nullsfirst" | ":nullslast"}`;

/** The options of figures, besides the figures and groups. `Names` are the names of both. `X` are conditions about related resources. */
export interface FigureOptions<T, Names extends string, X = unknown> {
  readonly filter?: Filter<T, X>;
  /** Words to search for. */
  readonly q?: string;
  /** Groups and figures. A `-` before a name means descending order. */
  readonly sort?: SortedName<Names> | readonly SortedName<Names>[];
  /** The time zone of the units of groups, and of `today` in the filter: `Europe/Berlin`. @default UTC */
  readonly timezone?: string;
  /** The number of groups on each page. @default 100 */
  readonly limit?: PageLimit;
  /** How many groups to skip at the beginning. */
  readonly offset?: number;
}

/** The figures of one group. An attribute that the resources of the group lack is missing. */
export type FigureGroup<T, Figures extends string, Groups extends string> = {
  readonly [N in Figures]: FigureValue<T, N>;
} & { readonly [N in Groups as IsCertain<T, N> extends true ? N : never]: GroupValue<T, N> } & {
  readonly [N in Groups as IsCertain<T, N> extends true ? never : N]?: GroupValue<T, N>;
};

type FigureValue<T, N> = N extends `${"min" | "max"}(${infer P})`
  ? unknown extends At<T, P>
    ? unknown
    : Extract<At<T, P>, string | number | boolean> | null
  : N extends `${string}(${infer P})`
    ? N extends "count()"
      ? number
      : TotalOf<At<T, P>> | null
    : number;

/** A sum or an average. That of exact numbers is exact. */
type TotalOf<V> = [Extract<V, ExactNumber>] extends [never] ? number : ExactNumber;

type GroupValue<T, N> =
  N extends Path<T>
    ? Exclude<At<T, N>, undefined>
    : N extends `${string}:${DateUnit}`
      ? string | null
      : unknown;

/** Whether every group has the member: dates are null if they are missing. */
type IsCertain<T, N> = N extends keyof T
  ? Record<never, never> extends Pick<T, N>
    ? false
    : true
  : N extends Path<T>
    ? false
    : true;

/** The attributes that can have values of a type. */
type PathOf<T, V> = {
  [P in Path<T>]: unknown extends At<T, P> ? P : Extract<At<T, P>, V> extends never ? never : P;
}[Path<T>];
