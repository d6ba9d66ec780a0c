/** Calls the routes that the configuration of a service declares. */
import type { ConfigurationTypes } from "./resource-types.ts";
import type { FromSchema } from "./schema.ts";
import type { CallOptions, Send } from "./transport.ts";

/** A route as a configuration declares it. */
interface RouteTypes {
  readonly path: string;
  readonly body?: unknown;
  readonly query?: unknown;
  readonly response?: unknown;
}

/** The routes by name. Without declared routes, every name is allowed. */
export type RoutesOf<C extends ConfigurationTypes> = C extends { readonly routes: infer All extends object }
  ? All
  : Record<string, RouteTypes>;

/** The method and the path of each route that the program calls: `{ checkout: "POST checkout/{orderId}" }`. */
export type RouteTable<C extends ConfigurationTypes> = {
  readonly [Name in keyof RoutesOf<C>]?: `${RouteMethod} ${PathOf<RoutesOf<C>[Name]>}`;
};

type RouteMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A function for each route. Each resolves with the JSON of the response, and throws ProblemError. */
export type RouteCalls<C extends ConfigurationTypes> = {
  readonly [Name in keyof RoutesOf<C>]: (
    ...args: ArgumentsOf<RoutesOf<C>[Name]>
  ) => Promise<ResultOf<RoutesOf<C>[Name]>>;
};

/** The options of a call of a route. */
export interface RouteCallOptions<Query = unknown> extends CallOptions {
  /** The query parameters. A list is given as several parameters. */
  readonly query?: Query;
  /** Further headers, such as `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
}

type PathOf<R> = R extends { readonly path: infer Path extends string } ? Path : string;

type ParameterOf<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

type ParametersOf<R> =
  string extends PathOf<R>
    ? Readonly<Record<string, string | number>>
    : { readonly [Name in ParameterOf<PathOf<R>>]: string | number };

/** `undefined` for a route without this schema. An optional member that is left out has the type `undefined`. */
type OfSchema<R, Member extends string> = R extends { readonly [M in Member]?: infer S }
  ? S extends object
    ? FromSchema<S>
    : S extends "text"
      ? string
      : undefined
  : undefined;

type ArgumentsOf<R> = [OfSchema<R, "body">] extends [undefined]
  ? [params?: ParametersOf<R>, body?: undefined, options?: RouteCallOptions<OfSchema<R, "query">>]
  : [params: ParametersOf<R>, body: OfSchema<R, "body">, options?: RouteCallOptions<OfSchema<R, "query">>];

type ResultOf<R> = [OfSchema<R, "response">] extends [undefined] ? unknown : OfSchema<R, "response">;

/** The calls of the routes in a table. */
export function createCalls(send: Send, table: Readonly<Record<string, string | undefined>> = {}): object {
  const calls = Object.entries(table).map(([name, route = ""]) => {
    const [method = "", path = ""] = route.split(" ");
    const call = async (
      params: Readonly<Record<string, string | number>> = {},
      content?: unknown,
      { query, headers, ...options }: RouteCallOptions = {},
    ) => {
      const { body } = await send({
        ...options,
        method,
        path: `/${pathWith(path, params)}${queryOf(query)}`,
        ...(typeof content === "string"
          ? { body: content, headers: { "Content-Type": "text/plain", ...headers } }
          : { content, ...(headers && { headers }) }),
        isRepeatable: method === "GET",
      });
      return body;
    };
    return [name, call];
  });
  return Object.fromEntries(calls);
}

function pathWith(path: string, params: Readonly<Record<string, string | number>>): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === "")
      throw new TypeError(`The route ${path} needs the parameter ${name}.`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: unknown): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => (each === undefined ? [] : [[name, String(each)]])),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}
