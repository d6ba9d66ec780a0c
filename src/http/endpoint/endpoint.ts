/**
 * An endpoint: one path and method with everything about it. The router, `Allow`, the check of the caller, the reading of
 * parameters and the OpenAPI document are made from the table of endpoints (`../endpoints/endpoint-table.ts`).
 */
import type { Action } from "../../access/access-declaration.ts";
import type { Collection } from "../../collection/collection.ts";
import { isInternal } from "../../store/port/record.ts";
import type { About, Nested } from "../openapi/about.ts";
import { type Described, type InDocument, type Part, text } from "../openapi/described.ts";
import { type OperationPlan, operationPart, serviceTag } from "../openapi/operations.ts";
import { idParameter } from "../openapi/parameters.ts";
import type { EndpointRow } from "../operations/result.ts";
import { isMethodWithContent, typesOf } from "../protocol/content-types.ts";
import { type CollectionRoute, fullTemplate, type OwnRoute, type Route } from "../route.ts";
import type { EndpointMethod, EndpointPath, EndpointPaths, FoundPath, Service, Who } from "../service.ts";
import { type Body, bodyPart } from "./body.ts";

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
  /** The responses on success, by status. */
  readonly successes: Of<D, OperationPlan["successes"]>;
  /** The statuses of its own errors, besides those that follow from the other members (`errorsOf`). @default none */
  readonly errors?: Of<D, readonly number[]>;
  /** Whether any valid credential is enough. @default false */
  readonly isNeverForbidden?: true;
  /** Whether its requests are not counted against the quota of the caller. @default false */
  readonly isFree?: true;
}

/** A row for a path in each collection. */
export type CollectionEndpoint<Parsed = unknown> = Endpoint<Parsed, About, CollectionRoute>;

/** A row for a path from a resource to those that refer to it. */
export type NestedEndpoint<Parsed = unknown> = Endpoint<Parsed, Nested, CollectionRoute>;

/** The rows of all endpoints. */
export interface Endpoints {
  own: readonly Endpoint[];
  inCollections: readonly CollectionEndpoint[];
  nested: readonly NestedEndpoint[];
  /** The answer where nothing exists. */
  absence: EndpointRow;
  /** The answer to OPTIONS. */
  options: EndpointRow;
}

/** A row of any kind of path. */
type Row<D extends InDocument> = Endpoint<unknown, D, Route>;

/** The endpoints of a path. */
interface TablePath<D extends InDocument = InDocument> extends EndpointPath {
  readonly segments: readonly Segment[];
  readonly endpoints: readonly Row<D>[];
}

/** A part of a path: a text, or the name of a parameter. */
type Segment = { readonly text: string } | { readonly name: string };

/** The paths in collections with one number of segments: those that end with a text, by this text, and the other one. */
interface Shape {
  fixed: ReadonlyMap<string | undefined, TablePath<Nested>>;
  named: TablePath<Nested> | undefined;
}

/** The table of endpoints. */
export class EndpointTable implements EndpointPaths {
  readonly #paths: readonly TablePath[];
  readonly #inCollections: readonly TablePath<About>[];
  readonly #nested: readonly TablePath<Nested>[];
  readonly forBrowsers: EndpointPath | undefined;
  readonly absence: EndpointRow;
  readonly options: EndpointRow;
  readonly #routed: readonly TablePath[];
  /** By their first segment, which no collection has: most requests end the search here. */
  readonly #byFirst: ReadonlyMap<string | undefined, readonly TablePath[]>;
  /** Those outside the prefix: by the whole path, or by the part before the parameter at its end. */
  readonly #outside: ReadonlyMap<string, TablePath>;
  /** Those in collections, by the number of their segments. */
  readonly #shapes: readonly Shape[];
  /** The ids of the operations of the service itself, which no collection can use. */
  readonly ids: readonly string[];

