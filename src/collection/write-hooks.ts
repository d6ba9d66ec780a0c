/** Functions of the operator that take part in the writes of declared collections. This room does not know how they run. */
import type { Collection } from "./collection.ts";
import type { Attributes } from "./resource.ts";

/** The functions of all collections. */
export interface WriteHooks {
  /** Those of a collection; `undefined` if it has none. */
  of(collection: string): CollectionHooks | undefined;
}

/** The functions of one collection. They read nothing but what they get, so a write can call them again. */
export interface CollectionHooks {
  /** Completes the attributes that a write proposes, before they are checked. Throws Problem. @default they are complete */
  readonly complete?: (write: HookedWrite, attributes: Attributes) => Promise<Attributes>;
  /** Judges the next text of a resource, or the text that a delete removes, after all rules. Throws Problem. @default it allows all */
  readonly validate?: (write: HookedWrite, text: string) => Promise<void>;
}

/** A write, as its functions see it. */
export interface HookedWrite {
  /** The collection as the caller sees it. */
  readonly collection: Collection;
  /** Whether the caller can read the resource. Otherwise, an error must not name attributes. */
  readonly canRead: boolean;
  readonly operation: "create" | "update" | "delete" | "restore";
  /** The id; `undefined` while the service has not chosen it. */
  readonly id: string | undefined;
  /** The stored text; `undefined` if the resource does not exist. */
  readonly previous: string | undefined;
  readonly caller: HookedCaller | undefined;
  /** Unix time in milliseconds. */
  readonly now: number;
  /** The request or the task. All functions that run for it share its time. */
  readonly request: { readonly id: string };
  /** Reads the text of another resource as the write sees it. */
  read(key: { collection: string; id: string }): Promise<string | undefined>;
}

/** The caller of a write. */
export interface HookedCaller {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}
