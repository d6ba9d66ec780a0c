/** The relations that the references of a configuration declare, and the types of embedded resources. */
import type { At, Chosen, Condition, Conditions, FieldName, PageLimit, Path, SortKey } from "./list-types.ts";
import type { InputOf, ResourceOf } from "./resource-types.ts";
import type { Flat } from "./schema.ts";

type References<D> = D extends { readonly references: infer R } ? R : Record<never, never>;

type TargetOf<R> = R extends string ? R : R extends { readonly collection: infer T } ? T : never;

/** `authorId` refers to an `author`, unless the declaration has another name. */
type ForwardName<K, R> = R extends { readonly as: infer A extends string } ? A : DefaultName<K>;

type DefaultName<K> = K extends `${string}.${string}`
  ? never
  : K extends `${infer N}_ids` | `${infer N}_id` | `${infer N}Ids` | `${infer N}Id`
    ? N extends ""
      ? never
      : N
    : never;

type IsList<D, K> = K extends keyof ResourceOf<D>
  ? NonNullable<ResourceOf<D>[K]> extends readonly unknown[]
    ? true
    : false
  : false;

type Forward<D> = {
  [K in keyof References<D> & string as ForwardName<K, References<D>[K]>]: {
    readonly to: TargetOf<References<D>[K]>;
    readonly isList: IsList<D, K>;
    readonly isInverse: false;
    readonly via: K;
  };
};

/** The references of a declaration that lead to a collection. */
type KeysTo<D, Name> = {
  [K in keyof References<D> & string]: TargetOf<References<D>[K]> extends Name ? K : never;
}[keyof References<D> & string];

type IsUnion<T, All = T> = [T] extends [never]
  ? false
  : T extends All
    ? [All] extends [T]
      ? false
      : true
    : never;

type InverseName<R, From, Keys> = R extends { readonly inverse: infer I extends string }
  ? I
  : IsUnion<Keys> extends true
    ? never
    : From;

type InverseFrom<D, From extends string, Name> = {
  [K in KeysTo<D, Name> as InverseName<References<D>[K & keyof References<D>], From, KeysTo<D, Name>>]: {
    readonly to: From;
    readonly isList: true;
    readonly isInverse: true;
    readonly via: K;
  };
};

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never;

/**
 * The relations of a collection by name: the related collection, whether it is a list, whether its resources refer to this
 * collection, and the attribute with the ids. `All` are the declarations of all collections.
 */
export type RelationsOf<All, Name> = Name extends keyof All
  ? Flat<
      Forward<All[Name]> &
        Intersection<{ [From in keyof All & string]: InverseFrom<All[From], From, Name> }[keyof All & string]>
    >
  : Record<never, never>;

type Target<All, R> = R extends { readonly to: infer To extends keyof All } ? To : never;

/** Whether the client does not know the configuration. Then any relation can exist. */
type IsUntyped<All> = string extends keyof All ? true : false;

/**
 * Which relations a response contains: `{ author: { fields: ["name"] }, comments: { filter: { status: "open" }, limit: 5 } }`. A
 * value in `filter` cannot have parentheses.
 */
export type Embeds<All, Name> =
  IsUntyped<All> extends true
    ? AnyEmbeds
    : { readonly [R in keyof RelationsOf<All, Name>]?: true | EmbedOptions<All, RelationsOf<All, Name>[R]> };

/** The relations of a service whose configuration the client does not know. */
export interface AnyEmbeds {
  readonly [name: string]: true | AnyEmbedOptions;
}

/** The options of one relation. */
export interface AnyEmbedOptions {
  readonly fields?: readonly string[];
  readonly filter?: Conditions<Record<string, unknown>>;
  readonly sort?: string | readonly string[];
  readonly limit?: PageLimit;
  readonly embed?: AnyEmbeds;
}

type EmbedOptions<All, R> = {
  /** The attributes to read, in addition to `id`, or those to leave out. @default all */
  readonly fields?: readonly FieldName<TargetResource<All, R>>[];
  /** The relations of the related resources. */
  readonly embed?: Embeds<All, Target<All, R>>;
} & (R extends { readonly isList: true }
  ? {
      /** The most related resources. @default 5 */
      readonly limit?: PageLimit;
    }
  : unknown) &
  (R extends { readonly isInverse: true }
    ? {
        /** The conditions that related resources must meet. */
        readonly filter?: Conditions<TargetResource<All, R>>;
        /** The order of the related resources. @default id */
        readonly sort?: SortOf<All, R> | readonly SortOf<All, R>[];
      }
    : unknown);

type TargetResource<All, R> = ResourceOf<All[Target<All, R>]>;

type SortOf<All, R> = SortKey<TargetResource<All, R>>;

