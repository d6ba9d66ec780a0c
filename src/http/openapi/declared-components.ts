/**
 * Makes components of a declared schema, in the form that generators of code understand. Many of them follow references to
 * components only, name types by titles instead of components, and need a type beside a constant.
 */
import { createResolve, type Schema, subschemasOf } from "../../collection/subschemas.ts";
import { toSentence } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import { folded, pascalCase, schemaNames } from "./names.ts";

const components = "#/components/schemas/";

/**
 * The root of a schema as the component for what clients send, and a component for each schema inside it that a reference leads to.
 * Changes `root`.
 */
export function declaredComponents(
  root: Schema,
  { input, resource }: Pick<ReturnType<typeof schemaNames>, "input" | "resource">,
): Record<string, Schema> {
  const definitions = new Definitions(root, {
    place: `${components}${input}/`,
    begin: `${resource}Definition_`,
  });
  for (const schema of schemasIn(root)) {
    if (typeof schema.$ref === "string") schema.$ref = definitions.placeOf(schema.$ref);
    describeTitle(schema);
    replaceBooleans(schema);
    describeChoices(schema);
    describeConstant(schema);
    if ([schema.type].flat().includes("array") && schema.prefixItems === undefined) schema.items ??= {};
  }
  nameApart(root);
  const found = definitions.found();
  for (const schema of schemasIn(root)) {
    delete schema.$defs;
    delete schema.definitions;
  }
  return { [input]: root, ...found };
}

/** All schemas inside a schema that are objects, and the schema itself. */
function schemasIn(root: Schema): Schema[] {
  return [root, ...subschemasOf(root).flatMap(({ schema }) => (isObject(schema) ? schemasIn(schema) : []))];
}

/** The schemas inside a component that references lead to. */
class Definitions {
  readonly #root: Schema;
  readonly #place: string;
  readonly #begin: string;
  readonly #names = new Map<string, string>();

  /** `place`: how references to schemas inside the root begin. `begin`: how the names of the components begin. */
  constructor(root: Schema, { place, begin }: { place: string; begin: string }) {
    this.#root = root;
    this.#place = place;
    this.#begin = begin;
  }

  /** The place to which a reference leads when the schemas are components of their own. */
  placeOf(reference: string): string {
    if (!reference.startsWith(this.#place)) return reference;
    const pointer = reference.slice(this.#place.length - 1);
    const name = this.#names.get(pointer) ?? this.#newName(pointer);
    this.#names.set(pointer, name);
    return components + name;
  }

  /** The schemas, by the names of their components. */
  found(): Record<string, Schema> {
    const resolve = createResolve(this.#root);
    const entries = [...this.#names].map(([pointer, name]) => {
      const schema = resolve(`#${pointer}`);
      return [name, isObject(schema) ? schema : objectFor(schema)] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Only these components have names with `_`. */
  #newName(pointer: string): string {
    const last = pointer.slice(pointer.lastIndexOf("/") + 1).replaceAll(/%[0-9A-Fa-f]{2}/g, "");
    const wanted = `${this.#begin}${last.replaceAll(/[^A-Za-z0-9]/g, "")}`;
    const taken = new Set([...this.#names.values()].map(folded));
    for (let n = 1; ; n++) {
      const name = n === 1 ? wanted : `${wanted}${n}`;
      if (!taken.has(folded(name))) return name;
    }
  }
}

/** The ends of the names of components that a collection has anyway, such as `Filter` in `ArticleFilter`. */
const ends: ReadonlySet<string> = new Set(Object.values(schemaNames({ one: "", many: "" })).map(folded));

/** Generators name the type of an attribute after the component and the attribute, or after a title instead of the attribute. */
function nameApart({ properties }: Schema): void {
  if (!isObject(properties)) return;
  for (const [name, schema] of Object.entries(properties))
    if (isObject(schema) && ends.has(folded(pascalCase(name)))) schema.title = `${name} attribute`;
}

/** The keywords whose schema can be a boolean in every tool. */
const ofBooleans: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties"]);

/** Replaces the schemas `true` and `false` inside a schema with objects that mean the same. */
function replaceBooleans(schema: Schema): void {
  for (const { schema: inner, keyword, path } of subschemasOf(schema)) {
    const last = path.at(-1);
    if (typeof inner !== "boolean" || ofBooleans.has(keyword) || last === undefined) continue;
    const holder = (path.length === 1 ? schema : schema[keyword]) as Schema;
    holder[last] = objectFor(inner);
  }
}

function objectFor(schema: unknown): Schema {
  return schema === false ? { not: {} } : {};
}

/** The title becomes the first sentence of the description. */
function describeTitle(schema: Schema): void {
  const { title, description } = schema;
  delete schema.title;
  if (typeof title !== "string" || title === "") return;
  schema.description = [toSentence(title), ...(typeof description === "string" ? [description] : [])].join(
    " ",
  );
}

/** An `enum` has values of one type that generators can name apart. Other choices are constants. */
function describeChoices(schema: Schema): void {
  const { enum: values, anyOf, oneOf } = schema;
  if (!Array.isArray(values) || anyOf !== undefined || oneOf !== undefined) return;
  const types = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  const [type] = types;
  const areTruths = types.size === 1 && type === "boolean";
  if (areTruths && !values.includes(null)) {
    schema.type ??= type;
    return;
  }
  const areWhole = values.every((value) => typeof value !== "number" || Number.isInteger(value));
  const names = new Set(values.map((value) => folded(String(value))));
  if (types.size <= 1 && !areTruths && areWhole && names.size === values.length) return;
  delete schema.enum;
  schema.anyOf = values.map((value) => ({ type: typeOf(value), const: value }));
}

/** A constant has a type. An integer is the only choice, because some generators write wrong code for a constant number. */
function describeConstant(schema: Schema): void {
  const { const: value, enum: choices } = schema;
  if (value === undefined) return;
  schema.type ??= typeOf(value);
  if (!Number.isInteger(value) || choices !== undefined) return;
  delete schema.const;
  schema.enum = [value];
}

/** The JSON type of a value. */
function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Number.isInteger(value)) return "integer";
  return Array.isArray(value) ? "array" : typeof value;
}
