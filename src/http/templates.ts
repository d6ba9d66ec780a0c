/**
 * The templates of routes, such as `/api/v1/articles/{id}`: the paths of the OpenAPI document. They are made once. Metrics and
 * traces name requests by them.
 */
import type { Collection } from "../collection/collection.ts";
import { webhooksName } from "../webhooks/webhook.ts";
import type { Route } from "./route-kinds.ts";
import type { EndpointPath, Service } from "./service.ts";

/** The templates of one collection, by the kind of route. */
type OfCollection = Readonly<
  Record<"collection" | "resource" | "changes" | "restore" | "bulk" | "import" | "events", string>
>;

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "QUERY", "OPTIONS"]);

/** A method, or `_OTHER` if the service has no path with it, as OpenTelemetry names such methods. */
export function methodName(method: string): string {
  return methods.has(method) ? method : "_OTHER";
}

/** The templates of each service. */
const known = new WeakMap<Service, RouteTemplates>();

/** The template of a route; `undefined` if the path is unknown. */
export function templateOf(service: Service, route: Route): string | undefined {
  let templates = known.get(service);
  if (templates === undefined) {
    templates = new RouteTemplates(service);
    known.set(service, templates);
  }
  return templates.of(route);
}

/** The templates of one service. */
class RouteTemplates {
  readonly #prefix: string;
  readonly #collections: ReadonlyMap<string, OfCollection>;
  /** Of all collections that are not declared. */
  readonly #any: OfCollection;
  /** Of nested paths, by the name of the collection and of the relation. */
  readonly #nested: ReadonlyMap<string, ReadonlyMap<string, string>>;

  constructor({ collections, settings: { prefix } }: Service) {
    this.#prefix = prefix;
    const names = [...collections.keys(), webhooksName];
    this.#collections = new Map(names.map((name) => [name, templatesBelow(`${prefix}/${name}`)]));
    this.#any = templatesBelow(`${prefix}/{collection}`);
    this.#nested = new Map(
      [...collections].map(([name, each]) => [name, nestedBelow(`${prefix}/${name}`, each)]),
    );
  }

  of(route: Route): string | undefined {
    switch (route.kind) {
      case "nothing":
        return route.outside?.path === "/" ? "/" : undefined;
      case "service":
        return "*";
      case "collection":
      case "resource":
      case "changes":
      case "restore":
      case "bulk":
      case "import":
      case "events":
        return (this.#collections.get(route.collection.name) ?? this.#any)[route.kind];
      case "nested":
        return this.#nested.get(route.parent.name)?.get(route.relation.name);
      case "endpoint":
        return fullTemplate(route.endpoint, this.#prefix);
      default:
        return route satisfies never;
    }
  }
}

function templatesBelow(path: string): OfCollection {
  return {
    collection: path,
    resource: `${path}/{id}`,
    changes: `${path}/{id}/_changes`,
    restore: `${path}/{id}/_restore`,
    bulk: `${path}/_bulk`,
    import: `${path}/_import`,
    events: `${path}/_events`,
  };
}

function nestedBelow(path: string, { relations }: Collection): ReadonlyMap<string, string> {
  return new Map([...relations.keys()].map((name) => [name, `${path}/{id}/${name}`]));
}

/** The template of a path of the table, with the prefix. */
export function fullTemplate(
  { template, isOutside }: Pick<EndpointPath, "template" | "isOutside">,
  prefix: string,
): string {
  if (isOutside) return template;
  return template === "/" ? prefix || "/" : prefix + template;
}
