/**
 * A collection, with everything that its declaration says. `declaration.ts` creates it from the configuration.
 *
 * This room does not know HTTP, and does not know where resources are stored.
 */
import type { Default } from "./defaults.ts";
import type { Deletions } from "./deletions.ts";
import type { IdKind } from "./ids.ts";
import type { Index, SortKey } from "./indexes.ts";
import type { Path } from "./paths.ts";
import type { Reference } from "./references.ts";
import type { Relation, UnnamedRelation } from "./relations.ts";
import type { Validator } from "./resource.ts";
import type { Unique } from "./unique.ts";
import type { AttributeRule, AttributeVisibility } from "./visibility.ts";

/** A collection. In open mode, it has no schema and no options. */
export interface Collection {
  name: string;
  idKind: IdKind;
  /** The declared schema as JSON text; `undefined`: any attributes are allowed. */
  schema: string | undefined;
  /** Indexes that make lists fast. */
  indexes: readonly Index[];
  /** Attributes that full-text search reads. */
  search: readonly Path[];
  /** Attributes whose values no two resources share. */
  unique: readonly Unique[];
  /** Attributes that contain ids of existing resources. */
  references: readonly Reference[];
  /** The ways to related resources, by name. */
  relations: ReadonlyMap<string, Relation>;
  /** The relations that have no name, because nothing declares one. Only advice uses them. */
  unnamed: readonly UnnamedRelation[];
  /** Whether a write to an existing resource requires a precondition, such as `If-Match`. */
  requirePreconditions: boolean;
  /** Values of attributes that a create does not contain. */
  defaults: readonly Default[];
  /** Whether the service sets `createdAt` and `updatedAt`. Clients cannot set them then. */
  timestamps: boolean;
  /** The attribute with the time from which a resource does not exist any more. @default resources do not expire */
  expires?: SortKey | undefined;
  /** The attributes that the service computes. Stored resources can still lack them, or have earlier values. @default none */
  computes?: ReadonlySet<string>;
  /** The rules for single attributes. */
  attributeRules: readonly AttributeRule[];
  /**
   * The attributes that the caller can see and set. In a declared collection before a request: those of a caller without
   * roles. Absent: all attributes.
   */
  visibility?: AttributeVisibility | undefined;
  /** Set if its resources are deleted ones: they also have the member `_deleted` (`deletions.ts`). */
  deletions?: Deletions;
  /** Checks the attributes that clients can set. */
  validate: Validator;
}

/** The names that a collection can have: a letter, then letters, digits, `_` and `-`, up to 63 characters. */
export const collectionName = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/** The parts that all collections in open mode share. Each request makes its collection from them. */
const openDeclaration = {
  idKind: "uuid",
  schema: undefined,
  indexes: [],
  search: [],
  unique: [],
  references: [],
  relations: new Map(),
  unnamed: [],
  requirePreconditions: false,
  defaults: [],
  timestamps: false,
  attributeRules: [],
  validate: () => [],
} as const satisfies Omit<Collection, "name">;

/** A collection in open mode: any attributes, and UUIDs as ids. */
export function openCollection(name: string): Collection {
  return { ...openDeclaration, name };
}
