/** The types of a resource's history. */

/** One change of a resource. */
export interface ResourceChange {
  /** The version that the change made, as in the ETag. A delete makes a version too. */
  readonly version: number;
  /** A restore of a deleted resource is `created`. */
  readonly kind: "created" | "updated" | "deleted";
  /** When the service made the change. */
  readonly at: string;
  /** Changes that were made together have the same group. Other changes have no group. */
  readonly group?: string;
  /** The caller who made the change. Missing if it is not known, or if you cannot see it. */
  readonly principal?: string;
}

/** An earlier state of a resource: that of a version, or that at a time. */
export type Past =
  | { readonly version?: number; readonly at?: never }
  | { readonly version?: never; readonly at?: Date | string | number };
