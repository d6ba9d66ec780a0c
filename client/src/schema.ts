/**
 * The TypeScript types of JSON Schemas, as far as a type can express a schema. The type of an unknown keyword, or of a schema
 * that is not a literal type, is `unknown`.
 */

/** The type of values that fit a schema: a JSON Schema with literal types (`as const`), or TypeBox. */
export type FromSchema<S> = S extends boolean
  ? S extends false
    ? never
    : unknown
  : S extends { readonly static: infer T } // TypeBox before 1.0
    ? T
    : ByValue<S> & ByType<S> & ByAny<S> & ByAll<S>;

type ByValue<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : unknown;

type ByType<S> = S extends { readonly type: infer T }
  ? OfName<T extends readonly (infer Name)[] ? Name : T, S>
  : S extends { readonly properties: unknown }
    ? ObjectOf<S>
    : unknown;

type OfName<Name, S> = Name extends "string"
  ? TextOf<S>
  : Name extends "integer" | "number"
    ? number
    : Name extends "boolean"
      ? boolean
      : Name extends "null"
        ? null
        : Name extends "array"
          ? ArrayOf<S>
          : Name extends "object"
            ? ObjectOf<S>
            : unknown;

/** A number with all its digits, as a text: `"12.50"`. The service compares and adds such texts by their values. */
export type ExactNumber = `${number}`;

type TextOf<S> = S extends { readonly format: "decimal" | "int64" } ? ExactNumber : string;

type ByAny<S> = S extends { readonly anyOf: readonly (infer A)[] }
  ? FromSchema<A>
  : S extends { readonly oneOf: readonly (infer O)[] }
    ? FromSchema<O>
    : unknown;

type ByAll<S> = S extends { readonly allOf: infer All } ? Both<All> : unknown;

type Both<All> = All extends readonly [infer First, ...infer Rest] ? FromSchema<First> & Both<Rest> : unknown;

type ArrayOf<S> = S extends { readonly prefixItems: unknown }
  ? unknown[]
  : S extends { readonly items: infer Items }
    ? FromSchema<Items>[]
    : unknown[];

type ObjectOf<S> = S extends { readonly properties: infer P }
  ? Members<P, RequiredOf<S>> & Others<S>
  : Record<string, unknown>;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type Members<P, Required> = Flat<
  { -readonly [K in keyof P as K extends Required ? K : never]: FromSchema<P[K]> } & {
    -readonly [K in keyof P as K extends Required ? never : K]?: FromSchema<P[K]>;
  }
>;

/** The type of further attributes. If a schema does not mention them, the service refuses them. */
type Others<S> = S extends { readonly additionalProperties: infer A }
  ? A extends false
    ? unknown
    : Record<string, unknown>
  : S extends { readonly patternProperties: unknown }
    ? Record<string, unknown>
    : unknown;

/** The same type, shown as one object. */
export type Flat<T> = { [K in keyof T]: T[K] };
