/** The types of rewinds, which bring collections back to an earlier time. */

/** A rewind. */
export interface Rewind<Name extends string = string> {
  /** The time to go back to: a `Date`, or a date value as in the service's parameter `at`. */
  readonly to: Date | string | number;
  /** The collections to rewind. @default all */
  readonly collections?: readonly Name[];
  /** The most resources that can change. If more would, nothing changes. At most 100,000. */
  readonly max: number;
  /** Whether to return what would change without changing it. @default false */
  readonly dryRun?: boolean;
}

/** How many resources change. */
export interface RewindCounts {
  /** Resources that were deleted since, and exist again. */
  readonly created: number;
  /** Resources that have their earlier attributes again. */
  readonly replaced: number;
  /** Resources that were created since. */
  readonly deleted: number;
}

/** Something that does not fit the present declarations. */
export interface RewindMisfit {
  readonly collection: string;
  readonly id: string;
  /** The attribute, as a JSON Pointer in a URI fragment. */
  readonly pointer?: string;
  /** A keyword of JSON Schema, `unique`, `reference` or `referenced`. */
  readonly code: string;
  readonly detail: string;
}

/** What a rewind has done, or would do. */
export interface RewindReport extends RewindCounts {
  readonly to: string;
  readonly dryRun: boolean;
  /** A rewind to this time undoes this one. Absent if nothing changed. */
  readonly before?: string;
  readonly collections: readonly (RewindCounts & { readonly name: string })[];
  /** The first misfits, and whether there are more. */
  readonly misfits: { readonly first: readonly RewindMisfit[]; readonly more: boolean };
}
