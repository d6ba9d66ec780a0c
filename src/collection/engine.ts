/**
 * Ajv as Holdfast uses it: nothing is coerced, filled in or removed, patterns and uniqueness take linear time,
 * and inherited members count for nothing.
 */
import {
  _,
  Ajv2020,
  type AnySchema,
  type Code,
  type CodeKeywordDefinition,
  type KeywordCxt,
  Name,
} from "ajv/dist/2020.js";
import { alwaysValidSchema } from "ajv/dist/compile/util.js";
import containsModule from "ajv/dist/vocabularies/applicator/contains.js";
import { canonicalText } from "../json/values.ts";
import { formatOf } from "./formats.ts";
import type { Pattern } from "./patterns.ts";

const containsKeyword = containsModule.default;

/** What may differ from one use to another. */
export interface EngineOptions {
  compilePattern: (source: string) => Pattern;
  /** Goes on after the first error. */
  allErrors?: boolean;
  /** Refuses keywords and values that Ajv would otherwise ignore. @default true */
  strictSchema?: boolean;
  /** Checks formats. @default true */
  checkFormats?: boolean;
}

/** A new Ajv. It takes schemas as they come; `validateSchema` holds one against the meta-schema. */
export function createEngine(options: EngineOptions): Ajv2020 {
  const { allErrors = false, strictSchema = true, checkFormats = true } = options;
  const ajv = new Ajv2020({
    strict: false,
    strictSchema,
    strictNumbers: true,
    allowMatchingProperties: true,
    validateSchema: false,
    allErrors,
    verbose: true,
    messages: false,
    ownProperties: true,
    logger: false,
    code: {
      regExp: Object.assign((source: string) => options.compilePattern(source), { code: "createPattern" }),
    },
  });
  for (const keyword of ["contains", "uniqueItems", "enum", "multipleOf", "format", "unevaluatedProperties"])
    ajv.removeKeyword(keyword);
  ajv.addKeyword("$anchor"); // Ajv resolves anchors, and yet does not know the keyword
  ajv.addKeyword(quietContains);
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile: (isAsked: boolean) => (isAsked ? hasUniqueItems : () => true),
  });
  ajv.addKeyword({ keyword: "enum", schemaType: "array", compile: createMembership });
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    compile: (step: number) => (value: number) => isMultiple(value, step),
  });
  ajv.addKeyword({
    keyword: "format",
    schemaType: "string",
    compile: (name: string) => (checkFormats ? formatOf(name)?.test : undefined) ?? (() => true),
  });
  ajv.addKeyword({
    keyword: "unevaluatedProperties",
    type: "object",
    schemaType: ["boolean", "object"],
    trackErrors: true,
    error: { message: "", params: ({ params }) => _`{unevaluatedProperty: ${params.unevaluatedProperty}}` },
    code: writeUnevaluatedProperties,
  });
  return ajv;
}

/** Ajv's own compares each pair of objects: 8,000 of them take a second. */
function hasUniqueItems(items: readonly unknown[]): boolean {
  const scalars = new Set<unknown>();
  const texts = new Set<unknown>();
  for (const item of items) {
    const isScalar = typeof item !== "object" || item === null;
    const seen = isScalar ? scalars : texts;
    const before = seen.size;
    if (seen.add(isScalar ? item : canonicalText(item)).size === before) return false;
  }
  return true;
}

/** Ajv's own, but it makes no error for each item that does not fit: there may be half a million. */
const quietContains: CodeKeywordDefinition = {
  ...containsKeyword,
  code(cxt: KeywordCxt) {
    const subschema = cxt.subschema.bind(cxt);
    cxt.subschema = (applied, valid) => subschema({ ...applied, createErrors: false }, valid);
    const result = cxt.result.bind(cxt);
    const refuse = () => {
      cxt.reset(); // forgets the empty errors of the items
      cxt.error();
    };
    cxt.result = (condition, accept) => result(condition, accept, refuse);
    containsKeyword.code(cxt);
  },
};

/** Ajv's own walks along the values, for each item of a list again. */
function createMembership(values: readonly unknown[]): (value: unknown) => boolean {
  const isScalar = (value: unknown) => typeof value !== "object" || value === null;
  const scalars = new Set(values.filter(isScalar));
  const others = new Set(values.filter((value) => !isScalar(value)).map(canonicalText));
  return (value) =>
    scalars.has(value) || (others.size > 0 && !isScalar(value) && others.has(canonicalText(value)));
}

/** As in decimal: 19.99 is a multiple of 0.01, although the quotient of the binary numbers is 1998.9999999999998. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  const whole = Math.round(quotient);
  if (whole === 0) return value === 0;
  return Number.isFinite(quotient) && Math.abs(quotient - whole) <= Math.abs(whole) * 2 * Number.EPSILON;
}

/**
 * Ajv's own keyword, except that it asks for own members where it looks up what a branch has evaluated. Ajv takes
 * `toString` for evaluated as soon as there is an `anyOf`, since every object has one.
 */
function writeUnevaluatedProperties(cxt: KeywordCxt): void {
  const { gen, schema, data, errsCount, it } = cxt;
  const { props } = it;
  const checkMember = (key: Name) => {
    if (schema === false) {
      cxt.setParams({ unevaluatedProperty: key });
      cxt.error();
      if (!it.allErrors) gen.break();
    } else if (!alwaysValidSchema(it, schema as AnySchema)) {
      const valid = gen.name("valid");
      cxt.subschema({ keyword: "unevaluatedProperties", dataProp: key, dataPropType: 0 }, valid);
      if (!it.allErrors) gen.if(_`!${valid}`, () => gen.break());
    }
  };
  const checkMembers = () =>
    gen.forIn("key", data, (key) => {
      const isUnevaluated = unevaluated(cxt, key);
      if (isUnevaluated === undefined) checkMember(key);
      else gen.if(isUnevaluated, () => checkMember(key));
    });
  if (props instanceof Name) gen.if(_`${props} !== true`, checkMembers);
  else if (props !== true) checkMembers();
  it.props = true;
  cxt.ok(_`${errsCount} === ${new Name("errors")}`);
}

/** The condition under which no schema has evaluated a member; `undefined` where none can have. */
function unevaluated({ gen, it: { props } }: KeywordCxt, key: Name): Code | undefined {
  if (props instanceof Name) {
    const hasOwn = gen.scopeValue("func", { ref: Object.hasOwn, code: _`Object.hasOwn` });
    return _`!${props} || !${hasOwn}(${props}, ${key})`;
  }
  const names = Object.keys(props ?? {});
  return names.length === 0
    ? undefined
    : names.map((name) => _`${key} !== ${name}`).reduce((a, b) => _`${a} && ${b}`);
}
