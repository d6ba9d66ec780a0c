/** The rows of routes in the table of endpoints. */
import type { EndpointOf } from "../../../capability.ts";
import type { Success } from "../../../http/endpoint/endpoint.ts";
import { type InDocument, json, type Part } from "../../../http/openapi/described.ts";
import { copySchema } from "../../../http/openapi/schema-copy.ts";
import { notFound } from "../../../http/operations/result.ts";
import { requireContentType } from "../../../http/protocol/content-types.ts";
import { fullTemplate } from "../../../http/route.ts";
import type { ContentRule, Who } from "../../../http/service.ts";
import { encodeFragment, formatPointer } from "../../../json/pointer.ts";
import { passedStatuses } from "../calls/caller-refusals.ts";
import type { OpenCode } from "../loaded.ts";
import type { CodeSettings } from "../settings.ts";
import { parametersIn, type RouteSchema, type RouteSettings, routeMethods } from "./route-options.ts";

type Row = EndpointOf<OpenCode, CodeSettings>;
type Names = NonNullable<Row["names"]>;

/** A row for each route. A path with a text in it comes before one with a parameter in its place. */
export function routeEndpoints({ routes }: Pick<CodeSettings, "routes">): Row[] {
  const sorted = [...routes.values()].toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const named = new Map<string, Names>(); // all rows of a path have the same names
  return sorted.map((route) => {
    const { path } = route;
    const names = named.get(path) ?? namesOf(route);
    named.set(path, names);
    return rowOf(route, names);
  });
}

/** Texts come before parameters, from the first segment on. Routes of one path stay together, in the order of methods elsewhere. */
function rankOf({ path, method }: RouteSettings): string {
  const kinds = path.split("/").map((segment) => (segment.startsWith("{") ? "1" : "0"));
  return `${kinds.join("")} ${path} ${routeMethods.indexOf(method)}`;
}

function namesOf({ path }: RouteSettings): Names {
  return Object.fromEntries(
    parametersIn(path).map((name) => [name, { description: `The part \`{${name}}\` of the path.` }]),
  );
}

function rowOf(route: RouteSettings, names: Names): Row {
  const { name, method, path, access, body } = route;
  return {
    path,
    method,
    who: whoCan(access),
    names,
    id: `call${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    tag: "Routes",
    summary: `Call ${name}`,
    description: `A path that the configuration declares as \`routes.${name}\`.`,
    formats: "any",
    ...(body !== undefined && { body: (described: InDocument) => bodyPart(route, described) }),
    ...(body !== undefined && { content: body === "text" ? anyText : onlyJson }),
    parameters: queryParts(route),
    successes: (described) => successesOf(route, described),
    errors: [...passedStatuses, 500, 503],
    parse: (_, routed, { routes }) => routes?.parse(route, routed),
    handle: (service, asked, { routes }) => routes?.run(route, service, asked) ?? notFound,
  };
}

/** A role of the caller is checked with the path, and every caller can use a public route. */
function whoCan(access: RouteSettings["access"]): Who {
  if (access === "public") return "everyone";
  return { roles: access === "authenticated" ? "any" : access };
}

const onlyJson: ContentRule = {
  types: "application/json",
  require: (request) => requireContentType(request, "POST"),
  limit: "bodyBytes",
};

const anyText: ContentRule = { types: "*/*", require: () => {}, limit: "bodyBytes" };

function bodyPart(route: RouteSettings, described: InDocument): Part {
  const { body } = route;
  if (body === "text" || body === undefined)
    return { required: false, content: { "*/*": { schema: { type: "string" } } } };
  return { required: true, content: jsonPart(route, body, described, ["requestBody"]) };
}

function successesOf(route: RouteSettings, described: InDocument): Readonly<Record<number, Success>> {
  const { response } = route;
  const content =
    response === undefined
      ? { "*/*": { schema: {} } }
      : jsonPart(route, response, described, ["responses", "200"]);
  return {
    200: { description: "What the code of the configuration has returned.", content },
    ...(response === undefined && { 204: { description: "The code has returned nothing." } }),
  };
}

/** JSON with a schema of the configuration. `within`: its place in the operation. */
function jsonPart(
  { method, path }: RouteSettings,
  schema: RouteSchema,
  { settings }: InDocument,
  within: readonly string[],
): Part {
  const operation = [fullTemplate({ template: path, isOutside: false }, settings), method.toLowerCase()];
  const place = ["paths", ...operation, ...within, "content", "application/json", "schema"];
  return json(copySchema(JSON.stringify(schema), encodeFragment(formatPointer(place))).root);
}

function queryParts({ query }: RouteSettings): Part[] {
  if (query === undefined) return [];
  const { properties, required = [] } = query as { properties: Record<string, Part>; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    ...(required.includes(name) && { required: true }),
    ...(schema.type === "array" && { explode: true }),
    schema,
  }));
}
