/**
 * An endpoint: one path and method with everything about it. The router, `Allow`, the check of the caller, the reading of
 * parameters and the OpenAPI document are made from the table of endpoints (`../endpoints/endpoint-table.ts`).
 */
import type { About, Nested } from "../openapi/about.ts";
import type { Described, InDocument, Part } from "../openapi/described.ts";
import type { ResponseHeader } from "../openapi/response-headers.ts";
import type { EndpointRow } from "../operations/result.ts";
import type { CollectionRoute, OwnRoute, Route } from "../route.ts";
import type { Body } from "./body.ts";

/** A value, or a function that makes it from what a document describes. */
type Of<D, T> = T | ((described: D) => T);

/** A row of the table: for a path of the service itself, unless `D` and `R` say otherwise. */
export interface Endpoint<Parsed = unknown, D extends InDocument = InDocument, R extends Route = OwnRoute>
  extends EndpointRow<Parsed, R> {
  /**
   * Below the prefix, unless `isOutside`. `{name}` is a parameter. `/` is the prefix itself. Paths in collections begin with
   * `/{collection}`.
   */
  readonly path: string;
  /** Whether the path is outside the prefix. @default false */
  readonly isOutside?: true;
  /** Whether a path outside the prefix is also in an application, where it is below the prefix. @default false */
  readonly isInApplications?: true;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY";
  /** Whether a service has it. @default always */
  readonly exists?: (described: Described) => boolean;
  /** Describes each parameter of the path. `is` says whether a text is a valid value. Without `is`, every text is valid. */
  readonly names?: Readonly<
    Record<string, { description: string; example?: string; is?: (text: string) => boolean }>
  >;
  /** Parameters in addition to those of the path and of the page, as the document has them. */
  readonly parameters?: Of<D, readonly Part[]>;
  /** Whether the document describes it. @default true */
  readonly isDescribed?: (described: Described) => boolean;
  /** What a request sends: a declared body, or one that the handler reads in its own way. @default nothing */
  readonly body?: Body<never> | ((described: D) => Part);
  /** Whether the router leaves it out, because only browsers get it, and for others the path does not exist. @default false */
  readonly isForBrowsers?: true;
  /** The id of the operation in the OpenAPI document. */
  readonly id: Of<D, string>;
  /** Its tag there. @default that of the collection, or of the service */
  readonly tag?: string;
  readonly summary: Of<D, string>;
  readonly description: Of<D, string>;
  readonly successes: Of<D, Readonly<Record<number, Success>>>;
  /** The statuses of its own errors, besides those that follow from the other members (`errorsOf`). @default none */
  readonly errors?: Of<D, readonly number[]>;
  /** Whether any valid credential is enough. @default false */
  readonly isNeverForbidden?: true;
  /** Whether its requests are not counted against the quota of the caller. @default false */
  readonly isFree?: true;
}

/** A row for a path in collections. */
export type CollectionEndpoint<Parsed = unknown> = Endpoint<Parsed, About, CollectionRoute>;

/** A row for a nested path: from a resource to those that refer to it. */
export type NestedEndpoint<Parsed = unknown> = Endpoint<Parsed, Nested, CollectionRoute>;

/** A row of any kind of path. */
export type Row<D extends InDocument> = Endpoint<unknown, D, Route>;

/** A response on success. `must` are headers that it always has, and `may` are headers that it can have. */
export interface Success {
  readonly description: string;
  readonly must?: readonly ResponseHeader[];
  readonly may?: readonly ResponseHeader[];
  readonly content?: Part;
  readonly links?: Part;
}

/** The 204 of a repeated request whose stored result the caller can no longer see. */
export const hiddenResult: Success = {
  description: "An earlier request with this key took effect. The caller cannot see its result.",
  must: ["Idempotent-Replayed"],
};

/** The value for a document that describes this. */
export function valueFor<D, T>(of: Of<D, T>, described: D): T {
  return typeof of === "function" ? (of as (described: D) => T)(described) : of;
}
