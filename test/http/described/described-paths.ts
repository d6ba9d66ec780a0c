/** The paths of an OpenAPI document: finds the path of a request, and the responses that the document describes there. */
import { anywhere } from "../../../src/http/openapi/problem-responses.ts";

/** The description of a response in a document. */
export interface DescribedAnswer {
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, { schema?: object }>;
}

/** A path, with the described responses of each method by status. */
export interface DescribedPath {
  /** The same name for every service: `/{collection}/{id}`. */
  name: string;
  methods: Readonly<Record<string, Readonly<Record<string, DescribedAnswer>>>>;
}

/** Everything that a document describes. */
export interface DescribedPaths {
  /** The described path for the path of a request without its query string. */
  find(path: string): DescribedPath | undefined;
  /** The path of any collection, if the document has one. It also describes the response to a name that no collection can have. */
  anyCollection: DescribedPath | undefined;
  /** The problem that any request can get. */
  anyProblem: DescribedAnswer;
  /** The names of all described responses. */
  documented: readonly string[];
}

/** The name of a response: `GET /{collection}/{id} 304`, or `any request 431`. */
export function answerName(status: number, told?: { method: string; path: DescribedPath }): string {
  return told === undefined ? `any request ${status}` : `${told.method} ${told.path.name} ${status}`;
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, DescribedAnswer> }>>;
  components: Record<string, Record<string, { schema?: { pattern?: string } }>>;
}

/** The paths of the document of a service with this prefix. */
export function describedPaths(document: object, prefix: string): DescribedPaths {
  const { components } = document as Document;
  const { paths } = resolved(document) as Document;
  const collection = components.parameters?.collection?.schema?.pattern?.slice(1, -1) ?? "[^/]+";
  const all = Object.entries(paths)
    .map(([path, item]) => ({
      path,
      shape: shapeOf(path, collection),
      told: { name: nameOf(path, prefix), methods: methodsOf(item) },
    }))
    // A path with fewer parameters comes first, and then one whose first parameter comes later.
    .sort(
      (a, b) =>
        a.path.split("{").length - b.path.split("{").length || b.path.indexOf("{") - a.path.indexOf("{"),
    );
  const told = all.map((each) => each.told);
  return {
    find(path) {
      const asked = canonical(path, prefix);
      return all.find(({ shape }) => shape.test(asked))?.told;
    },
    anyCollection: all.find(({ path }) => path === `${prefix}/{collection}`)?.told,
    anyProblem: Object.values(told[0]?.methods ?? {})[0]?.default ?? {},
    documented: [...new Set([...told.flatMap(namesOf), ...anywhere.map((status) => answerName(status))])],
  };
}

function methodsOf(item: Document["paths"][string]): DescribedPath["methods"] {
  const methods = Object.entries(item).map(([method, { responses }]) => [method.toUpperCase(), responses]);
  return Object.fromEntries(methods) as DescribedPath["methods"];
}

function namesOf(path: DescribedPath): string[] {
  return Object.entries(path.methods).flatMap(([method, answers]) =>
    Object.keys(answers)
      .filter((status) => status !== "default")
      .map((status) => answerName(Number(status), { method, path })),
  );
}

const outside = /^\/(?:livez|readyz|healthz|metrics|problems\/\{slug\}|openapi.*\.json|\.well-known\/.*)$/;

/** The name of a path, without the prefix and the names of collections. The path of a relation has the name of a list. */
function nameOf(path: string, prefix: string): string {
  if (path === (prefix || "/")) return "the prefix";
  if (!path.startsWith(`${prefix}/`) || outside.test(path)) return path;
  return path
    .slice(prefix.length)
    .replace(/^\/(?!_)[^/]+/, "/{collection}")
    .replace(/^\/\{collection\}\/\{id\}\/(?!_)[^/]+/, "/{collection}");
}

function shapeOf(path: string, collection: string): RegExp {
  const shape = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&")
    .replaceAll("{collection}", `(?:${collection})`)
    .replaceAll(/\{(?:id|slug|event|name|identity)\}/g, "[^/]+");
  return new RegExp(`^${shape}$`, "s");
}

/** One slash at the end is ignored below the prefix. */
function canonical(path: string, prefix: string): string {
  const isBelow = path.startsWith(`${prefix}/`) && path !== "/" && path !== `${prefix}//`;
  const cut = isBelow ? path.replace(/\/$/, "") : path;
  try {
    return cut
      .split("/")
      .map((segment) => decodeURIComponent(segment).replaceAll("/", "%2F").replaceAll("\n", "%0A"))
      .join("/");
  } catch {
    return "undecodable";
  }
}

/** The document with responses and headers in place of the references to them. */
function resolved(document: object): object {
  const { components, paths } = document as Document;
  // Each target is one object, however often it is referred to, so that the judge compiles its schema once.
  const targets = new Map<string, unknown>();
  const replace = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const ref = String(Reflect.get(value, "$ref"));
    const [, kind = "", key = ""] = /^#\/components\/(responses|headers)\/(.+)$/.exec(ref) ?? [];
    const target = components[kind]?.[key];
    if (target !== undefined) {
      const known = targets.get(ref) ?? replace(target);
      targets.set(ref, known);
      return known;
    }
    if (Array.isArray(value)) return value.map(replace);
    return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, replace(inner)]));
  };
  return { ...document, paths: replace(paths) } as object;
}
