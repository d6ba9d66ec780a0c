/** The results of operations, before they become responses. */
import type { Judged } from "../../access/access.ts";
import type { ResourceChange } from "../../store/port/change-log.ts";
import type { Page } from "../../store/port/page.ts";
import type { Stored } from "../../store/port/stored.ts";
import type { Caller } from "../caller/admit.ts";
import type { Guard } from "../caller/permission.ts";
import type { Validators } from "../protocol/conditional.ts";
import type { Coding, HttpRequest, HttpResponse, LiveBody, StreamedBody } from "../protocol/message.ts";
import type { Route } from "../route.ts";
import type { EndpointMethod, EndpointPath, Service } from "../service.ts";
import type { ChangesRead, FiguresListing, Subscription, Writes } from "./operation.ts";
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

/** The result of a list. */
export type ListResult =
  /** `location` is the URL where GET returns the list that a QUERY asked for. */
  | { kind: "unmodified"; validators: Validators; location: string | undefined }
  /** `page` is that of the store. `headers` are those that do not depend on the method. `location` is as above. */
  | {
      kind: "page";
      page: Page;
      headers: Readonly<Record<string, string>>;
      content: string | StreamedBody;
      location: string | undefined;
    };

/** The figures of a list. `texts` are the groups as they are sent. */
export interface FiguresResult {
  kind: "figures";
  listing: FiguresListing;
  texts: readonly string[];
  /** Whether there are more groups after these. */
  more: boolean;
  validators: Validators;
}

/** A change as the caller sees it: `principal` may be left out, and `group` is a name that hides the number. */
export type ShownChange = Omit<ResourceChange, "principal" | "group"> & {
  principal: string | undefined;
  group: string | undefined;
  /** The task that made the change. */
  task: string | undefined;
};

/** A page of changes. */
export interface ChangesResult {
  kind: "changes";
  operation: ChangesRead;
  /** Those that the caller sees. */
  changes: readonly ShownChange[];
  /** The version after which the next page begins; `undefined` on the last page. */
  last: number | undefined;
}

/** The result of an operation. */
export type Result =
  | { kind: "not found" }
  /** `path` is `undefined` for the service as a whole. */
  | { kind: "options"; path: EndpointPath | undefined }
  | { kind: "document"; document: Document }
  | ListResult
  | FiguresResult
  | ChangesResult
  /** `next` is the position after the events. */
  | { kind: "events"; subscription: Subscription; events: readonly string[]; next: string }
  | { kind: "event stream"; body: LiveBody }
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
  /** A response that was made before its write was committed, or that was stored for an earlier request. */
  | { kind: "response"; response: HttpResponse };

/** The result if nothing exists for the caller. */
export const notFound: Result = { kind: "not found" };

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
