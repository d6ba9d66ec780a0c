/** Example resources: made from the schema of a collection, and valid in it. */
import type { Collection } from "../../collection/collection.ts";
import { withDefaults } from "../../collection/defaults.ts";
import type { Schema } from "../../collection/subschemas.ts";
import { declaredFormats } from "../../collection/types/declared-types.ts";
import { isObject } from "../../json/values.ts";
import type { Part } from "./described.ts";

/** Resources of a collection as examples. */
export interface Examples {
  /** The attributes of a resource, as a client sends them. */
  input: Readonly<Record<string, unknown>>;
  /** The same as a response has them, with `id` and timestamps. */
  resource: Readonly<Record<string, unknown>>;
}

/**
 * Examples from the schema of what clients send: the component `input` of a collection's schemas in the document. `undefined` if no
 * example was found that the collection accepts, for instance because an attribute has a pattern and no `examples`.
 */
export function examplesFor(
  collection: Collection,
  schemas: Readonly<Record<string, Part>>,
  input: string,
): Examples | undefined {
  const made =
    collection.schema === undefined ? { title: "Hello" } : new Maker(schemas).valueOf(schemas[input], "", 0);
  if (!isObject(made)) return undefined;
  const { id: _, ...attributes } = made;
  const sent = withoutReadOnly(attributes, collection);
  const creation = { at: Date.parse(exampleTime), subject: "ada" };
  if (collection.validate(withDefaults(sent, collection.defaults, creation)).length > 0) return undefined;
  return { input: sent, resource: asInResponse(collection, attributes) };
}

/** The id in examples. */
export function exampleId({ idKind }: Collection): string | number {
  return idKind === "integer" ? 7 : "01980f3e-8b1c-7d42-9c5a-4f1e2d3c4b5a";
}

/** The changes of a resource as an example. */
export const exampleChanges = [
  { version: 2, kind: "updated", at: "2026-03-15T08:00:12.004Z" },
  { version: 1, kind: "created", at: "2026-03-14T09:26:53.589Z" },
];

/** An event as an example; `undefined` if there is no example of a resource. */
export function exampleEvent(
  prefix: string,
  collection: Collection,
  examples: Examples | undefined,
): Record<string, unknown> | undefined {
  if (examples === undefined) return undefined;
  const name = collection.name || "topics";
  return {
    specversion: "1.0",
    id: "eLp0Yv1WlGx9mEkh2a7Tn3Q",
    source: `${prefix}/${name}`,
    type: `${name}.created`,
    subject: String(exampleId(collection)),
    time: exampleTime,
    datacontenttype: "application/json",
    etag: '"1"',
    version: "1",
    data: examples.resource,
  };
}

const exampleTime = "2026-03-14T09:26:53.589Z";

function withoutReadOnly(attributes: object, { attributeRules }: Collection): Record<string, unknown> {
  const names = new Set(attributeRules.filter(({ readOnly }) => readOnly).map(({ name }) => name));
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !names.has(name)));
}

function asInResponse(collection: Collection, attributes: object): Record<string, unknown> {
  const unseen = new Set(
    collection.attributeRules.filter(({ writeOnly }) => writeOnly).map(({ name }) => name),
  );
  const shown = Object.entries(attributes).filter(([name]) => !unseen.has(name));
  const times = collection.timestamps ? { createdAt: exampleTime, updatedAt: exampleTime } : {};
  return { id: exampleId(collection), ...Object.fromEntries(shown), ...times };
}

/** Deeper values are left out, so that the example of a recursive schema is finite. */
const maxDepth = 4;

const formats: ReadonlyMap<string, string> = new Map([
  ...Object.entries(declaredFormats).flatMap(([name, { example }]): [string, string][] =>
    example === undefined ? [] : [[name, example]],
  ),
  ...Object.entries({
    time: "09:26:53Z",
    email: "ada@example.com",
    "idn-email": "ada@example.com",
    uri: "https://example.com/",
    url: "https://example.com/",
    "uri-reference": "/about",
    hostname: "example.com",
    ipv4: "192.0.2.1",
    ipv6: "2001:db8::1",
    uuid: "3f1d9b1e-5c1a-4c3e-8f52-9a4b7c6d5e2f",
    duration: "PT30M",
  }),
]);

