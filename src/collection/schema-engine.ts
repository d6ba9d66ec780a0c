/**
 * Ajv with the settings and keywords of Holdfast: it does not change values, patterns and `uniqueItems` take linear time,
 * and inherited members do not count.
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
import { isMultiple } from "./possible.ts";

const containsKeyword = containsModule.default;

/** The options of an engine. */
export interface EngineOptions {
  compilePattern: (source: string) => Pattern;
  /** Whether it continues after the first error. @default false */
  allErrors?: boolean;
  /** Whether it refuses keywords and values that Ajv ignores otherwise. @default true */
  strictSchema?: boolean;
  /** Whether it checks formats. @default true */
  checkFormats?: boolean;
}

/** A new Ajv. It does not check schemas when it compiles them. Call `validateSchema` for that. */
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
  ajv.addKeyword("$anchor"); // Ajv resolves anchors, but does not know the keyword
  ajv.addKeyword(quietContains);
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile: (isRequired: boolean) => (isRequired ? hasUniqueItems : () => true),
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

/** Replaces the keyword of Ajv, which compares each pair of objects. That takes a second for 8,000 objects. */
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

/** The keyword of Ajv, without an error for each item that does not fit. There can be half a million of them. */
const quietContains: CodeKeywordDefinition = {
  ...containsKeyword,
  code(cxt: KeywordCxt) {
    const subschema = cxt.subschema.bind(cxt);
    cxt.subschema = (applied, valid) => subschema({ ...applied, createErrors: false }, valid);
    const result = cxt.result.bind(cxt);
    const refuse = () => {
      cxt.reset(); // removes the empty errors of the items
      cxt.error();
    };
    cxt.result = (condition, accept) => result(condition, accept, refuse);
    containsKeyword.code(cxt);
  },
};

/** Replaces the keyword of Ajv, which compares each item of a list with each value. */
function createMembership(values: readonly unknown[]): (value: unknown) => boolean {
  const isScalar = (value: unknown) => typeof value !== "object" || value === null;
  const scalars = new Set(values.filter(isScalar));
  const others = new Set(values.filter((value) => !isScalar(value)).map(canonicalText));
  return (value) =>
    scalars.has(value) || (others.size > 0 && !isScalar(value) && others.has(canonicalText(value)));
}

/**
 * The keyword of Ajv, but it looks only at own members to find out what a branch has evaluated. With an `anyOf`, Ajv
 * counts `toString` as evaluated, because every object inherits it.
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

/** The condition that no schema has evaluated a member; `undefined` if no schema can evaluate any. */
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
