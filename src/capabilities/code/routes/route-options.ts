/** Checks the option `routes`. It calls no function, and compiles no schema. */
import { didYouMean, mustBe, shortJson } from "../../../collection/messages.ts";
import { readEach, readMembers, StartFaults } from "../../../errors/start-faults.ts";
import { StartError } from "../../../errors.ts";
import { isObject } from "../../../json/values.ts";
import { type MemberReaders, membersOf, simply } from "../../../members.ts";
import { wholeNumber } from "../../../readers.ts";
import { type Acting, readActing } from "../calls/acting.ts";
import { requireFunction } from "../code-options.ts";

/** The methods of routes. HEAD has the route of GET. */
export const routeMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The method of a route. */
export type RouteMethod = (typeof routeMethods)[number];

/** A JSON Schema. */
export type RouteSchema = Readonly<Record<string, unknown>>;

/** One route. */
export interface RouteSettings {
  readonly name: string;
  readonly method: RouteMethod;
  /** Below the prefix: `/checkout/{orderId}`. */
  readonly path: string;
  /** Who can use it: every request, any credential, or a caller with one of these roles. */
  readonly access: "public" | "authenticated" | readonly string[];
  /** What a request sends: JSON that fits this schema, or any text. `undefined`: nothing. */
  readonly body: RouteSchema | "text" | undefined;
  /** The parameters of the query; `undefined` without any. */
  readonly query: RouteSchema | undefined;
  /** What the function returns; `undefined`: anything. */
  readonly response: RouteSchema | undefined;
  /** The caller of the requests of `service`; `undefined`: it has no `service`. */
  readonly acting: Acting | undefined;
  readonly timeoutMs: number;
}

/** The names and the numbers that routes can have. */
const bounds = { routes: 200, segments: 5, usualMs: 10_000, mostMs: 60_000 };

const nameShape = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Reads the option. Throws StartError with the faults of all routes. */
export function readRoutes(value: unknown): ReadonlyMap<string, RouteSettings> {
  if (!isObject(value)) throw mustBe("routes", "an object with a route for each name", value);
  const names = Object.keys(value);
  if (names.length > bounds.routes)
    throw new StartError(
      `routes has ${names.length} routes. The limit is ${bounds.routes}. One route with a parameter in its path can replace several.`,
    );
  const routes = new Map(readMembers(value, readRoute));
  requireDifferentPaths(routes);
  requireDifferentNames(names);
  return routes;
}

/** Throws StartError if two names differ only in the case of their first letter, because operations in documents have names like `callCheckout`. */
function requireDifferentNames(names: readonly string[]): void {
  const known = new Map<string, string>();
  for (const name of names) {
    const operation = name.charAt(0).toUpperCase() + name.slice(1);
    const other = known.get(operation);
    if (other !== undefined)
      throw new StartError([
        {
          path: [name],
          text: `routes.${name}: the name differs from "${other}" only in its first letter. Choose another one.`,
        },
      ]);
    known.set(operation, name);
  }
}

interface Declared extends Pick<RouteSettings, "path" | "access"> {
  method: RouteMethod;
  body: RouteSchema | "text";
  query: RouteSchema;
  response: RouteSchema;
  as: Acting;
  timeoutMs: number;
  run: true;
}

function readRoute(value: unknown, name: string): RouteSettings {
  const place = `routes.${name}`;
  if (!nameShape.test(name))
    throw new StartError(
      `${place}: the name of a route begins with a letter, and has up to 63 letters, digits and underscores.`,
    );
  const given = membersOf<Declared>(value, place, readers);
  const { path, access } = given as Declared; // a route without them has a fault
  const { method = "GET", body, query, response, timeoutMs = bounds.usualMs, as: acting } = given;
  if (body !== undefined && (method === "GET" || method === "DELETE"))
    throw new StartError([
      { path: ["body"], text: `${place}.body: requests with ${method} have no body. Use query, or POST.` },
    ]);
  return { name, method, path, access, body, query, response, acting, timeoutMs };
}

const readers: MemberReaders<Declared> = {
  method: (value, place) => {
    if (value === undefined) return undefined;
    if (routeMethods.includes(value as RouteMethod)) return value as RouteMethod;
    throw mustBe(place, routeMethods.map((each) => `"${each}"`).join(", "), value);
  },
  path: readPath,
  access: readAccess,
  body: (value, place) => (value === "text" ? value : readSchema(value, place, ', or "text"')),
  query: readQuery,
  response: readSchema,
  as: readActing,
  timeoutMs: simply(wholeNumber(1, bounds.mostMs)),
  run: (value, place) => {
    requireFunction(value, place);
    return true;
  },
};

const firstShape = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,62}$/;
const textShape = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,63}$/;
const parameterShape = /^\{[A-Za-z][A-Za-z0-9_]{0,62}\}$/;

