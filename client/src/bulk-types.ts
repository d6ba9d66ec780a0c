/** The types of bulk changes, which change many resources with one request. */
import type { Filter } from "./list-types.ts";
import type { ChangesOf, DeletedOf, IdOf, ResourceOf, UpdateOf } from "./resource-types.ts";

/** A bulk change: a filter that selects the resources, and what to do with them. */
export type BulkChange<D> = {
  /** The most resources that can match. If more match, nothing changes. At most 1,000. */
  readonly max: number;
  /** Whether to return what would change without changing it. @default false */
  readonly dryRun?: boolean;
} & Selection<D> &
  Action<D>;

/** Which deleted resources to restore. */
export type RestoreMany<D> = Pick<BulkChange<D>, "max" | "dryRun"> & SelectionOf<DeletedOf<D>>;

type Selection<D> = SelectionOf<ResourceOf<D>>;

type SelectionOf<T> =
  | { readonly filter: Filter<T>; readonly all?: never }
  | { readonly all: true; readonly filter?: never };

type Action<D> =
  | { readonly patch: ChangesOf<D>; readonly update?: never; readonly delete?: never }
  | { readonly update: UpdateOf<D>; readonly patch?: never; readonly delete?: never }
  | { readonly delete: true; readonly patch?: never; readonly update?: never };

/** What a bulk change has done, or would do. */
export interface BulkResult<D> {
  /** The number of resources that match. */
  readonly matched: number;
  /** The number of resources that have a new version or are deleted. */
  readonly changed: number;
  readonly dryRun: boolean;
  /** The ids of the changed resources. */
  readonly ids: readonly IdOf<D>[];
}
