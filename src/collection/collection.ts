/**
 * What is declared: a collection's name, its kind of id, and the schema that its resources fit.
 *
 * Compiling schemas is `schema.ts`, ids are `ids.ts`, dates are `dates.ts`. This room knows nothing of HTTP or
 * of where resources are kept.
 */
import type { Default } from "./defaults.ts";
import type { IdKind } from "./ids.ts";
import type { Index } from "./indexes.ts";
import type { Path } from "./paths.ts";
import type { Reference } from "./refers.ts";
import type { Validator } from "./resource.ts";
import type { Unique } from "./unique.ts";
import type { AttributeRule, AttributeVisibility } from "./visibility.ts";

/** One collection, ready for use. */
export interface Collection {
  name: string;
  idKind: IdKind;
  /** The declared schema as JSON text; `undefined` takes any attributes. */
  schema: string | undefined;
  /** What lists are made quick by. */
  indexes: readonly Index[];
  /** Attributes whose words are searched. */
  search: readonly Path[];
  /** Attributes of which no two resources have the same value. */
  unique: readonly Unique[];
  /** Attributes that hold ids of resources which must be there. */
  references: readonly Reference[];
  /** Whether a resource is only changed by who says which state of it is meant. */
  requirePreconditions: boolean;
  /** What new resources get where the client sent nothing. */
  defaults: readonly Default[];
  /** Whether the service keeps `createdAt` and `updatedAt` in each resource, which clients then leave to it. */
  timestamps: boolean;
  /** The rules for single attributes. */
  attributeRules: readonly AttributeRule[];
  /**
   * What the caller can see and set of the attributes; in a collection as declared, a caller without a role. Absent: all
   * of them.
   */
  visibility?: AttributeVisibility | undefined;
  /** Judges what is up to clients. */
  validate: Validator;
}

/** Names that a collection may have: a letter, then letters, digits, `_` and `-`, 63 characters at most. */
export const collectionName = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

const anythingFits: Validator = () => [];

/** A collection that nobody declared: any attributes, UUIDv7 ids. */
export function openCollection(name: string): Collection {
  return {
    name,
    idKind: "uuid",
    schema: undefined,
    indexes: [],
    search: [],
    unique: [],
    references: [],
    requirePreconditions: false,
    defaults: [],
    timestamps: false,
    attributeRules: [],
    validate: anythingFits,
  };
}
