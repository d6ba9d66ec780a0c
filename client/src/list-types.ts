/** The types of list queries, derived from the attributes of the resources. */

/** The number of items on a page. `max` asks for the most that a page can have. */
export type PageLimit = number | "max";

/**
 * The options of a list. All are optional. `X` are conditions about related resources, and `R` the attributes of those that references
 * name.
 */
export interface ListQuery<T, F extends FieldName<T>, X = unknown, R extends string = never> {
  readonly filter?: Filter<T, X>;
  /** Attributes to sort by. A `-` before a name means descending order. */
  readonly sort?: SortKey<T> | Signed<R> | readonly (SortKey<T> | Signed<R>)[];
  /** The number of resources on each page. @default 100 */
  readonly limit?: PageLimit;
  /** How many resources to skip at the beginning. */
  readonly offset?: number;
  /** The attributes to read, in addition to `id`, or those to leave out, such as `-body`. @default all */
  readonly fields?: readonly F[];
  /** Words to search for. */
  readonly q?: string;
  /** Reads the list as it was at this time: a `Date`, `2026-01-31`, a timestamp, or Unix time in milliseconds. */
  readonly at?: Date | string | number;
  /** The time zone of `today` in the filter: `Europe/Berlin`. @default UTC */
  readonly timezone?: string;
  /** Whether to count all resources (`exact`) or never to count them (`none`). */
  readonly count?: "exact" | "none";
  /** Parameters as a query string, such as `status=draft&views:gte=10`, in addition to the other options. */
  readonly query?: string;
}

/** Conditions, all of which must be true. `X` are conditions about related resources. */
export type Filter<T, X = unknown> = Conditions<T> &
  X & {
    readonly and?: readonly Filter<T, X>[];
    readonly or?: readonly Filter<T, X>[];
    readonly not?: Filter<T, X>;
  };

/** The condition for one attribute: a value, a list of possible values, or operators that must all be true. */
export type Condition<V> = unknown extends V ? unknown : Scalar<V> | readonly Scalar<V>[] | Operators<V>;

/** The operators for an attribute with values of this type. */
export type Operators<V> = {
  readonly eq?: Scalar<V> | OtherAttribute;
  readonly ne?: Scalar<V> | OtherAttribute;
  readonly in?: readonly Scalar<V>[];
  readonly nin?: readonly Scalar<V>[];
  readonly exists?: boolean;
} & Ordered<Extract<V, string | number>> &
  Texts<Extract<V, string>> &
  Elements<Extract<V, readonly unknown[]>>;

/** Another attribute to compare with, also one of a related resource: `{ attribute: "event.seats" }`. */
export interface OtherAttribute {
  readonly attribute: string;
}

/** The name of an attribute to read, or of one to leave out: `-body`. */
export type FieldName<T> = (keyof T & string) | `-${keyof T & string}`;

/** The names of the attributes that `fields` chooses, with `id`. */
type ChosenBy<T, F> =
  | ("id" & keyof T)
  | ([F] extends [`-${string}`] ? Exclude<keyof T, F extends `-${infer K}` ? K : never> : F & keyof T);

/** The attributes that `fields` chooses. `Pick` would lose their types in a resource that can have any others. */
export type Chosen<T, F> = { [K in keyof T as K extends ChosenBy<T, F> ? K : never]: T[K] };

/** Conditions for attributes, without `and`, `or` and `not`. */
export type Conditions<T> = { readonly [P in Path<T, [], true>]?: Condition<At<T, P, true>> };

/** An attribute to sort by. After `:natural`, texts have natural order. `:nullsfirst` and `:nullslast` say where null and absent values are. */
export type SortKey<T> = Signed<Path<T>>;

type Signed<P extends string> = `${"" | "-"}${P}${"" | ":natural"}${"" | ":nullsfirst" | ":nullslast"}`;

type Scalar<V> = Exclude<V, object | undefined>;

type Ordered<V> = [V] extends [never]
  ? unknown
  : { readonly [O in "gt" | "gte" | "lt" | "lte"]?: (V extends string ? string : number) | OtherAttribute };

type Texts<V> = [V] extends [never]
  ? unknown
  : {
      readonly [O in "contains" | "startsWith" | "endsWith" | "eqi" | "containsi" | "startsWithi"]?: string;
    } & { readonly ini?: readonly string[] };

type Elements<V> = [V] extends [never]
  ? unknown
  : V extends readonly (infer E)[]
    ? { readonly contains?: Scalar<E>; readonly containsi?: Extract<E, string> } & ([Nested<E>] extends [
        never,
      ]
        ? unknown
        : { readonly any?: Filter<Nested<E>> })
    : unknown;

/**
 * The names of attributes, and dotted paths of nested attributes, up to four levels deep. `Lists`: also those of the objects in
 * arrays, which conditions can name.
 */
export type Path<
  T,
  Above extends readonly unknown[] = [],
  Lists extends boolean = false,
> = Above["length"] extends 4
  ? never
  : { [K in keyof T & string]-?: K | Below<K, Nested<T[K], Lists>, Above, Lists> }[keyof T & string];

type Below<K extends string, V, Above extends readonly unknown[], Lists extends boolean> = [V] extends [never]
  ? never
  : `${K}.${Path<V, [...Above, unknown], Lists>}`;

type Nested<V, Lists = false> = V extends readonly (infer E)[]
  ? Lists extends true
    ? Nested<E>
    : never
  : V extends object
    ? V
    : never;

/** The type of the values at a path. */
export type At<T, P, Lists extends boolean = false> = P extends keyof T
  ? T[P]
  : P extends `${infer K}.${infer Rest}`
    ? K extends keyof T
      ? At<Nested<T[K], Lists>, Rest, Lists>
      : unknown
    : unknown;
