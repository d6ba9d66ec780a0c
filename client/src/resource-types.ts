/** What resources of a declared collection look like, to who reads and to who writes them. */
import type { Flat, FromSchema } from "./schema.ts";

/** A configuration, or the part of one that types are taken from. */
export interface ConfigurationTypes {
  readonly collections?: object;
}

/** The collections by name. Without declared ones, any name has resources of any attributes. */
export type CollectionsOf<C extends ConfigurationTypes> = C extends { readonly collections: infer All }
  ? All
  : Record<string, object>;

/** The id that resources of a collection have. */
export type IdOf<D> = D extends { readonly id: "integer" } ? number : string;

/** A resource as it is read. */
export type ResourceOf<D> = Flat<
  { readonly id: IdOf<D> } & Without<AttributesOf<D>, Secrets<D>> & Timestamps<D>
>;

/** What a resource is created from. An `id` may be there, and is ignored. */
export type InputOf<D> = Flat<
  { readonly id?: unknown } & Without<AttributesOf<D>, Defaulted<D> | Fixed<D>> &
    Partial<Only<AttributesOf<D>, Exclude<Defaulted<D>, Fixed<D>>>>
>;

/** What a resource is replaced by: what was read, and attributes that nobody can read where they are to change. */
export type ReplacementOf<D> = Flat<ResourceOf<D> & Partial<Only<AttributesOf<D>, Secrets<D>>>>;

/** The attributes that a patch may change. */
export type ChangesOf<D> = MergePatch<Without<AttributesOf<D>, Fixed<D>>>;

/** A JSON Merge Patch (RFC 7396): null removes an attribute that may be absent. */
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

type Defaulted<D> = D extends { readonly defaults: infer All } ? keyof All : never;

type Secrets<D> = Marked<D, { readonly writeOnly: true }>;

type Fixed<D> =
  | Marked<D, { readonly readOnly: true }>
  | (D extends { readonly timestamps: true } ? "createdAt" | "updatedAt" : never);

/** Names of the attributes of which the declaration says so, in the schema or beside it. */
type Marked<D, Mark> =
  | (D extends { readonly attributes: infer All } ? NamesOf<All, Mark> : never)
  | (D extends { readonly schema: { readonly properties: infer All } } ? NamesOf<All, Mark> : never);

type NamesOf<All, Mark> = { [K in keyof All]: All[K] extends Mark ? K : never }[keyof All];
