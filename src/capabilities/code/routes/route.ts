/** The types of routes in a configuration, and the function that gives them to a declaration. */
import type { Client, FromSchema } from "holdfast-client";
import type { CodeCaller } from "../public.ts";
import type { Acting } from "../work/acting.ts";
import type { RouteMethod, RouteSchema } from "./route-options.ts";

/** Who can use a route: every request, any credential, or a caller with a role. */
export type RouteAccess = "public" | "authenticated" | RoleRule | readonly RoleRule[];

interface RoleRule {
  readonly role: string;
}

/** What a configuration says about a route, beside its function. */
export interface RouteOptions {
  /** GET also responds to HEAD. @default "GET" */
  readonly method?: RouteMethod;
  /** The path below the prefix: one to five segments, such as `checkout/{orderId}`. No collection has the name of the first one. */
  readonly path: string;
  /** Who can use it. `public`: everyone, with or without a credential. */
  readonly access: RouteAccess;
  /** The JSON Schema of the body, or `text` for a body of any type, exactly as it was sent. @default requests have no body */
  readonly body?: RouteSchema | "text";
  /** The JSON Schema of the query parameters: an object whose properties are texts, numbers, booleans, or lists of them. @default none */
  readonly query?: RouteSchema;
  /** The JSON Schema of what the function returns. Another result is a fault of the service. @default anything */
  readonly response?: RouteSchema;
  /** As whom `service` acts: with roles, or as the service, which can do everything with every resource. @default there is no `service` */
  readonly as?: Acting;
  /** How long it can take, from 1 to 60000 milliseconds. @default 10000 */
  readonly timeoutMs?: number;
}

/** A route in a configuration. */
export interface Route extends RouteOptions {
  readonly run: (call: never) => unknown;
}

/** A client that sends its requests inside the service. */
export type InsideClient = Client<Record<never, never>>;

/** What the function of a route gets. */
export type RouteCall<R extends RouteOptions = RouteOptions> = {
  /** The values of the parameters in the path. */
  readonly params: { readonly [Name in ParameterOf<R["path"]>]: string };
  readonly query: R extends { readonly query: infer Q extends RouteSchema } ? FromSchema<Q> : undefined;
  readonly body: R extends { readonly body: infer B }
    ? B extends "text"
      ? string
      : FromSchema<B>
    : undefined;
  /** `undefined` without a credential. */
  readonly caller: CodeCaller | undefined;
  /** Sends requests with the rights of the caller. */
  readonly client: InsideClient;
  readonly request: RouteRequest;
  /** Aborted after `timeoutMs`, and when the client goes away. */
  readonly signal: AbortSignal;
} & (R extends { readonly as: Acting }
  ? {
      /** Sends requests as `as` says. */
      readonly service: InsideClient;
    }
  : unknown);

/** The request of a call of a route. */
export interface RouteRequest {
  readonly method: string;
  /** The path and the query, as they were sent. */
  readonly target: string;
  /** By lower-case name, without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The id of the request in the log. */
  readonly id: string;
  /** The address of the client. */
  readonly ip: string | undefined;
  /** The header Idempotency-Key. The service keeps nothing for it: this is for the function to do. */
  readonly idempotencyKey: string | undefined;
}

type ParameterOf<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

/** What the function of a route returns: the value of its schema, what `respond` has made, or nothing. */
type ResultOf<R> = R extends { readonly response: infer S } ? FromSchema<S> | object : unknown;

/** Returns the declaration of a route. It gives the function the types of the path, the schemas and `as`. */
export function route<const R extends RouteOptions>(
  declared: R & { readonly run: (call: RouteCall<R>) => ResultOf<R> | Promise<ResultOf<R>> },
): R & Route {
  return declared as R & Route;
}
