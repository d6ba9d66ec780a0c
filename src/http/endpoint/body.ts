/** The bodies of endpoints: each member is declared once, for the check of requests and for the OpenAPI document. */
import type { ValidateFunction } from "ajv";
import { parseJson, requireObject } from "../../json/parse.ts";
import { inBody, inside, Violations } from "../../query/violations.ts";
import { closedObject, json, type Part } from "../openapi/described.ts";
import { jsonLimits } from "../protocol/content.ts";
import type { Limits } from "../settings.ts";

/** The code of a violation, and the text after the name of the member. */
export type Fault = readonly [code: string, what: string];

/** A member of a body. */
export interface Member<Context> {
  readonly schema: Part;
  readonly isOptional?: true;
  /** What the response says if the schema or `is` refuses the value. */
  readonly fault: Fault;
  /** What the schema cannot express. */
  readonly is?: (value: never, context: Context) => boolean;
  /**
   * What is wrong with this member and those before it together, also if this one is absent. `valid` has only the members without
   * violations.
   */
  readonly together?: (asked: {
    given: Readonly<Record<string, unknown>>;
    valid: Readonly<Record<string, unknown>>;
    context: Context;
  }) => { member: string; fault: Fault } | undefined;
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
    const isAbsent = value === undefined && member.isOptional === true;
    if (!isAbsent && (validators[name]?.(value) !== true || member.is?.(value, context) === false))
      violations.add(inBody(name), ...member.fault);
    else if (!isAbsent && !addItemFaults({ name, member, value, context }, violations)) valid[name] = value;
    const wrong = member.together?.({ given, valid, context });
    if (wrong !== undefined) violations.add(inBody(wrong.member), ...wrong.fault);
  }
  violations.throwIfAny();
  return valid;
}

/** Adds the violations of the items. Returns whether it added one. */
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
  known.catch(() => compiled.delete(members)); // the next request tries again
  return known;
}

async function compileAll(members: Body<never>["members"]): Promise<Record<string, ValidateFunction>> {
  const [{ createEngine }, { createPatterns }] = await Promise.all([
    import("../../collection/schema-engine.ts"),
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
