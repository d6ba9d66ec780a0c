/** The tables of a store. Each kind of store has a prefix for their names and its own SQL for their creation. */
import type { Columns } from "./table.ts";

/** Numbers of the whole store, by their names. */
export const meta = { name: "text", value: "int" } as const satisfies Columns;

/** The changes of a collection. `kept_checksum` is that of `superseded`, and `checksum` that of all other columns. */
export const changes = {
  sequence: "int",
  id: "text",
  version: "int",
  kind: "text",
  at: "int",
  principal: "optionalText",
  group: "optionalInt",
  superseded: "optionalText",
  kept_checksum: "optionalInt",
  checksum: "int",
} as const satisfies Columns;

/** The responses of idempotent writes. */
export const receipts = {
  key: "text",
  fingerprint: "text",
  answer: "text",
  brief: "text",
  expires_at: "int",
  checksum: "int",
} as const satisfies Columns;

/** The API keys. */
export const keys = {
  prefix: "text",
  hash: "text",
  name: "text",
  subject: "text",
  roles: "text",
  scopes: "optionalText",
  created_at: "int",
  expires_at: "optionalInt",
  revoked_at: "optionalInt",
  last_used_at: "optionalInt",
  checksum: "int",
} as const satisfies Columns;

/** The resources of a collection. Each kind of store has its own form of `id`. */
export const resources = {
  id: "text",
  version: "int",
  updated_at: "int",
  doc: "text",
  checksum: "int",
} as const satisfies Columns;

/** The last versions of the deleted ids of a collection. */
export const deleted = { id: "text", version: "int" } as const satisfies Columns;
