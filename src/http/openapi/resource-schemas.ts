/** The schemas of a collection: whole and partial resources, the bodies of writes, and pages. */
import { type AttributeType, attributeInfo } from "../../collection/attributes.ts";
import type { Collection } from "../../collection/collection.ts";
import { deletedMember } from "../../collection/deletions.ts";
import type { Schema } from "../../collection/subschemas.ts";
import { timestampNames } from "../../collection/timestamps.ts";
import { isObject } from "../../json/values.ts";
import { declaredComponents } from "./declared-components.ts";
import { type Part, ref } from "./described.ts";
import { embeddedSchema, type FindDescribed, hasRelations } from "./embedded-schema.ts";
import { eventSchema } from "./event-schemas.ts";
import { filterSchema } from "./filter-schema.ts";
import { type Names, schemaNames } from "./names.ts";
import { copySchema } from "./schema-copy.ts";

/** The attributes of a collection. */
interface Attributes {
  /** The schema of the attributes that clients send, without the id. */
  input: Schema;
  /** The component of this schema, and those that it refers to. */
  components: Record<string, Schema>;
  /** The attributes that the schema lists by name, as in responses. */
  properties: Readonly<Record<string, unknown>>;
  /** The attributes that every response has. */
  required: readonly string[];
  /** Whether a resource has no other attributes. */
  isClosed: boolean;
}

/** The schemas of a collection, by their names. */
export function resourceSchemas(
  collection: Collection,
  names: Names,
  find: FindDescribed = () => undefined,
): Record<string, Part> {
  const called = schemaNames(names);
  const { input, components, properties, required, isClosed } = attributesOf(collection, called);
  const all = { id: idSchema(collection), ...properties, ...timestampSchemas(collection) };
  const rest = { additionalProperties: !isClosed };
  return {
    [called.resource]: {
      description: `A resource of ${whose(collection)}.`,
      ...(input.description === undefined ? {} : { description: input.description }),
      type: "object",
      required: ["id", ...required],
      properties: all,
      ...rest,
    },
    ...components,
    [called.part]: {
      description: `A resource with only the requested \`fields\`, or only the attributes that the caller can see.`,
      type: "object",
      required: ["id"],
      properties: all,
      ...rest,
    },
    ...embeddedSchema(collection, { called, find, all, isClosed }),
    [called.patch]: patchSchema(collection, properties, isClosed),
    [called.page]: pageSchema(called.part, hasRelations(collection) ? called.embedded : undefined),
    [called.deleted]: {
      description: "A deleted resource as it was. With `fields`, it has only these members.",
      type: "object",
      required: ["id"],
      properties: { ...all, [deletedMember]: ref("schemas", "Deletion") },
      ...rest,
    },
    [called.deletedPage]: pageSchema(called.deleted, undefined),
    [called.filter]: filterSchema(collection, all),
    [called.event]: eventSchema(collection.name, ref("schemas", called.part)),
  };
}

function whose({ schema, name }: Collection): string {
  return schema === undefined && name === "" ? "a collection" : `the collection ${name}`;
}

function attributesOf(collection: Collection, called: ReturnType<typeof schemaNames>): Attributes {
  // Every caller can read the document, so it must not describe attributes that only some callers can see.
  const hidden = collection.attributeRules.filter(({ roles }) => roles !== undefined).map(({ name }) => name);
  const described = describeInput(collection, { pointer: `#/components/schemas/${called.input}`, hidden });
  if (described === undefined) {
    const components = { [called.input]: anything };
    return { input: anything, components, properties: {}, required: [], isClosed: false };
  }
  const { root, isListed } = described;
  const input: Schema =
    hidden.length > 0 ? { ...described.input, additionalProperties: true } : described.input;
  const components = declaredComponents(input, called);
  const required = alwaysPresent(root, collection, hidden);
  if (!isListed) return { input, components, properties: {}, required, isClosed: false };
  const { properties } = input as { properties: Record<string, unknown> };
  return {
    input,
    components,
    properties,
    required,
    isClosed: root.additionalProperties === false && hidden.length === 0,
  };
}

/**
 * The schema of what a caller sends who does not see the `hidden` attributes, to be placed at `pointer`. `undefined` without a
 * schema, and for a schema from which attributes cannot be left out.
 */
export function inputSchemaFor(
  collection: Collection,
  place: { pointer: string; hidden: readonly string[] },
): Schema | undefined {
  return describeInput(collection, place)?.input;
}

function describeInput(
  collection: Collection,
  { pointer, hidden }: { pointer: string; hidden: readonly string[] },
): { root: Schema; input: Schema; isListed: boolean } | undefined {
  if (collection.schema === undefined) return undefined;
  const { root, isPlain } = copySchema(collection.schema, pointer);
  const isListed = isPlain && isObject(root.properties);
  if (hidden.length > 0 && !isListed) return undefined;
  const input = describedInput(root, collection, hidden);
  return { root, input: hidden.length > 0 ? withoutUnused(input, pointer) : input, isListed };
}

