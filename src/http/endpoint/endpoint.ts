/**
 * An endpoint: one path and method with everything about it. The router, `Allow`, the check of the caller, the reading of
 * parameters and the OpenAPI document are made from the table of endpoints (`../endpoints/endpoint-table.ts`).
 */
import { type Described, type OpenApiVersion, type Part, text } from "../openapi/described.ts";
import { type OperationPlan, operationPart } from "../openapi/operations.ts";
import type { EndpointRow } from "../operations/result.ts";
import { typesOf } from "../protocol/content-types.ts";
import type { EndpointMethod, EndpointPath, EndpointPaths, FoundPath, Service } from "../service.ts";
import { fullTemplate } from "../templates.ts";
import { type Body, bodyPart } from "./body.ts";

/** A row of the table. */
export interface Endpoint<Parsed = unknown> extends EndpointRow<Parsed> {
  /** Below the prefix, unless `isOutside`. `{name}` is a parameter. `/` is the prefix itself. */
  readonly path: string;
  /** Whether the path is outside the prefix. @default false */
  readonly isOutside?: true;
  readonly method: "GET" | "POST";
  /** Whether a service has it. @default always */
  readonly exists?: (described: Described) => boolean;
  /** Describes each parameter of the path. `is` says whether a text is a valid value. Without `is`, every text is valid. */
  readonly names?: Readonly<
    Record<string, { description: string; example?: string; is?: (text: string) => boolean }>
  >;
  /** Parameters in addition to those of the path and of the page, as the document has them. */
  readonly parameters?: readonly Part[];
  /** Whether the document describes it. @default true */
  readonly isDescribed?: (described: Described) => boolean;
  /** What a request sends: a declared body, or one that the handler reads in its own way. @default nothing */
  readonly body?: Body<never> | ((described: Described) => Part);
  /** Whether the router leaves it out, because only browsers get it, and for others the path does not exist. @default false */
  readonly isForBrowsers?: true;
  /** The id of the operation in the OpenAPI document. */
  readonly id: string;
  /** Its tag and its texts there. */
  readonly texts: Texts | ((described: Described) => Texts);
  readonly successes: (described: InDocument) => OperationPlan["successes"];
  /** The statuses of its own errors. */
  readonly errors: readonly number[] | ((described: Described) => readonly number[]);
  /** Whether any valid credential is enough. @default false */
  readonly isNeverForbidden?: true;
  /** Whether its requests are not counted against the quota of the caller. @default false */
  readonly isFree?: true;
}

/** What a document of one version describes. */
export type InDocument = Described & { readonly version: OpenApiVersion };

