/** The bodies of endpoints: each member is declared once, for the check of requests and for the OpenAPI document. */
import type { ValidateFunction } from "ajv";
import { parseJson, requireObject } from "../../json/parse.ts";
import { inBody, inside, Violations } from "../../query/violations.ts";
import { closedObject, json, type Part } from "../openapi/described.ts";
import { jsonLimits } from "../protocol/content.ts";
import type { Limits } from "../settings.ts";

/** The code of a violation, and the end of the sentence that begins with its place. */
export type Fault = readonly [code: string, what: string];

/** A member of a body. */
export interface Member<Context> {
  readonly schema: Part;
  readonly isOptional?: true;
  /** What the response says if the schema or `is` refuses the value. */
  readonly fault: Fault;
  /** What the schema cannot express. */
  readonly is?: (value: never, context: Context) => boolean;
  /** What is wrong with an item of the list. */
  readonly itemFault?: (item: never, context: Context) => Fault | undefined;
}

/** The body of an endpoint: a JSON object. */
export interface Body<Context> {
  readonly members: Readonly<Record<string, Member<Context>>>;
  readonly example: Part;
  /** Whether a request can leave it out. @default false */
  readonly isOptional?: true;
  /** Advice for a client that sends an array. */
  readonly insteadOfArray: string;
  /** Adds what is wrong with several members together. The values of members with violations are not in `given`. */
  readonly check?: (
    given: Readonly<Record<string, unknown>>,
    violations: Violations,
    context: Context,
  ) => void;
}

/** The members that a request sends. Throws INVALID_PARAMETER with all violations, and the problems of reading JSON. */
export async function readBody<Context>(
  body: Body<Context>,
  bytes: Buffer,
  { limits, context }: { limits: Limits; context: Context },
): Promise<Readonly<Record<string, unknown>>> {
  if (bytes.length === 0 && body.isOptional === true) return {};
  const given = requireObject(parseJson(bytes, jsonLimits(limits)), { insteadOfArray: body.insteadOfArray });
  const names = Object.keys(body.members);
  const violations = new Violations();
  for (const name of Object.keys(given))
    if (!names.includes(name))
      violations.add(inBody(name), "unknownMember", `is not understood. Known names: ${names.join(", ")}`);
  const validators = await validatorsOf(body);
  const valid: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(body.members)) {
    const value = given[name] as never;
    if (value === undefined && member.isOptional === true) continue;
    if (validators[name]?.(value) !== true || member.is?.(value, context) === false)
      violations.add(inBody(name), ...member.fault);
    else if (!addItemFaults({ name, member, value, context }, violations)) valid[name] = value;
  }
  body.check?.(valid, violations, context);
  violations.throwIfAny();
  return valid;
}

/** Returns whether there are any. */
function addItemFaults<Context>(
  {
    name,
    member: { itemFault },
    value,
    context,
  }: { name: string; member: Member<Context>; value: unknown; context: Context },
  violations: Violations,
): boolean {
  if (itemFault === undefined || !Array.isArray(value)) return false;
  let has = false;
  for (const [n, item] of [...new Set(value)].entries()) {
    const fault = itemFault(item as never, context);
    if (fault === undefined) continue;
    has = true;
    violations.add(inside(inBody(name), n), ...fault);
  }
  return has;
}

const compiled = new WeakMap<object, Promise<Record<string, ValidateFunction>>>();

/** Compiled at the first use, because few services need it. */
function validatorsOf({ members }: Body<never>): Promise<Record<string, ValidateFunction>> {
  const known = compiled.get(members) ?? compileAll(members);
  compiled.set(members, known);
  return known;
}

async function compileAll(members: Body<never>["members"]): Promise<Record<string, ValidateFunction>> {
  const [{ createEngine }, { createPatterns }] = await Promise.all([
    import("../../collection/engine.ts"),
    import("../../collection/patterns.ts"),
  ]);
  const engine = createEngine({ compilePattern: createPatterns() });
  return Object.fromEntries(
    Object.entries(members).map(([name, { schema }]) => [name, engine.compile(schema)]),
  );
}

/** The body in the OpenAPI document. */
export function bodyPart({ members, example, isOptional }: Body<never>): Part {
  const schemas = Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
  const optional = Object.keys(members).filter((name) => members[name]?.isOptional === true);
  return { required: isOptional !== true, content: json(closedObject(schemas, { optional }), example) };
}
