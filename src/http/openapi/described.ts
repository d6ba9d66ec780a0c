/** What a document describes, and the parts that all documents are made of. */
import type { Access } from "../../access/access.ts";
import { actions } from "../../access/access-declaration.ts";
import type { FirstKey } from "../../access/first-key.ts";
import type { Collection } from "../../collection/collection.ts";
import { most } from "../../query/page-limit.ts";
import type { HttpSettings } from "../settings.ts";

/** The parts of a service that its document depends on. */
export interface Described {
  /** The declared collections now, by name. */
  collections(): ReadonlyMap<string, Collection>;
  /** Whether clients can create collections that are not declared. */
  openCollections: boolean;
  settings: HttpSettings;
  /** Absent without `auth`. */
  access?: Access | undefined;
  /** The link to create the first API key, which no document describes. */
  firstKey?: Pick<FirstKey, "isOpen">;
  /** Whether this is the service as the operations of a batch see it. @default false */
  isBatch?: boolean;
}

/** Whether anyone can administer the service. */
export function hasAdministrators({ access }: Pick<Described, "access">): boolean {
  return access === undefined || access.hasAdministrators;
}

/** The versions of OpenAPI. The later one can describe QUERY, and lists with a resource on each line. */
export const openApiVersions = { "3.1": "3.1.2", "3.2": "3.2.0" } as const;

/** A version of OpenAPI. */
export type OpenApiVersion = keyof typeof openApiVersions;

/** What a document of one version describes. */
export interface InDocument extends Described {
  version: OpenApiVersion;
}

/** A part of a document. */
export type Part = Record<string, unknown>;

/** A reference to a component. */
export function ref(kind: "schemas" | "parameters" | "headers" | "responses", name: string): Part {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Content that is JSON. An `example` of `undefined` is left out. */
export function json(schema: Part, example?: unknown): Part {
  return { "application/json": media(schema, example) };
}

/** A media type with an example, unless that is `undefined`. */
export function media(schema: Part, example: unknown): Part {
  return { schema, ...(example === undefined ? {} : { example }) };
}

/** The schema of a string. */
export const text: Part = { type: "string" };

/** The schema of the limit of a page. */
export function pageLimit(minimum: number, maximum: number): Part {
  return {
    anyOf: [
      { type: "integer", minimum, maximum },
      { type: "string", enum: [most] },
    ],
  };
}

/** The schema of a number of things. */
export const count: Part = { type: "integer", minimum: 0 };

/** The schema of a list of texts. */
export const texts: Part = { type: "array", items: text };

/** The schema of a boolean. */
export const truth: Part = { type: "boolean" };

/** The schema of one value. Generators of code also need its type. */
export function only(value: string | boolean, description?: string): Part {
  return { ...(description !== undefined && { description }), type: typeof value, const: value };
}

/** The schema of an array. */
export function listOf(items: Part, description?: string): Part {
  return { type: "array", items, ...(description !== undefined && { description }) };
}

/** The path of the next page. */
export const next: Part = { description: "The path of the next page. Left out on the last page.", ...text };

/** The actions, for operations of a caller. */
export const operation: Part = { enum: actions };

/** The schema of an object with no other members than these. It must have all of them, except the `optional` ones. */
export function closedObject(
  properties: Record<string, Part>,
  { optional = [], ...more }: { optional?: readonly string[]; description?: string } = {},
): Part {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { ...more, type: "object", required, properties, additionalProperties: false };
}
