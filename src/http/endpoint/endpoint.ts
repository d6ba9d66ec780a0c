/**
 * An endpoint: one path and method with everything about it. The router, `Allow`, the check of the caller, the reading of
 * parameters and the OpenAPI document are made from the table of endpoints (`../endpoints/endpoint-table.ts`).
 */
import type { Caller } from "../caller/admit.ts";
import { type Described, type Part, text } from "../openapi/described.ts";
import { type OperationPlan, operationPart } from "../openapi/operations.ts";
import type { PageAsked } from "../operations/page-parameters.ts";
import type { Result } from "../operations/result.ts";
import { typesOf } from "../protocol/content-types.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { EndpointMethod, EndpointPath, EndpointPaths, Service } from "../service.ts";
import { type Body, bodyPart } from "./body.ts";

/** A row of the table. */
export interface Endpoint extends EndpointMethod {
  /** Below the prefix. `{name}` is a parameter. */
  readonly path: string;
  readonly method: "GET" | "POST";
  /** Who can use it. For all others, the path does not exist. */
  readonly who: EndpointPath["who"];
  /** Whether a service has it. @default always */
  readonly exists?: (described: Described) => boolean;
  /** Describes each parameter of the path. `is` says whether a text is a valid value. Without `is`, every text is valid. */
  readonly names?: Readonly<Record<string, { description: string; is?: (text: string) => boolean }>>;
  /** Parameters in addition to those of the path and of the page, as the document has them. */
  readonly parameters?: readonly Part[];
  /** What a request sends: a declared body, or one that the handler reads in its own way. @default nothing */
  readonly body?: Body<never> | ((described: Described) => Part);
  /** The id of the operation in the OpenAPI document. */
  readonly id: string;
  /** Its tag and its texts there. */
  readonly texts: Texts | ((described: Described) => Texts);
  readonly successes: (described: Described) => OperationPlan["successes"];
  /** The statuses of its own errors. */
  readonly errors: readonly number[] | ((described: Described) => readonly number[]);
  /** Whether any valid credential is enough. @default false */
  readonly isNeverForbidden?: true;
  /** Throws the problems of its content and of what it does. */
  handle(service: Service, asked: Asked): Result | Promise<Result>;
}

type Texts = Pick<OperationPlan, "tag" | "summary" | "description">;

/** A request of an endpoint. */
export interface Asked {
  /** The values in the path, by name. */
  readonly names: Readonly<Record<string, string>>;
  /** The page that a list returns. */
  readonly page: PageAsked;
  readonly caller: Caller;
  readonly request: HttpRequest;
}

/** The endpoints of a path. */
interface TablePath extends EndpointPath {
  readonly segments: readonly Segment[];
  readonly endpoints: readonly Endpoint[];
}

/** A part of a path: a text, or the name of a parameter. */
type Segment = { readonly text: string } | { readonly name: string };

/** The table of endpoints. */
export class EndpointTable implements EndpointPaths {
  readonly #paths: readonly TablePath[];
  /** By their first segment, which no collection has: most requests end the search here. */
  readonly #byFirst: ReadonlyMap<string | undefined, readonly TablePath[]>;
  /** The ids of the operations, which no collection can use. */
  readonly ids: readonly string[];

  constructor(endpoints: readonly Endpoint[]) {
    this.ids = endpoints.map(({ id }) => id);
    this.#paths = [...Map.groupBy(endpoints, ({ path }) => path)].map(([path, own]) => pathOf(path, own));
    this.#byFirst = Map.groupBy(this.#paths, ({ template }) => template.split("/")[1]);
  }

  /** The methods of each path, as `Allow` lists them. */
  get methods(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#paths.map(({ template, allow }) => [template, allow]));
  }

  find(service: Service, segments: readonly string[]): ReturnType<EndpointPaths["find"]> {
    for (const path of this.#byFirst.get(segments[0]) ?? []) {
      const names = namesIn(path, segments);
      if (names !== undefined && existsIn(path, service)) return { path, names };
    }
    return undefined;
  }