/** Reads a path, and returns it with a slash before it. */
function readPath(value: unknown, place: string): string {
  const expected = `one to ${bounds.segments} segments such as "checkout/{orderId}", without a slash at the beginning and at the end`;
  if (typeof value !== "string" || value === "" || value.startsWith("/") || value.endsWith("/"))
    throw mustBe(place, expected, value);
  const [first = "", ...others] = value.split("/");
  if (others.length >= bounds.segments) throw mustBe(place, expected, value);
  if (first.startsWith("_"))
    throw new StartError(
      `${place}: ${shortJson(value)} begins with an underscore, as the paths of the service itself. Choose another first segment.`,
    );
  if (!firstShape.test(first))
    throw new StartError(
      `${place}: the first segment of ${shortJson(value)} must be a text of letters, digits and the characters . _ ~ - that begins with a letter or a digit.`,
    );
  for (const each of others)
    if (!textShape.test(each) && !parameterShape.test(each))
      throw new StartError(
        `${place}: ${shortJson(each)} is not a segment. Write a text of letters, digits and the characters . _ ~ -, or a parameter such as {orderId}.`,
      );
  const parameters = parametersIn(value);
  const repeated = parameters.find((name, n) => parameters.indexOf(name) !== n);
  if (repeated !== undefined)
    throw new StartError(`${place}: ${shortJson(value)} has the parameter {${repeated}} more than once.`);
  return `/${value}`;
}

/** The names of the parameters in a path. */
export function parametersIn(path: string): string[] {
  return Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name]) => name as string);
}

const accessForms =
  '"public", "authenticated", { role: "editor" }, or a list such as [{ role: "editor" }, { role: "clerk" }]';

function readAccess(value: unknown, place: string): RouteSettings["access"] {
  if (value === undefined)
    throw new StartError(
      `${place} is missing. Say who can use the route: ${accessForms}. With "public", everyone can.`,
    );
  if (value === "public" || value === "authenticated") return value;
  if (typeof value === "string") {
    const advice = didYouMean(value, ["public", "authenticated"]);
    throw new StartError(
      `${place}: ${shortJson(value)} is not a rule.${advice} To name a role, write { role: ${shortJson(value)} }.`,
    );
  }
  if (!Array.isArray(value)) return [readRole(value, place)];
  if (value.length === 0) throw mustBe(place, accessForms, value);
  return [...new Set(readEach(value as unknown[], (each, n) => readRole(each, `${place}[${n}]`)))];
}

function readRole(value: unknown, place: string): string {
  const [[name, role] = [], ...others] = isObject(value) ? Object.entries(value) : [];
  if (name === "role" && others.length === 0 && typeof role === "string" && role !== "") return role;
  throw mustBe(place, '{ role: "editor" }, with the name of a role', value);
}

function readSchema(value: unknown, place: string, or = ""): RouteSchema | undefined {
  if (value === undefined || isObject(value)) return value;
  throw mustBe(place, `a JSON Schema, which is an object${or}`, value);
}

const queryTypes = ["string", "integer", "number", "boolean", "array"];

/** A query has only texts, so each parameter needs a type to which its text can be converted. */
function readQuery(value: unknown, place: string): RouteSchema | undefined {
  const schema = readSchema(value, place);
  if (schema === undefined) return undefined;
  const { properties } = schema;
  if (!isObject(properties) || Object.keys(properties).length === 0)
    throw new StartError(
      `${place} must name the parameters in properties, such as { type: "object", properties: { limit: { type: "integer" } } }.`,
    );
  const faults = new StartFaults();
  for (const [name, each] of Object.entries(properties)) {
    const type = isObject(each) ? each.type : undefined;
    const of = isObject(each) && type === "array" && isObject(each.items) ? each.items.type : "string";
    if (
      typeof type === "string" &&
      queryTypes.includes(type) &&
      of !== "array" &&
      queryTypes.includes(String(of))
    )
      continue;
    faults.add(
      ["properties", name],
      `${place}.properties.${name} must have one of the types ${queryTypes.join(", ")}. The items of an array cannot be arrays.`,
    );
  }
  faults.throwIfAny();
  return schema;
}

/** Throws StartError if two routes have the same path and method, or if one path has two names for a parameter. */
function requireDifferentPaths(routes: ReadonlyMap<string, RouteSettings>): void {
  const faults = new StartFaults();
  const firstOf = new Map<string, RouteSettings>();
  for (const { name, method, path } of routes.values()) {
    const shape = path.replaceAll(/\{[^}]+\}/g, "{}");
    const same = firstOf.get(`${method} ${shape}`);
    const first = firstOf.get(shape);
    if (same !== undefined) {
      const text = `routes.${name}: the route "${same.name}" has the same path and method. Give one of them another path.`;
      faults.add([name, "path"], text);
    } else if (first !== undefined && first.path !== path) {
      const names = parametersIn(first.path).map((each) => `{${each}}`);
      const text = `routes.${name}.path: the route "${first.name}" has the same path with other parameters. Name them ${names.join(" and ")} here too.`;
      faults.add([name, "path"], text);
    }
    const route = routes.get(name) as RouteSettings;
    firstOf.set(shape, first ?? route).set(`${method} ${shape}`, same ?? route);
  }
  faults.throwIfAny();
}