type Texts = Pick<OperationPlan, "tag" | "summary" | "description">;

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
  readonly forBrowsers: EndpointPath | undefined;
  readonly #routed: readonly TablePath[];
  /** By their first segment, which no collection has: most requests end the search here. */
  readonly #byFirst: ReadonlyMap<string | undefined, readonly TablePath[]>;
  /** Those outside the prefix: by the whole path, or by the part before the parameter at its end. */
  readonly #outside: ReadonlyMap<string, TablePath>;
  /** The ids of the operations, which no collection can use. */
  readonly ids: readonly string[];

  constructor(endpoints: readonly Endpoint[]) {
    this.ids = endpoints.map(({ id }) => id);
    this.#paths = [...Map.groupBy(endpoints, ({ path, isOutside }) => `${isOutside} ${path}`)].map(
      ([, own]) => pathOf(own),
    );
    this.forBrowsers = this.#paths.find(({ endpoints: [first] }) => first?.isForBrowsers === true);
    this.#routed = this.#paths.filter((path) => path !== this.forBrowsers);
    const [outside = [], below = []] = [true, false].map((is) =>
      this.#routed.filter(({ isOutside }) => isOutside === is),
    );
    this.#byFirst = Map.groupBy(below, ({ template }) =>
      template === "/" ? undefined : template.split("/")[1],
    );
    this.#outside = new Map(outside.map((path) => [path.template.replace(/(?<=\{).*/, ""), path]));
  }

  /** The methods of each path, as `Allow` lists them. */
  get methods(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#routed.map(({ template, allow }) => [template, allow]));
  }

  findOutside(service: Service, asked: string): FoundPath | undefined {
    const whole = this.#outside.get(asked);
    if (whole?.template === asked && existsIn(whole, service)) return { path: whole, names: {} };
    const end = asked.lastIndexOf("/") + 1;
    const path = this.#outside.get(`${asked.slice(0, end)}{`);
    const [name, { is = () => true } = {}] = Object.entries(path?.endpoints[0]?.names ?? {})[0] ?? [];
    const value = asked.slice(end);
    return path !== undefined && name !== undefined && existsIn(path, service) && is(value)
      ? { path, names: { [name]: value } }
      : undefined;
  }

  find(service: Service, segments: readonly string[]): FoundPath | undefined {
    for (const path of this.#byFirst.get(segments[0]) ?? []) {
      const names = namesIn(path, segments);
      if (names !== undefined && existsIn(path, service)) return { path, names };
    }
    return undefined;
  }

  /** The path items of the OpenAPI document, by path. */
  describe(described: InDocument): Record<string, Part> {
    const { prefix } = described.settings;
    const isShown = ({ isDescribed = () => true }: Endpoint) => isDescribed(described);
    const shown = this.#paths.filter((path) => existsIn(path, described) && path.endpoints.every(isShown));
    return Object.fromEntries(
      shown.map((path) => [
        fullTemplate(path, prefix),
        Object.fromEntries(
          path.endpoints.map((each) => [
            each.method.toLowerCase(),
            operationPart(planOf(each, described), described),
          ]),
        ),
      ]),
    );
  }
}

/** Throws an Error if the endpoints of the path exist for different callers or in different services. */
function pathOf(endpoints: readonly Endpoint[]): TablePath {
  const [first] = endpoints as readonly [Endpoint];
  const { path } = first;
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
    isOutside: first.isOutside === true,
    segments: path
      .split("/")
      .slice(path === "/" ? 2 : 1)
      .map((each) => (each.startsWith("{") ? { name: each.slice(1, -1) } : { text: each })),
    endpoints,
    methods,
    allow: [...methods.keys(), "OPTIONS"].join(", "),
    accept: endpoints.some(({ body }) => body !== undefined) ? { "accept-post": typesOf("POST") } : {},
    who: first.who,
  };
}

/** A batch has no administration. */
function existsIn({ endpoints: [first], who }: TablePath, described: Described): boolean {
  if (described.isBatch === true && who === "administrators") return false;
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

function planOf(endpoint: Endpoint, described: InDocument): OperationPlan {
  const { id, texts, who, names = {}, page, body, successes, errors, isNeverForbidden, isFree } = endpoint;
  const all = [
    ...Object.entries(names).map(([name, { description, example }]) => ({
      name,
      in: "path",
      required: true,
      description,
      ...(example !== undefined && { example }),
      schema: text,
    })),
    ...(page === undefined ? [] : pageParts(page)),
    ...(endpoint.parameters ?? []),
  ];
  return {
    id,
    ...(typeof texts === "function" ? texts(described) : texts),
    credential: credentialFor(who, described),
    ...(isNeverForbidden && { isNeverForbidden }),
    ...(isFree && { isFree }),
    parameters: all,
    ...(body !== undefined && {
      requestBody: typeof body === "function" ? body(described) : bodyPart(body),
    }),
    successes: successes(described),
    problems: typeof errors === "function" ? errors(described) : errors,
  };
}

function credentialFor(who: EndpointMethod["who"], { access }: Described): OperationPlan["credential"] {
  if (who === "writers") return access?.mayWrite(undefined) === true ? "optional" : "required";
  return ({ public: "none", everyone: "optional", administrators: "required" } as const)[who];
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
