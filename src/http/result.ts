/** What operations come to, before it is an answer. */
import type { Stored } from "../store/store.ts";
import { lastModifiedMs, type Validators } from "./conditional.ts";
import type { ListResult } from "./lists.ts";
import type { OperationOf } from "./operation.ts";
import type { Document } from "./routes/documents.ts";

/** What came of an operation. */
export type Result =
  | { kind: "absent" }
  | { kind: "options"; operation: OperationOf<"options"> }
  | { kind: "document"; document: Document }
  | ListResult
  /** `path` is the collection's. */
  | { kind: "found" | "created" | "updated"; stored: Stored; path: string; validators: Validators }
  | { kind: "deleted" };

/** What stands for the state of a resource in conditional requests. */
export function validatorsOf({ version, updatedAt }: Stored): Validators {
  return { etag: `"${version}"`, lastModifiedMs: lastModifiedMs(updatedAt) };
}
