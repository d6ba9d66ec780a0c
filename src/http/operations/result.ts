/** The results of operations: responses, or what becomes one. */
import type { Judged } from "../../access/access.ts";
import type { Stored } from "../../store/port/stored.ts";
import type { Caller } from "../caller/admit.ts";
import type { Guard } from "../caller/permission.ts";
import type { Validators } from "../protocol/conditional.ts";
import { type Coding, type HttpRequest, type HttpResponse, jsonType } from "../protocol/message.ts";
import type { Route } from "../route.ts";
import type { EndpointMethod, EndpointPath, Service } from "../service.ts";
import type { Writes } from "./operation.ts";
import type { PageAsked } from "./page-parameters.ts";

/** A response outside the collections: a page or one of its files, a description, or the state of the service. */
export interface Document {
  status: number;
  /** Its Content-Type. */
  type: string;
  body: string | Buffer;
  /** The entity tag of a file, without a coding. @default none */
  etag?: string;
  /** The coding that the body already has. @default none */
  coding?: Coding | undefined;
  /** Headers in addition to those of every document, or instead of them. */
  headers?: Readonly<Record<string, string>>;
  /** The values of the headers `Set-Cookie`. @default none */
  cookies?: readonly string[];
}

/** The client has the current state. `location` is the URL where GET returns the list that a QUERY asked for. */
export interface Unmodified {
  kind: "unmodified";
  validators: Validators;
  location: string | undefined;
}

/** The result of an operation. */
export type Result =
  | { kind: "not found" }
  /** `path` is `undefined` for the service as a whole. */
  | { kind: "options"; path: EndpointPath | undefined }
  | { kind: "document"; document: Document }
  | Unmodified
  /**
   * `path` is the path of the collection. `isWithheld`: the caller wrote the resource and cannot read it. Without validators
   * if the response must not contain them.
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
  | { kind: "batch"; body: string }
  /**
   * A response: that of a list, of changes or of events, one that was made before its write was committed, or one that was stored for
   * an earlier request. `isUnwritten`: it is a list of a collection that never had a change.
   */
  | { kind: "response"; response: HttpResponse; isUnwritten?: boolean };

/** The result if nothing exists for the caller. */
export const notFound: Result = { kind: "not found" };

/** The result with a value as JSON; `notFound` without a value. */
export function jsonResult(value: object | undefined, more: Partial<Document> = {}): Result {
  if (value === undefined) return notFound;
  return {
    kind: "document",
    document: { status: 200, type: jsonType, body: JSON.stringify(value), ...more },
  };
}

/**
 * The result of a write after which the resource exists. It contains only what the caller can see. A PUT that is not stored
 * as it was sent gets no validators (RFC 9110 §9.3.4).
 */
export function written(
  kind: "created" | "updated",
  { stored, path, isAsSent }: { stored: Stored & Judged; path: string; isAsSent: boolean },
  guard: Guard,
): Result {
  const validators = isAsSent ? guard.validators(stored) : undefined;
  const isWithheld = !guard.may("read", stored);
  return { kind, stored: guard.visiblePart(stored), path, validators, isWithheld };
}

/** A request of an endpoint. */
export interface Asked<Parsed = unknown> extends Writes {
  /** The values in the path, by name. */
  readonly names: Readonly<Record<string, string>>;
  /** The page that a list returns. */
  readonly page: PageAsked;
  readonly request: HttpRequest;
  /** What `parse` of the endpoint has read. */
  readonly parsed: Parsed;
}

/** A request whose headers are checked. */
export interface Routed<R extends Route = Route> {
  readonly route: R;
  readonly caller: Caller;
  readonly request: HttpRequest;
}

/** A row of the table of endpoints, as the steps of a request use it. */
export interface EndpointRow<Parsed = unknown, R extends Route = Route> extends EndpointMethod {
  /** Reads the query string and the headers, if the endpoint has parameters or formats of its own. Throws their problems. */
  parse?(service: Service, routed: Routed<R>): Parsed;
  /** Throws the problems of its content and of what it does. */
  handle(service: Service, asked: Asked<Parsed>): Result | Promise<Result>;
}
