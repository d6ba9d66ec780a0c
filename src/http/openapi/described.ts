/** What a document describes. */
import type { Access } from "../../access/access.ts";
import type { Collection } from "../../collection/collection.ts";
import type { HttpSettings } from "../settings.ts";

/** A service, as far as its interface goes. */
export interface Described {
  collections: ReadonlyMap<string, Collection>;
  /** Whether collections that nobody declared spring into being. */
  openCollections: boolean;
  settings: HttpSettings;
  /** Absent where nobody is asked who they are. */
  access?: Access | undefined;
}

/** The versions of OpenAPI that there are: the later one can tell of QUERY and of lists line by line. */
export const openApiVersions = { "3.1": "3.1.2", "3.2": "3.2.0" } as const;

/** A version of OpenAPI. */
export type OpenApiVersion = keyof typeof openApiVersions;

/** A part of a document. */
export type Part = Record<string, unknown>;

/** A reference to a component. */
export function ref(kind: "schemas" | "parameters" | "headers" | "responses", name: string): Part {
  return { $ref: `#/components/${kind}/${name}` };
}