  constructor({ own, inCollections, nested, absence, options }: Endpoints) {
    this.absence = absence;
    this.options = options;
    this.ids = own.flatMap(({ id }) => (typeof id === "string" ? id : []));
    this.#paths = pathsOf(own);
    this.forBrowsers = this.#paths.find(({ endpoints: [first] }) => first?.isForBrowsers === true);
    this.#routed = this.#paths.filter((path) => path !== this.forBrowsers);
    const [outside = [], below = []] = [true, false].map((is) =>
      this.#routed.filter(({ isOutside }) => isOutside === is),
    );
    this.#byFirst = Map.groupBy(below, ({ template }) =>
      template === "/" ? undefined : template.split("/")[1],
    );
    this.#outside = new Map(outside.map((path) => [path.template.replace(/(?<=\{).*/, ""), path]));
    this.#inCollections = pathsOf(inCollections);
    this.#nested = pathsOf(nested);
    this.#shapes = shapesOf([...this.#inCollections, ...this.#nested]);
  }

  /** All paths that the router knows. */
  get paths(): readonly EndpointPath[] {
    return [...this.#routed, ...this.#inCollections, ...this.#nested];
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

  findIn(service: Service, { name }: Collection, segments: readonly string[]): EndpointPath | undefined {
    const shape = this.#shapes[segments.length];
    const fixed = shape?.fixed.get(segments.at(-1));
    // In a collection of the service itself, such a segment is an id.
    if (fixed === undefined || isInternal(name)) return shape?.named;
    return existsIn(fixed, service) ? fixed : undefined;
  }

  /** The path items of the service itself in the OpenAPI document, by path. */
  describe(described: InDocument): Record<string, Part> {
    const isShown = ({ isDescribed = () => true }: Endpoint) => isDescribed(described);
    const shown = this.#paths.filter((path) => existsIn(path, described) && path.endpoints.every(isShown));
    return Object.fromEntries(
      shown.map((path) => [
        fullTemplate(path, described.settings.prefix),
        itemOf(path, described, { path: namesParts(path) }),
      ]),
    );
  }

  /** The path items of a collection, by path. */
  describeIn(about: About): Record<string, Part> {
    const { collection, path: inPath } = about;
    const isShown = (path: TablePath<About>) =>
      existsIn(path, about) && !(isInternal(collection.name) && isFixed(path));
    return Object.fromEntries(
      this.#inCollections.filter(isShown).map((path) => [
        addressOf(path, about),
        itemOf(path, about, {
          path: [...inPath, ...(hasId(path) ? [idParameter(collection.idKind)] : [])],
          about,
        }),
      ]),
    );
  }

  /** The path item of a nested path, by path. */
  describeNested(nested: Nested): Record<string, Part> {
    const { parent, relation, settings } = nested;
    const names = { collection: parent.collection.name, relation: relation.name };
    const path = [idParameter(parent.collection.idKind), ...nested.path];
    return Object.fromEntries(
      this.#nested.map((each) => [
        fullTemplate(each, settings.prefix, names),
        itemOf(each, nested, { path, about: nested, parent }),
      ]),
    );
  }

  /** The path of a feed, of one collection or of several, and whether its caller needs a credential. */
  feedOf(described: Described, about?: About): { address: string; credential: OperationPlan["credential"] } {
    const isFeed = ({ template }: EndpointPath) => template.endsWith("/_events");
    const [path] = (about === undefined ? this.#paths : this.#inCollections).filter(isFeed);
    const who = path?.methods.get("GET")?.who;
    if (path === undefined || who === undefined) throw new Error("The table must have the feeds.");
    return {
      address: about === undefined ? fullTemplate(path, described.settings.prefix) : addressOf(path, about),
      credential: credentialFor(who, described, { about }),
    };
  }
}

function pathsOf<D extends InDocument>(endpoints: readonly Row<D>[]): TablePath<D>[] {
  return [...Map.groupBy(endpoints, ({ path, isOutside }) => `${isOutside} ${path}`).values()].map(pathOf);
}

