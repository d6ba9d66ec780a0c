/** The types of update operators, derived from the attributes of the resources. */
import type { At, Path } from "./list-types.ts";

/** Attributes, or dotted paths of nested attributes, each with one operator. */
export type Updates<T> = { readonly [P in Path<T>]?: Update<At<T, P>> };

/** Write-only attributes. They change only as a whole, because no client can read them. */
export type WholeUpdates<T> = {
  readonly [K in keyof T]?: OneOf<Removal<T[K]> & { $set: Exclude<T[K], undefined> }>;
};

/** One operator that fits values of this type. */
type Update<V> = unknown extends V
  ? OneOf<Numbers<number> & Arrays<unknown[]> & { $set: unknown; $unset: true }>
  : OneOf<Numbers<V> & Arrays<V> & Removal<V> & { $set: Exclude<V, undefined> }>;

type Numbers<V> = [Extract<V, number>] extends [never]
  ? unknown
  : { $increment: number; $min: number; $max: number };

type Arrays<V> = [Extract<V, readonly unknown[]>] extends [never]
  ? unknown
  : { [O in "$append" | "$addUnique" | "$remove"]: Extract<V, readonly unknown[]> };

/** The operator `$unset`, if the attribute can be absent. */
type Removal<V> = undefined extends V ? { $unset: true } : unknown;

type OneOf<All> = {
  [O in keyof All]: { readonly [K in O]: All[K] } & { readonly [K in Exclude<keyof All, O>]?: never };
}[keyof All];
