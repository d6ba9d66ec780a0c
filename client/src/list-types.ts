/** What can be asked of a list, by the attributes that its resources have. */

/** What is asked of a list; nothing of it must be given. */
export interface ListQuery<T, F extends keyof T> {
  readonly filter?: Filter<T>;
  /** Attributes, each with `-` in front where it is to descend. */
  readonly sort?: SortKey<T> | readonly SortKey<T>[];
  /** How many resources come with one request. @default 100 */
  readonly limit?: number;
  /** How many resources are left out at the beginning. */
  readonly offset?: number;
  /** The attributes to answer with, beside `id`. @default all */
  readonly fields?: readonly F[];
  /** Words to search for. */
  readonly q?: string;
  /** Reads the list as it was at this time: a `Date`, `2026-01-31`, a timestamp, or Unix time in milliseconds. */
  readonly at?: Date | string | number;
  /** Whether the number of all resources is wanted in any case, or in none. */
  readonly count?: "exact" | "none";
}

/** Conditions, all of which must be true. */
export type Filter<T> = { readonly [P in Path<T>]?: Condition<At<T, P>> } & {
  readonly and?: readonly Filter<T>[];
  readonly or?: readonly Filter<T>[];
  readonly not?: Filter<T>;
};

/** An attribute's value, one of several, or operators that must all be true of it. */
export type Condition<V> = unknown extends V ? unknown : Scalar<V> | readonly Scalar<V>[] | Operators<V>;

/** The operators that an attribute of such values has. */
export type Operators<V> = {
  readonly eq?: Scalar<V>;
  readonly ne?: Scalar<V>;
  readonly in?: readonly Scalar<V>[];
  readonly nin?: readonly Scalar<V>[];
  readonly exists?: boolean;
} & Ordered<Extract<V, string | number>> &
  Texts<Extract<V, string>> &
  Elements<Extract<V, readonly unknown[]>>;

/** An attribute to sort by. */
export type SortKey<T> = Path<T> | `-${Path<T>}`;

type Scalar<V> = Exclude<V, object | undefined>;

type Ordered<V> = [V] extends [never]
  ? unknown
  : { readonly [O in "gt" | "gte" | "lt" | "lte"]?: V extends string ? string : number };

type Texts<V> = [V] extends [never]
  ? unknown
  : { readonly [O in "contains" | "startsWith" | "endsWith"]?: string };

type Elements<V> = [V] extends [never]
  ? unknown
  : V extends readonly (infer E)[]
    ? { readonly contains?: Scalar<E> }
    : unknown;

/** Names of attributes; of nested ones with dots, four levels down. */
export type Path<T, Above extends readonly unknown[] = []> = Above["length"] extends 4
  ? never
  : { [K in keyof T & string]-?: K | Below<K, Nested<T[K]>, Above> }[keyof T & string];

type Below<K extends string, V, Above extends readonly unknown[]> = [V] extends [never]
  ? never
  : `${K}.${Path<V, [...Above, unknown]>}`;

type Nested<V> = V extends readonly unknown[] ? never : V extends object ? V : never;

type At<T, P> = P extends keyof T
  ? T[P]
  : P extends `${infer K}.${infer Rest}`
    ? K extends keyof T
      ? At<Nested<T[K]>, Rest>
      : unknown
    : unknown;
