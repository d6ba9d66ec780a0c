/** The types of routes in a configuration, and the function that gives them to a declaration. */
import type { Client, FromSchema } from "holdfast-client";
import type { Acting } from "../calls/acting.ts";
import type { CodeCaller } from "../public.ts";
import type { Responded } from "./respond.ts";
import type { RouteMethod, RouteSchema } from "./route-options.ts";

/** Who can use a route: every request, any credential, or a caller with a role. */
export type RouteAccess = "public" | "authenticated" | RoleRule | readonly RoleRule[];

interface RoleRule {
  readonly role: string;
}

/** A route in a configuration. `route` gives the types to its function. */
export interface Route<
  Path extends string = string,
  Body extends RouteSchema | "text" | undefined = RouteSchema | "text" | undefined,
  Query extends RouteSchema | undefined = RouteSchema | undefined,
  Response extends RouteSchema | undefined = RouteSchema | undefined,
  As extends Acting | undefined = Acting | undefined,
  Run = (call: never) => unknown,
> {
  /** GET also responds to HEAD. @default "GET" */
  readonly method?: RouteMethod;
  /** The path below the prefix: one to five segments, such as `checkout/{orderId}`. No collection has the name of the first one. */
  readonly path: Path;
  /** Who can use it. `public`: everyone, with or without a credential. */
  readonly access: RouteAccess;
  /** The JSON Schema of the body, or `text` for a body of any type, exactly as it was sent. @default requests have no body */
  readonly body?: Body;
  /** The JSON Schema of the query parameters: an object whose properties are texts, numbers, booleans, or lists of them. @default none */
  readonly query?: Query;
  /** The JSON Schema of what the function returns. Another result is a fault of the service. @default anything */
  readonly response?: Response;
  /** The caller of the requests of `service`: one with some roles, or the service, which can do everything with every resource. @default no `service` */
  readonly as?: As;
  /** How long it can take, from 1 to 60000 milliseconds. @default 10000 */
  readonly timeoutMs?: number;
  /** Returns what the response has as JSON, what `respond` has made, or nothing. */
  readonly run: Run;
}

/** A client that sends its requests inside the service. `C`: the type of the configuration, if its collections are known. */
export type InsideClient<C extends { readonly collections?: object } = Record<never, never>> = Client<C>;

/** What the function of a route gets. `C`: as for `InsideClient`. */
export type RouteCall<
  Path extends string = string,
  Body = unknown,
  Query = unknown,
  As = undefined,
  C extends { readonly collections?: object } = Record<never, never>,
> = {
  /** The values of the parameters in the path. */
  readonly params: { readonly [Name in ParameterOf<Path>]: string };
  readonly query: ValueOf<Query>;
  readonly body: Body extends "text" ? string : ValueOf<Body>;
  /** `undefined` without a credential. */
  readonly caller: CodeCaller | undefined;
  /** Sends requests with the rights of the caller. */
  readonly client: InsideClient<C>;
  readonly request: RouteRequest;
  /** Aborted after `timeoutMs`, when the client goes away, and 5 seconds after the service started to stop. */
  readonly signal: AbortSignal;
} & (As extends undefined
  ? unknown
  : {
      /** Sends requests as `as` says. */
      readonly service: InsideClient<C>;
    });

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

type ValueOf<Schema> = Schema extends RouteSchema ? FromSchema<Schema> : undefined;

type ResultOf<Schema> = Schema extends RouteSchema ? FromSchema<Schema> | Responded : unknown;

/** Declares a route. `C`: the type of a configuration, whose collections its clients know. */
export type DeclareRoute<C extends { readonly collections?: object } = Record<never, never>> = <
  const Path extends string,
  const Body extends RouteSchema | "text" | undefined = undefined,
  const Query extends RouteSchema | undefined = undefined,
  const Response extends RouteSchema | undefined = undefined,
  const As extends Acting | undefined = undefined,
>(
  declared: Route<
    Path,
    Body,
    Query,
    Response,
    As,
    (call: RouteCall<Path, Body, Query, As, C>) => ResultOf<Response> | Promise<ResultOf<Response>>
  >,
) => NoInfer<typeof declared>; // otherwise the type of the configuration around it would say what the route leaves out

/** Returns the declaration of a route. It gives the function the types of the path, the schemas and `as`. */
export const route: DeclareRoute = (declared) => declared;