/** A schema without what can describe hidden attributes: examples, and definitions that nothing refers to. */
function withoutUnused({ examples: _, default: __, ...input }: Schema, pointer: string): Schema {
  const kept: Schema = { ...input };
  for (const keyword of ["$defs", "definitions"]) {
    const all = input[keyword];
    if (!isObject(all)) continue;
    const isUsed = referredIn({ ...input, $defs: {}, definitions: {} }, all, `${pointer}/${keyword}/`);
    kept[keyword] = Object.fromEntries(Object.entries(all).filter(([name]) => isUsed.has(name)));
  }
  return kept;
}

/** The names of the definitions that a schema refers to, directly or through other definitions. */
function referredIn(schema: unknown, definitions: Schema, place: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    for (const [member, inner] of Object.entries(value)) {
      if (member === "$ref" && typeof inner === "string" && inner.startsWith(place)) {
        const name = decodeURI(inner.slice(place.length).split("/", 1)[0] ?? "");
        if (found.has(name)) continue;
        found.add(name);
        visit(definitions[name]);
      } else visit(inner);
    }
  };
  visit(schema);
  return found;
}

/** The attributes that every response to every caller has. */
function alwaysPresent(
  { required }: Schema,
  { attributeRules }: Collection,
  hidden: readonly string[],
): string[] {
  if (!Array.isArray(required)) return [];
  const unsure = new Set(attributeRules.filter(({ writeOnly }) => writeOnly).map(({ name }) => name));
  return (required as string[]).filter((name) => !unsure.has(name) && !hidden.includes(name));
}

const anything: Schema = {
  description: "The attributes of a resource. A create ignores `id`.",
  type: "object",
  additionalProperties: true,
};

/** The attributes that clients send. It leaves out hidden attributes, and does not require those with a default or computed ones. */
function describedInput(
  root: Schema,
  { attributeRules, defaults, computes = new Set() }: Collection,
  hidden: readonly string[],
): Schema {
  const given = new Set([...defaults.map(({ name }) => name), ...computes, ...hidden]);
  const { required, properties, ...others } = root;
  const input: Schema = { type: "object", ...others };
  if (isObject(properties)) {
    const shown = Object.entries(properties).filter(([name]) => !hidden.includes(name));
    input.properties = Object.fromEntries(
      shown.map(([name, schema]) => [name, withRule(name, schema, attributeRules)]),
    );
  }
  const needed = Array.isArray(required) ? required.filter((name) => !given.has(name)) : [];
  if (needed.length > 0) input.required = needed;
  return input;
}

function withRule(name: string, schema: unknown, rules: Collection["attributeRules"]): unknown {
  const rule = rules.find((each) => each.name === name);
  if (rule === undefined || schema === false) return schema;
  const marks = {
    ...(rule.readOnly ? { readOnly: true } : {}),
    ...(rule.writeOnly ? { writeOnly: true } : {}),
  };
  return { ...(schema === true ? {} : (schema as Schema)), ...marks };
}

function idSchema({ idKind }: Collection): Part {
  if (idKind === "integer") return { description: "The id. The service assigns it.", type: "integer" };
  const description =
    "The id. The service assigns it, unless a PUT with `If-None-Match: *` creates the resource.";
  return { description, type: "string", minLength: 1, maxLength: 128 };
}

function timestampSchemas({ timestamps }: Collection): Record<string, Part> {
  if (!timestamps) return {};
  const time = { type: "string", format: "date-time", readOnly: true };
  const when = {
    createdAt: "When the resource was created.",
    updatedAt: "When the resource was last changed.",
  };
  return Object.fromEntries(timestampNames.map((name) => [name, { description: when[name], ...time }]));
}

/** The schema of a merge patch. */
function patchSchema(collection: Collection, properties: Attributes["properties"], isClosed: boolean): Part {
  const members = Object.keys(properties).map((name) => [name, patchMember(collection, name)]);
  return {
    description:
      "A JSON Merge Patch (RFC 7396). Its members replace attributes, and `null` removes an attribute.",
    type: "object",
    properties: {
      id: { description: "The id of the resource. It cannot change." },
      ...Object.fromEntries(members),
    },
    additionalProperties: !(isClosed && !collection.timestamps),
  };
}

function patchMember(collection: Collection, name: string): Part {
  const types = jsonTypes(attributeInfo(collection, [name]).types);
  if (types === undefined) return {};
  return { type: [...new Set([...types, "null"])], ...(types.includes("array") ? { items: {} } : {}) };
}

function jsonTypes(types: ReadonlySet<AttributeType> | undefined): string[] | undefined {
  return types === undefined || types.size === 0 ? undefined : [...types];
}

function pageSchema(part: string, embedded: string | undefined): Part {
  const item = ref("schemas", part);
  const url = { type: "string" };
  return {
    description: "A page of a list with its links, for `envelope=true`.",
    type: "object",
    required: ["items", "limit"],
    properties: {
      items: {
        type: "array",
        items: embedded === undefined ? item : { anyOf: [item, ref("schemas", embedded)] },
      },
      total: { description: "The number of resources in the whole list, if known.", type: "integer" },
      limit: {
        description: "The number of resources that this page can have at most.",
        type: "integer",
      },
      self: url,
      first: url,
      prev: url,
      next: url,
      last: url,
    },
    additionalProperties: false,
  };
}
