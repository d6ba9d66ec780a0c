/** The schemas of routes, compiled. */
import { compileSchema } from "../../../collection/declaration.ts";
import type { Validator } from "../../../collection/resource.ts";
import { StartFaults } from "../../../errors/start-faults.ts";
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

/** A validator for any value. The schemas of resources describe objects only, so other values become a member of one. */
async function compileValue(schema: RouteSchema | undefined, place: string): Promise<Validator> {
  if (schema === undefined) return acceptAll;
  const { type = "object", $defs, ...others } = schema;
  if (type === "object") return compileSchema(schema, place);
  const whole = {
    type: "object",
    properties: { value: { type, ...others } },
    ...($defs !== undefined && { $defs }),
  };
  const validate = await compileSchema(whole, place);
  return (value) =>
    validate({ value }).map((violation) => ({
      ...violation,
      pointer: (violation.pointer ?? "#").replace(/^#\/value/, "#"),
    }));
}
