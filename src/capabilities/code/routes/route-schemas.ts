/** The schemas of routes, compiled. */
import { compileSchema } from "../../../collection/declaration.ts";
import type { Validator } from "../../../collection/resource.ts";
import { StartFaults } from "../../../errors/start-faults.ts";
import { StartError, type StartFault } from "../../../errors.ts";
import { isObject } from "../../../json/values.ts";
import type { RouteSchema, RouteSettings } from "./route-options.ts";

/** What checks the values of a route. A route without a schema accepts every value. */
export interface RouteValidators {
  readonly body: Validator;
  readonly query: Validator;
  readonly response: Validator;
}

/** Compiles the schemas of all routes. Throws one StartError with the faults of all. */
export async function compileRoutes(
  routes: ReadonlyMap<string, RouteSettings>,
): Promise<ReadonlyMap<string, RouteValidators>> {
  const faults = new StartFaults();
  const found: [string, () => RouteValidators][] = [];
  for (const { name, body, query, response } of routes.values()) {
    const compiled = (member: string, schema: RouteSchema | undefined) =>
      faults.wait(["routes", name, member], () => compileValue(schema, `routes.${name}.${member}`));
    const ofBody = await compiled("body", body === "text" ? undefined : body);
    const ofQuery = await compiled("query", query);
    const ofResponse = await compiled("response", response);
    found.push([name, () => ({ body: ofBody(), query: ofQuery(), response: ofResponse() })]);
  }
  faults.throwIfAny();
  return new Map(found.map(([name, read]) => [name, read()]));
}

const acceptAll: Validator = () => [];

/** The place of a schema in the one that is compiled. */
const inner = "#/properties/value";

/**
 * A validator for any value. The schemas of resources describe objects, in which the service sets some attributes, such as `id`. So the value
 * becomes an attribute of an object.
 */
async function compileValue(schema: RouteSchema | undefined, place: string): Promise<Validator> {
  if (schema === undefined) return acceptAll;
  const whole = { type: "object", properties: { value: withMovedReferences(schema) }, required: ["value"] };
  const validate = await compileSchema(whole, place).catch((error: unknown) => {
    throw error instanceof StartError ? new StartError(error.faults.map(inSchema)) : error;
  });
  return (value) =>
    validate({ value }).map(({ pointer = "#", ...others }) => ({
      ...others,
      pointer: pointer.replace(/^#\/value/, "#"),
    }));
}

/** A fault with its place in the schema itself. */
function inSchema({ path, text }: StartFault): StartFault {
  const [, , ...others] = path;
  return {
    path: others,
    text: text.replace(" at properties/value/", " at ").replace(" at properties/value:", ":"),
  };
}

/** Keywords whose values are no schemas. */
const values = new Set(["const", "enum", "default", "examples"]);

/** A copy whose references lead to the same places as before, after the schema has moved. */
function withMovedReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withMovedReferences);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => {
      if (name === "$ref" && typeof value === "string") return [name, value.replace(/^#(?=\/|$)/, inner)];
      return [name, values.has(name) ? value : withMovedReferences(value)];
    }),
  );
}
