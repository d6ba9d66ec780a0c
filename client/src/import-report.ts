/** The report of an import of many resources. */

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

/** What the cells of a column can be. A date is a string that is a date. */
export type CellType = "number" | "boolean" | "date" | "string";

/** What an import found in a column of CSV, and what it does with it. */
export interface ImportColumn {
  /** The attribute. */
  readonly name: string;
  /** The types that its values are stored with. */
  readonly types: readonly (CellType | "null" | "array" | "object")[];
  /** The type that the option `types: "infer"` gives. Absent if the schema declares the types. */
  readonly inferred?: CellType;
  /** How many cells read as each type. Absent if the schema declares the types. */
  readonly found?: Readonly<Record<CellType | "empty", number>>;
  /** The first cell that keeps the column from another type than `string`. */
  readonly prevents?: { readonly line: number; readonly value: string; readonly detail?: string };
  /** How many cells were converted. Absent if none was. */
  readonly converted?: number;
  /** How many of these had digits below milliseconds, which were cut off. Absent if none had. */
  readonly cut?: number;
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
  /** With a unique key (`on`): how many of these are new resources. */
  readonly made?: number;
  /** With a unique key: how many of these changed a resource. */
  readonly changed?: number;
  /** With a unique key: how many resources were the same already. */
  readonly same?: number;
  /** The first errors. */
  readonly errors: readonly ImportFault[];
  /** Resources without an id, which got a new one. */
  readonly generatedIds: ImportedIds;
  /** Resources whose id does not fit the collection, which got a new one. */
  readonly replacedIds: ImportedIds;
  /** Resources whose id was a number, and is now a string. */
  readonly stringIds: ImportedIds;
  /** Resources with the id of a resource that was deleted. Absent in the report of a task. */
  readonly reusedIds?: ImportedIds;
  /** The columns of CSV: at most 1,000. */
  readonly columns?: readonly ImportColumn[];
}
