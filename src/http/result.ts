/** What operations come to, before it is an answer. */
import type { Stored } from "../store/store.ts";
import { lastModifiedMs, type Validators } from "./conditional.ts";
import type { ChangesResult } from "./history.ts";
import type { ListResult } from "./lists.ts";
import type { OperationOf } from "./operation.ts";
import type { Document } from "./routes/documents.ts";

/** What came of an operation. */
export type Result =
  | { kind: "absent" }
  | { kind: "options"; operation: OperationOf<"options"> }
  | { kind: "document"; document: Document }
  | ListResult
  | ChangesResult
  /** `path` is the collection's. */
  | { kind: "found" | "created" | "updated"; stored: Stored; path: string; validators: Validators }
  | { kind: "deleted" }
  /** The results of several operations, as text. */
  | { kind: "batch"; body: string };

/** What stands for the state of a resource in conditional requests. */
export function validatorsOf({ version, updatedAt }: Stored): Validators {
  return { etag: `"${version}"`, lastModifiedMs: lastModifiedMs(updatedAt) };
}
