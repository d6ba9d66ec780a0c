/** The types of resources of a declared collection, for reading and for each kind of write. */

import type { At, Path } from "./list-types.ts";
import type { ExactNumber, Flat, FromSchema } from "./schema.ts";

/** The part of a configuration that the types depend on. */
export interface ConfigurationTypes {
  readonly collections?: object;
  readonly routes?: object;
}

/** The collections by name. Without declared collections, every name is allowed, and resources can have any attributes. */
export type CollectionsOf<C extends ConfigurationTypes> = C extends { readonly collections: infer All }
  ? All
  : Record<string, object>;

/** The type of the ids in a collection. */
export type IdOf<D> = D extends { readonly id: "integer" } ? number : string;

/** The resource to write: its id, or the resource as it was read. In the second case, it must not have changed since then. */
export type ResourceOrId<D> = IdOf<D> | { readonly id: IdOf<D> };

/** A resource in a response. */
export type ResourceOf<D> = Flat<
  { readonly id: IdOf<D> } & Without<AttributesOf<D>, Secrets<D>> & Timestamps<D>
>;

/** A deleted resource as it was. */
export type DeletedOf<D> = Flat<ResourceOf<D> & { readonly _deleted: Deletion }>;

/** The delete of a resource. */
export interface Deletion {
  readonly at: string;
  /** Who deleted it. Missing if it is not known, or if you cannot see it. */
  readonly by?: string;
  /** The last version of the resource. `restore` takes it. */
  readonly version: number;
}

/** The attributes of a new resource. The service ignores an `id`. */
export type InputOf<D> = Flat<
  { readonly id?: unknown } & Without<AttributesOf<D>, Defaulted<D> | Fixed<D>> &
    Partial<Only<AttributesOf<D>, Exclude<Defaulted<D>, Fixed<D>>>>
>;

/** The new state of a resource: all readable attributes, and the write-only attributes that change. */
export type ReplacementOf<D> = Flat<ResourceOf<D> & Partial<Only<AttributesOf<D>, Secrets<D>>>>;

/** A resource to import. It keeps its id and its timestamps; without an id, it gets a new one. */
export type ImportedOf<D> = Flat<
  { readonly id?: string | number } & Without<AttributesOf<D>, Defaulted<D>> &
    Partial<Only<AttributesOf<D>, Defaulted<D>>> &
    Timestamps<D>
>;

/** A merge patch of the attributes that clients can change. */
export type ChangesOf<D> = MergePatch<Without<AttributesOf<D>, Fixed<D>>>;

/** Update operators: `{ views: { $increment: 1 }, "author.name": { $set: "Ann" } }`. */
export type UpdateOf<D> = Updates<Without<AttributesOf<D>, Fixed<D> | Secrets<D>>> &
  WholeUpdates<Only<AttributesOf<D>, Secrets<D>>>;

/** The option with which a create chooses the id. In a collection with integer ids, the service counts. */
export interface ChosenId<D> {
  /** The id of the new resource. If it is taken, the create throws ConflictError. @default the service makes one */
  readonly id?: D extends { readonly id: "integer" } ? never : string;
}

/** A JSON Merge Patch (RFC 7396). Null removes an attribute that can be absent. */
export type MergePatch<T> = { [K in keyof T]?: Patched<Exclude<T[K], null | undefined>> | Removal<T, K> };

type Patched<V> = V extends readonly unknown[] ? V : V extends object ? MergePatch<V> : V;

type Removal<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? null : never;

/** One operation of a JSON Patch (RFC 6902). */
export type JsonPatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

type AttributesOf<D> = D extends { readonly schema: infer S } ? FromSchema<S> : Record<string, unknown>;

type Timestamps<D> = D extends { readonly timestamps: true }
  ? { readonly createdAt?: string; readonly updatedAt?: string } // resources older than the option may lack them
  : unknown;

type Without<T, Names> = { [K in keyof T as K extends Names | "id" ? never : K]: T[K] };

type Only<T, Names> = { [K in keyof T as K extends Names ? K : never]: T[K] };

type Defaulted<D> =
  | (D extends { readonly defaults: infer All } ? keyof All : never)
  | Marked<D, { readonly default: unknown }>;

type Secrets<D> = Marked<D, { readonly writeOnly: true }>;

type Fixed<D> =
  | Marked<D, { readonly readOnly: true }>
  | (D extends { readonly timestamps: true } ? "createdAt" | "updatedAt" : never);

/** The names of the attributes with this mark in the declaration, in the schema or outside it. */
type Marked<D, Mark> =
  | (D extends { readonly attributes: infer All } ? NamesOf<All, Mark> : never)
  | (D extends { readonly schema: { readonly properties: infer All } } ? NamesOf<All, Mark> : never);

type NamesOf<All, Mark> = { [K in keyof All]: All[K] extends Mark ? K : never }[keyof All];

/** Attributes, or dotted paths of nested attributes, each with one operator. */
type Updates<T> = { readonly [P in Path<T>]?: Update<At<T, P>> };

/** Write-only attributes. They change only as a whole, because no client can read them. */
type WholeUpdates<T> = {
  readonly [K in keyof T]?: OneOf<Unset<T[K]> & { $set: Exclude<T[K], undefined> }>;
};

/** One operator that fits values of this type. */
type Update<V> = unknown extends V
  ? OneOf<Numbers<number> & Arrays<unknown[]> & { $set: unknown; $unset: true }>
  : OneOf<Numbers<V> & Arrays<V> & Unset<V> & { $set: Exclude<V, undefined> }>;

type Numbers<V> = [Extract<V, number | ExactNumber>] extends [never]
  ? unknown
  : { [O in "$increment" | "$min" | "$max"]: ExactNumber extends V ? number | ExactNumber : number };

type Arrays<V> = [Extract<V, readonly unknown[]>] extends [never]
  ? unknown
  : { [O in "$append" | "$addUnique" | "$remove"]: Extract<V, readonly unknown[]> };

/** The operator `$unset`, if the attribute can be absent. */
type Unset<V> = undefined extends V ? { $unset: true } : unknown;

type OneOf<All> = {
  [O in keyof All]: { readonly [K in O]: All[K] } & { readonly [K in Exclude<keyof All, O>]?: never };
}[keyof All];
