/** Imports of many resources, and their reports. */
import type { CallOptions } from "./transport.ts";

/** The media type of an import that is given as text or bytes. */
export type ImportType = "application/x-ndjson" | "application/json" | "text/csv";

/** How to import. */
export interface ImportOptions extends CallOptions {
  /** Whether to check everything without writing. @default false */
  readonly dryRun?: boolean;
  /** Whether to import the valid resources even if others are invalid. @default false */
  readonly skipInvalid?: boolean;
  /** The time for the import, in milliseconds. @default 600000 */
  readonly timeoutMs?: number;
}

/** How to import text or bytes. */
export interface ImportTextOptions extends ImportOptions {
  readonly type: ImportType;
  /** The character between the cells of CSV, or `tab`. @default "," */
  readonly delimiter?: string;
}

/** The place of a resource in the body of an import, from 1. */
export interface ImportPlace {
  /** The line. An array of resources is sent with one resource per line. */
  readonly line: number;
  /** The element of a JSON array. */
  readonly element?: number;
}

/** What is wrong with a resource of an import. */
export interface ImportFault extends ImportPlace {
  /** JSON Pointer as a URI fragment into the resource. */
  readonly pointer?: string;
  readonly code: string;
  readonly detail: string;
  /** The wrong value as JSON, if it is a string, a number, a boolean or null. A long one is cut off. */
  readonly value?: string;
}

/** Resources whose id has changed: how many, and the first of them. */
export interface ImportedIds {
  readonly count: number;
  readonly first: readonly (ImportPlace & { readonly id?: string })[];
}

/** What an import has done, or would do. */
export interface ImportReport {
  readonly dryRun: boolean;
  /** Whether the service read the body to its end. */
  readonly complete: boolean;
  /** The number of resources in the body. */
  readonly resources: number;
  readonly invalid: number;
  /** The number of resources that were written, or in a dry run would be. */
  readonly imported: number;
  /** The first errors. */
  readonly errors: readonly ImportFault[];
  /** Resources without an id, which got a new one. */
  readonly generatedIds: ImportedIds;
  /** Resources whose id does not fit the collection, which got a new one. */
  readonly replacedIds: ImportedIds;
  /** Resources whose id was a number, and is now a string. */
  readonly stringIds: ImportedIds;
}
