/** What operations come to, before it is an answer. */
import type { ResourceChange } from "../store/change-log.ts";
import type { Stored } from "../store/stored.ts";
import type { Guard } from "./caller/permission.ts";
import type { Validators } from "./conditional.ts";
import type { ListResult } from "./lists/lists.ts";
import type { OperationOf } from "./operation.ts";
import type { Document } from "./routes/document.ts";

/** A change as the caller sees it: `principal` may be left out, and `group` is a name that hides the number. */
export type ShownChange = Omit<ResourceChange, "principal" | "group"> & {
  principal: string | undefined;
  group: string | undefined;
};

/** A page of changes. */
export interface ChangesResult {
  kind: "changes";
  operation: OperationOf<"changes">;
  changes: readonly ShownChange[];
  more: boolean;
}

/** What came of an operation. */
export type Result =
  | { kind: "absent" }
  | { kind: "options"; operation: OperationOf<"options"> }
  | { kind: "document"; document: Document }
  | ListResult
  | ChangesResult
  /**
   * `path` is the collection's. What is withheld, the caller has written and may not read. Without validators where the
   * answer must not tell them.
   */
  | {
      kind: "found" | "created" | "updated";
      stored: Stored;
      path: string;
      validators: Validators | undefined;
      isWithheld?: boolean;
    }
  | { kind: "deleted" }
  /** The results of several operations, as text. */
  | { kind: "batch"; body: string };

/**
 * What came of a write that left a resource behind: no more of it is told than the caller may read, and no validators
 * where a PUT is not stored as it was sent (RFC 9110 §9.3.4).
 */
export function written(
  kind: "created" | "updated",
  { stored, path, isAsSent = true }: { stored: Stored; path: string; isAsSent?: boolean },
  guard: Guard,
): Result {
  const validators = isAsSent ? guard.validators(stored) : undefined;
  const isWithheld = !guard.may("read", stored.text);
  return { kind, stored: guard.told(stored), path, validators, isWithheld };
}