/** Only known names, at every level. */
export type Strict<All, Name, E> =
  IsUntyped<All> extends true
    ? E
    : {
        [K in keyof E]: K extends keyof RelationsOf<All, Name>
          ? E[K] extends { readonly embed: infer I }
            ? Omit<E[K], "embed"> & { readonly embed: Strict<All, Target<All, RelationsOf<All, Name>[K]>, I> }
            : E[K]
          : never;
      };

type Inner<E> = E extends { readonly embed: infer I } ? I : Record<never, never>;

/** The names in the option `fields`. */
type FieldsOf<All, Name extends keyof All, E> = E extends { readonly fields: readonly (infer F)[] }
  ? F
  : keyof ResourceOf<All[Name]>;

/** The members that `embed` adds to a resource. */
export type Embedded<All, Name, E> = [keyof E] extends [never]
  ? unknown
  : IsUntyped<All> extends true
    ? Record<string, unknown>
    : {
        [K in keyof E & keyof RelationsOf<All, Name>]: Related<All, RelationsOf<All, Name>[K], E[K]>;
      } & {
        /** The references to resources that the caller cannot see, or that do not exist. */
        readonly _hidden?: readonly (keyof E & string)[];
        /** The links to the next related resources, for each array that does not contain all. */
        readonly _next?: { readonly [K in keyof E]?: string };
      };

type Related<All, R, E> = R extends { readonly isList: true }
  ? WithEmbedded<All, Target<All, R>, E>[]
  : WithEmbedded<All, Target<All, R>, E> | null;

type WithEmbedded<All, Name extends keyof All, E> = Chosen<ResourceOf<All[Name]>, FieldsOf<All, Name, E>> &
  Embedded<All, Name, Inner<E>>;

/**
 * The conditions about related resources, through one or two relations: `"author.name"`, `comments: { exists: true }`,
 * `"author.team.name"`.
 */
export type RelatedConditions<All, Name> =
  IsUntyped<All> extends true
    ? unknown
    : NearConditions<All, Name> &
        Intersection<
          {
            [R in keyof RelationsOf<All, Name> & string]: Below<
              R,
              NearConditions<All, Target<All, RelationsOf<All, Name>[R]>>
            >;
          }[keyof RelationsOf<All, Name> & string]
        >;

type NearConditions<All, Name> = Intersection<
  {
    [R in keyof RelationsOf<All, Name> & string]: ConditionsOf<
      R,
      ResourceOf<All[Target<All, RelationsOf<All, Name>[R]>]>
    >;
  }[keyof RelationsOf<All, Name> & string]
>;

type Below<R extends string, C> = {
  readonly [P in keyof C & string as `${R}.${P}`]?: Exclude<C[P], undefined>;
};

type SingleNames<All, Name> = {
  [R in keyof RelationsOf<All, Name> & string]: RelationsOf<All, Name>[R] extends { readonly isList: false }
    ? R
    : never;
}[keyof RelationsOf<All, Name> & string];

/** The resources that the references of a resource name, by relation. */
export type Singles<All, Name> =
  IsUntyped<All> extends true
    ? unknown
    : {
        readonly [R in SingleNames<All, Name>]?: ResourceOf<All[Target<All, RelationsOf<All, Name>[R]>]>;
      };

/** The attributes of the resources that references name, such as `author.name`. */
export type RelatedPath<All, Name> =
  IsUntyped<All> extends true
    ? never
    : {
        [R in SingleNames<
          All,
          Name
        >]: `${R}.${Path<ResourceOf<All[Target<All, RelationsOf<All, Name>[R]>]>>}`;
      }[SingleNames<All, Name>];

type ConditionsOf<R extends string, T> = {
  readonly [P in Path<T, [], true> as `${R}.${P}`]?: Condition<At<T, P, true>>;
} & { readonly [K in R]?: { readonly exists?: boolean } };

/** The names of the relations from a resource to the resources that refer to it. */
export type InverseNames<All, Name> =
  IsUntyped<All> extends true
    ? string
    : {
        [R in keyof RelationsOf<All, Name> & string]: RelationsOf<All, Name>[R] extends {
          readonly isInverse: true;
        }
          ? R
          : never;
      }[keyof RelationsOf<All, Name> & string];

/** The collection of related resources. */
export type RelatedName<All, Name, R> =
  IsUntyped<All> extends true
    ? string
    : R extends keyof RelationsOf<All, Name>
      ? Target<All, RelationsOf<All, Name>[R]>
      : never;

/** The attributes of a new resource below another one. The service sets its reference. */
export type NestedInput<All, Name, R> =
  IsUntyped<All> extends true
    ? Record<string, unknown>
    : R extends keyof RelationsOf<All, Name>
      ? RelationsOf<All, Name>[R] extends { readonly to: infer To extends keyof All; readonly via: infer K }
        ? Omit<InputOf<All[To]>, K & string> & Partial<Pick<InputOf<All[To]>, K & keyof InputOf<All[To]>>>
        : never
      : never;