/** Throws an Error if the endpoints of the path exist for different callers or in different services. */
function pathOf<D extends InDocument>(endpoints: readonly Row<D>[]): TablePath<D> {
  const [first] = endpoints as readonly [Row<D>];
  const { path, who, exists, names } = first;
  const isAsFirst = (each: Row<D>) =>
    (each.who === who || (typeof each.who === "object" && typeof who === "object")) &&
    each.exists === exists &&
    each.names === names;
  if (!endpoints.every(isAsFirst))
    throw new Error(`All endpoints of ${path} need the same who, exists and names.`);
  const methods = new Map(
    endpoints.flatMap((each): [string, Row<D>][] =>
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
    isNested: path.endsWith("/{relation}"),
    isPublic: who === "public",
    isAdministrative: who === "administrators",
    segments: path
      .split("/")
      .slice(path === "/" ? 2 : 1)
      .map((each) => (each.startsWith("{") ? { name: each.slice(1, -1) } : { text: each })),
    endpoints,
    methods,
    allow: [...methods.keys(), "OPTIONS"].join(", "),
    accept: Object.fromEntries(endpoints.flatMap(acceptOf)),
  };
}

/** The header with the media types of a method. There is none for PUT. */
function acceptOf({ method, body, content }: Row<never>): [string, string][] {
  if (body === undefined || !(method === "POST" || method === "PATCH" || method === "QUERY")) return [];
  return [[`accept-${method.toLowerCase()}`, content?.types ?? typesOf(method)]];
}

function shapesOf(paths: readonly TablePath<Nested>[]): Shape[] {
  const most = Math.max(...paths.map(({ segments }) => segments.length));
  return Array.from({ length: most + 1 }, (_, length) => {
    const [fixed = [], named = []] = [true, false].map((is) =>
      paths.filter((path) => path.segments.length === length && isFixed(path) === is),
    );
    return { fixed: new Map(fixed.map((path) => [lastText(path), path])), named: named[0] };
  });
}

function isFixed(path: Pick<TablePath, "segments">): boolean {
  return lastText(path) !== undefined;
}

function lastText({ segments }: Pick<TablePath, "segments">): string | undefined {
  const last = segments.at(-1);
  return last !== undefined && "text" in last ? last.text : undefined;
}

function hasId({ template }: EndpointPath): boolean {
  return template.includes("{id}");
}

/** A batch has no administration. */
function existsIn({ endpoints: [first], isAdministrative }: TablePath<never>, described: Described): boolean {
  if (described.isBatch === true && isAdministrative) return false;
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

/** The path of a collection in the document. */
function addressOf(path: EndpointPath, { settings, collection, path: inPath }: About): string {
  return fullTemplate(path, settings.prefix, inPath.length > 0 ? {} : { collection: collection.name });
}

/** What the description of a path has besides its rows: its parameters, its collection, and the one above. */
interface InPath {
  path: readonly Part[];
  about?: About;
  parent?: About;
}

/** The operations of a path, by method. OpenAPI 3.1 cannot describe QUERY. */
function itemOf<D extends InDocument>({ endpoints }: TablePath<D>, described: D, within: InPath): Part {
  const shown = endpoints.filter(({ method }) => method !== "QUERY" || described.version === "3.2");
  return Object.fromEntries(
    shown.map((each) => [
      each.method.toLowerCase(),
      operationPart(planOf(each, described, within), described),
    ]),
  );
}

function planOf<D extends InDocument>(endpoint: Row<D>, described: D, within: InPath): OperationPlan {
  const { id, summary, description, who, page, body, parameters = [], successes } = endpoint;
  const { isNeverForbidden, isFree } = endpoint;
  return {
    id: valueFor(id, described),
    tag: endpoint.tag ?? within.about?.tag ?? serviceTag,
    summary: valueFor(summary, described),
    description: valueFor(description, described),
    credential: credentialFor(who, described, within),
    ...(isNeverForbidden && { isNeverForbidden }),
    ...(isFree && { isFree }),
    parameters: [
      ...within.path,
      ...(page === undefined ? [] : pageParts(page)),
      ...valueFor(parameters, described),
    ],
    ...(body !== undefined && {
      requestBody: typeof body === "function" ? body(described) : bodyPart(body),
    }),
    successes: valueFor(successes, described),
    problems: errorsOf(endpoint, described, within),
  };
}

/** The statuses of the errors: 400, those that follow from other members of the row, and its own. */
function errorsOf<D extends InDocument>(
  { method, who, formats, ignoresHeaders, isKeyed, errors = [] }: Row<D>,
  described: D,
  { path, about }: InPath,
): number[] {
  const isForSome = who === "administrators" || (about !== undefined && isInternal(about.collection.name));
  const isUnknown = path.length > 0 || (isForSome && described.access !== undefined);
  const hasFormat = formats !== "any" && ignoresHeaders !== true;
  return [
    400,
    ...(isUnknown ? [404] : []),
    ...(hasFormat ? [406] : []),
    ...(isMethodWithContent(method) ? [413, 415] : []),
    ...(isKeyed === true ? [409, 422] : []),
    ...valueFor(errors, described),
  ];
}

/** The value, made from what the document describes if it depends on it. */
function valueFor<D, T>(of: Of<D, T>, described: D): T {
  return typeof of === "function" ? (of as (described: D) => T)(described) : of;
}

/** The parameters of a path of the service itself. */
function namesParts({ endpoints: [first] }: TablePath): Part[] {
  return Object.entries(first?.names ?? {}).map(([name, { description, example }]) => ({
    name,
    in: "path",
    required: true,
    description,
    ...(example !== undefined && { example }),
    schema: text,
  }));
}

function credentialFor(
  who: Who,
  { access }: Described,
  { about, parent }: Pick<InPath, "parent"> & { about?: About | undefined },
): OperationPlan["credential"] {
  if (who === "writers") return access?.mayWrite(undefined) === true ? "optional" : "required";
  if (typeof who === "string")
    return ({ public: "none", everyone: "optional", administrators: "required" } as const)[who];
  const anybodyMay = (collection: Collection | undefined, actions: readonly Action[]) => {
    const permit = collection && access?.permit(collection.name, undefined);
    return permit !== undefined && actions.some((action) => permit.may(action) !== "nothing");
  };
  // A path below a resource also needs the right to read this resource.
  if (parent !== undefined && !anybodyMay(parent.collection, ["read"])) return "required";
  return anybodyMay(about?.collection, who.action) ? "optional" : "required";
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