/** A schema that requires longer values gets no example. */
const longest = { text: 1_000, array: 100 } as const;

/** Texts for attributes with common names. */
const texts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    title: "The Sea Around Us",
    name: "Ada Lovelace",
    slug: "the-sea-around-us",
    email: "ada@example.com",
    country: "NO",
    city: "Oslo",
    description: "A few words about it.",
    tags: "science",
  }),
);

class Maker {
  readonly #schemas: Readonly<Record<string, Part>>;

  constructor(schemas: Readonly<Record<string, Part>>) {
    this.#schemas = schemas;
  }

  /** A value that probably fits; `undefined` if no value is known. */
  valueOf(schema: unknown, name: string, depth: number): unknown {
    if (schema === true) return "text";
    if (!isObject(schema) || depth > maxDepth) return undefined;
    if (typeof schema.$ref === "string")
      return this.valueOf(this.#schemas[nameIn(schema.$ref)], name, depth + 1);
    const given = valueIn(schema);
    if (given !== undefined) return given;
    const choice = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray)?.[0];
    if (choice !== undefined && schema.properties === undefined) return this.valueOf(choice, name, depth);
    return this.#byType(schema, name, depth);
  }

  #byType(schema: Schema, name: string, depth: number): unknown {
    const types = [schema.type ?? (isObject(schema.properties) ? "object" : "string")].flat();
    const type = types.find((each) => each !== "null");
    if (type === "object") return this.#object(schema, depth);
    if (type === "array") return this.#array(schema, name, depth);
    if (type === "boolean") return true;
    if (type === "integer" || type === "number") return numberFor(schema, name);
    return type === "string" ? textFor(schema, name) : null;
  }

  #object(schema: Schema, depth: number): Record<string, unknown> | undefined {
    const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
    const members = Object.entries(properties).map(
      ([name, inner]) => [name, this.valueOf(inner, name, depth + 1)] as const,
    );
    const known = members.filter(([, value]) => value !== undefined);
    return required.every((name) => known.some(([each]) => each === name))
      ? Object.fromEntries(known)
      : undefined;
  }

  #array(schema: Schema, name: string, depth: number): unknown[] | undefined {
    const item = this.valueOf(schema.items ?? true, name, depth + 1);
    const { minItems = 0 } = schema as { minItems?: number };
    if (item === undefined || minItems > longest.array) return minItems === 0 ? [] : undefined;
    return Array.from({ length: Math.max(1, minItems) }, () => item);
  }
}

/** The name of the component that a reference names. */
function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** A value in the schema itself: an example, a constant, a default, or the first choice. */
function valueIn({ examples, example, default: given, const: only, enum: choices }: Schema): unknown {
  const first = (values: unknown) => (Array.isArray(values) ? values[0] : undefined);
  return first(examples) ?? example ?? only ?? given ?? first(choices);
}

function textFor(schema: Schema, name: string): string | undefined {
  const { minLength = 0, maxLength = 200, format, pattern } = schema as Record<string, never>;
  if (typeof format === "string") return formats.get(format);
  if (pattern !== undefined || minLength > longest.text) return undefined;
  return (texts.get(name) ?? "Lorem ipsum dolor sit amet").padEnd(minLength, ".").slice(0, maxLength);
}

function numberFor(schema: Schema, name: string): number {
  const { minimum = 0, maximum, exclusiveMinimum, multipleOf = 1 } = schema as Record<string, number>;
  const least = exclusiveMinimum === undefined ? minimum : Math.max(minimum, exclusiveMinimum + multipleOf);
  const likely = /year/i.test(name) ? 1951 : 12;
  const chosen = likely >= least && (maximum === undefined || likely <= maximum) ? likely : least;
  return Math.ceil(chosen / multipleOf) * multipleOf;
}
