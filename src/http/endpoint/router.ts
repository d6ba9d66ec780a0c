/** The table of endpoints: finds the path of a request in it, and describes its paths. */
import type { Collection } from "../../collection/collection.ts";
import { keysOf } from "../../query/unique-keys.ts";
import { isInternal } from "../../store/port/record.ts";
import type { About, Nested } from "../openapi/about.ts";
import { type Described, type InDocument, type Part, text } from "../openapi/described.ts";
import { idParameter } from "../openapi/parameters.ts";
import type { EndpointRow } from "../operations/result.ts";
import { typesOf } from "../protocol/content-types.ts";
import { fullTemplate } from "../route.ts";
import type { EndpointPath, EndpointPaths, FoundPath, Service, Who } from "../service.ts";
import { type Credential, credentialFor, pathItem } from "./description.ts";
import type { CollectionEndpoint, Endpoint, NestedEndpoint, Row } from "./endpoint.ts";

/** The rows of all endpoints. */
export interface Endpoints {
  own: readonly Endpoint[];
  inCollections: readonly CollectionEndpoint[];
  /** The endpoints that a path in collections also has if the request has a query, and the collection has unique keys. */
  byKey: readonly CollectionEndpoint[];
  nested: readonly NestedEndpoint[];
  /** The internal collections that have the paths of a collection. */
  ownCollections: readonly OwnCollection[];
  /** What responds where nothing exists. */
  absence: EndpointRow;
  /** What responds to OPTIONS. */
  options: EndpointRow;
}

/** An internal collection that administrators use with the paths of a collection, and how documents name it. */
export interface OwnCollection {
  readonly collection: Collection;
  /** The tag of its operations. */
  readonly tag: string;
  /** The names of its operations and schemas are made from this, such as `webhooks`. */
  readonly called: string;
}

/** The endpoints of a path. */
interface TablePath<D extends InDocument = InDocument> extends EndpointPath {
  readonly segments: readonly Segment[];
  readonly endpoints: readonly Row<D>[];
}

/** A part of a path: a text, or the name of a parameter. */
type Segment = { readonly text: string } | { readonly name: string };

/** The paths in collections that have the same number of segments. `fixed`: by the texts at the end. `named` ends with a parameter. */
interface Shape {
  fixed: ReadonlyMap<string | undefined, TablePath<Nested>>;
  named: TablePath<Nested> | undefined;
}

/** The table of endpoints. */
export class EndpointTable implements EndpointPaths {
  readonly #paths: readonly TablePath[];
  readonly #inCollections: readonly TablePath<About>[];
  /** The path of a collection with unique keys, if the request has a query. */
  readonly #withKeys: TablePath<About>;
  readonly #nested: readonly TablePath<Nested>[];
  readonly forBrowsers: EndpointPath | undefined;
  readonly absence: EndpointRow;
  readonly options: EndpointRow;
  readonly #routed: readonly TablePath[];
  /** By their first segment, which no collection has: most requests end the search here. */
  readonly #byFirst: ReadonlyMap<string | undefined, readonly TablePath[]>;
  /** Those outside the prefix: by the whole path, or by the part before the parameter at its end. */
  readonly #outside: ReadonlyMap<string, TablePath>;
  /** The paths in collections, by the number of their segments. */
  readonly #shapes: readonly Shape[];
  readonly ownCollections: readonly OwnCollection[];
  /** The ids of the operations of the service itself, which no collection can use. */
  readonly ids: readonly string[];