  /** The path items of the OpenAPI document, by path. */
  describe(described: Described): Record<string, Part> {
    const { prefix } = described.settings;
    const shown = this.#paths.filter((path) => existsIn(path, described));
    return Object.fromEntries(
      shown.map(({ template, endpoints }) => [
        prefix + template,
        Object.fromEntries(
          endpoints.map((each) => [
            each.method.toLowerCase(),
            operationPart(planOf(each, described), described),
          ]),
        ),
      ]),
    );
  }
}

/** Throws an Error if the endpoints of the path exist for different callers or in different services. */
function pathOf(path: string, endpoints: readonly Endpoint[]): TablePath {
  const [first] = endpoints as readonly [Endpoint];
  if (
    endpoints.some(
      ({ who, exists, names }) => who !== first.who || exists !== first.exists || names !== first.names,
    )
  )
    throw new Error(`All endpoints of ${path} need the same who, exists and names.`);
  const methods = new Map(
    endpoints.flatMap((each): [string, Endpoint][] =>
      each.method === "GET"
        ? [
            ["GET", each],
            ["HEAD", each],
          ]
        : [[each.method, each]],
    ),
  );
  return {
    template: path,
    segments: path
      .slice(1)
      .split("/")
      .map((each) => (each.startsWith("{") ? { name: each.slice(1, -1) } : { text: each })),
    endpoints,
    methods,
    allow: [...methods.keys(), "OPTIONS"].join(", "),
    accept: endpoints.some(({ body }) => body !== undefined) ? { "accept-post": typesOf("POST") } : {},
    who: first.who,
  };
}

function existsIn({ endpoints: [first] }: TablePath, described: Described): boolean {
  return first?.exists?.(described) ?? true;
}

/** The values in a path; `undefined` if it is another path. */
function namesIn(
  { segments, endpoints: [first] }: TablePath,
  given: readonly string[],
): Record<string, string> | undefined {
  if (segments.length !== given.length) return undefined;
  const names: Record<string, string> = {};
  for (const [n, segment] of segments.entries()) {
    const value = given[n] as string;
    if ("text" in segment) {
      if (segment.text !== value) return undefined;
    } else if (value === "" || first?.names?.[segment.name]?.is?.(value) === false) return undefined;
    else names[segment.name] = value;
  }
  return names;
}

function planOf(endpoint: Endpoint, described: Described): OperationPlan {
  const { id, texts, who, names = {}, page, body, successes, errors, isNeverForbidden } = endpoint;
  const all = [
    ...Object.entries(names).map(([name, { description }]) => ({
      name,
      in: "path",
      required: true,
      description,
      schema: text,
    })),
    ...(page === undefined ? [] : pageParts(page)),
    ...(endpoint.parameters ?? []),
  ];
  return {
    id,
    ...(typeof texts === "function" ? texts(described) : texts),
    credential: who === "administrators" ? "required" : "optional",
    ...(isNeverForbidden && { isNeverForbidden }),
    parameters: all,
    ...(body !== undefined && {
      requestBody: typeof body === "function" ? body(described) : bodyPart(body),
    }),
    successes: successes(described),
    problems: typeof errors === "function" ? errors(described) : errors,
  };
}

function pageParts({ usual, most, hasAfter, what = "items" }: NonNullable<EndpointMethod["page"]>): Part[] {
  const limit = {
    name: "limit",
    in: "query",
    description: `The most ${what} ${hasAfter ? "on the page" : "in the response"}.`,
    schema: { type: "integer", minimum: 1, maximum: most, default: usual },
  };
  const after = {
    name: "after",
    in: "query",
    description: "The page starts after the item with this name.",
    schema: text,
  };
  return hasAfter ? [limit, after] : [limit];
}