  constructor({ own, inCollections, byKey, nested, ownCollections, absence, options }: Endpoints) {
    this.ownCollections = ownCollections;
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
    this.#withKeys = pathOf([
      ...inCollections.filter((each) => byKey.some((own) => own.path === each.path)),
      ...byKey,
    ]);
    this.#nested = pathsOf(nested);
    this.#shapes = shapesOf([...this.#inCollections, ...this.#nested]);
  }

  /** All paths that the router knows. */
  get paths(): readonly EndpointPath[] {
    const others = this.#inCollections.filter((path) => path.template !== this.#withKeys.template);
    return [...this.#routed, this.#withKeys, ...others, ...this.#nested];
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

  reserves(first: string): boolean {
    return this.#byFirst.has(first);
  }

  findIn(
    service: Service,
    collection: Collection,
    segments: readonly string[],
    query: string,
  ): EndpointPath | undefined {
    if (query !== "" && segments.length === 1 && hasKeys(collection)) return this.#withKeys;
    const { name } = collection;
    const shape = this.#shapes[segments.length];
    const end = segments.at(-1);
    const fixed =
      (segments.length === 3 ? shape?.fixed.get(`${segments[1]}/${end}`) : undefined) ??
      shape?.fixed.get(end);
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
        fullTemplate(path, described.settings),
        pathItem(path, described, { path: namesParts(path) }),
      ]),
    );
  }

  /** The path items of a collection, by path. */
  describeIn(about: About): Record<string, Part> {
    const { collection, path: inPath } = about;
    const isShown = (path: TablePath<About>) =>
      existsIn(path, about) && !(isInternal(collection.name) && isFixed(path));
    const orWithKeys = (path: TablePath<About>) =>
      path.template === this.#withKeys.template && keysOf(collection).length > 0 && hasKeys(collection)
        ? this.#withKeys
        : path;
    return Object.fromEntries(
      this.#inCollections
        .filter(isShown)
        .map(orWithKeys)
        .map((path) => [
          addressOf(path, about),
          pathItem(path, about, {
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
        fullTemplate(each, settings, names),
        pathItem(each, nested, { path, about: nested, parent }),
      ]),
    );
  }

  /** The path of a feed, of one collection or of several, and whether its caller needs a credential. */
  feedOf(described: Described, about?: About): { address: string; credential: Credential } {
    const isFeed = ({ template }: EndpointPath) => template.endsWith("/_events");
    const [path] = (about === undefined ? this.#paths : this.#inCollections).filter(isFeed);
    const who = path?.methods.get("GET")?.who;
    if (path === undefined || who === undefined) throw new Error("The table must have the feeds.");
    return {
      address: about === undefined ? fullTemplate(path, described.settings) : addressOf(path, about),
      credential: credentialFor(who, described, { about }),
    };
  }
}

/** Whether requests can name a resource of the collection by a unique key. */
function hasKeys({ name, unique }: Collection): boolean {
  return unique.some(({ where }) => where === undefined) && !isInternal(name);
}

function pathsOf<D extends InDocument>(endpoints: readonly Row<D>[]): TablePath<D>[] {
  return [...Map.groupBy(endpoints, ({ path, isOutside }) => `${isOutside} ${path}`).values()].map(pathOf);
}

/** Throws an Error if the endpoints of the path exist for different callers or in different services. */
function pathOf<D extends InDocument>(endpoints: readonly Row<D>[]): TablePath<D> {
  const [first] = endpoints as readonly [Row<D>];
  const { path, who, exists, names } = first;
  const isAsFirst = (each: Row<D>) =>
    existsForSome(each.who) === existsForSome(who) && each.exists === exists && each.names === names;
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

/** For whom a path exists, if not for every caller, or `public`: all endpoints of a path must agree. */
function existsForSome(who: Who): Who | undefined {
  return who === "public" || who === "administrators" ? who : undefined;
}

/** The header that lists the media types of a method, such as `Accept-Patch`. PUT has no such header. */
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
    return { fixed: new Map(fixed.map((path) => [endOf(path), path])), named: named[0] };
  });
}

function isFixed(path: Pick<TablePath, "segments">): boolean {
  return lastText(path) !== undefined;
}

function lastText({ segments }: Pick<TablePath, "segments">): string | undefined {
  const last = segments.at(-1);
  return last !== undefined && "text" in last ? last.text : undefined;
}

/** The texts at the end of a path: `_deleted/_restore`. */
function endOf({ segments }: Pick<TablePath, "segments">): string {
  const texts = segments.map((each) => ("text" in each ? each.text : undefined));
  return texts.slice(texts.lastIndexOf(undefined) + 1).join("/");
}

function hasId({ template }: EndpointPath): boolean {
  return template.includes("{id}");
}

/** A batch has no administration. */
function existsIn(
  { endpoints: [first], isAdministrative, isOutside }: TablePath<never>,
  described: Described,
): boolean {
  if (described.isBatch === true && isAdministrative) return false;
  const isOfApplication = described.settings.pagesBelow !== undefined && isOutside;
  if (isOfApplication && first?.isInApplications !== true) return false;
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
  return fullTemplate(path, settings, inPath.length > 0 ? {} : { collection: collection.name });
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
