/** Copies a declared schema into a document: as strict as the service enforces it, with references to its new place. */
import { closeSchema } from "../../collection/closing.ts";
import { formatOf } from "../../collection/formats.ts";
import { createResolve, groupOf, type Schema, subschemasOf } from "../../collection/subschemas.ts";
import { declaredFormats } from "../../collection/types/declared-types.ts";
import { toSentence } from "../../errors.ts";
import { formatPointer } from "../../json/pointer.ts";
import { isObject } from "../../json/values.ts";

/** A schema that is a component. */
export interface SchemaCopy {
  root: Schema;
  /** Whether the root alone describes a resource, so that attributes can be added to it. */
  isPlain: boolean;
}

/** Copies a schema, given as JSON text, to the place `pointer`, such as `#/components/schemas/ArticleInput`. */
export function copySchema(text: string, pointer: string): SchemaCopy {
  const root = JSON.parse(text) as Schema;
  const { schemas, anchors } = walk(root);
  const resolve = createResolve(root);
  closeSchema(root, resolve);
  const isPlain =
    groupOf(root, resolve).size === 1 && !wholeKeywords.some((keyword) => Object.hasOwn(root, keyword));
  for (const schema of schemas) {
    if (typeof schema.$ref === "string") schema.$ref = movedTo(schema.$ref, pointer, anchors);
    delete schema.$anchor;
    delete schema.$schema;
    describeFormat(schema);
  }
  return { root, isPlain };
}

/** Keywords about an object as a whole, or about members that the schema does not name. */
const wholeKeywords = [
  "propertyNames",
  "patternProperties",
  "maxProperties",
  "minProperties",
  "not",
  "if",
  "const",
  "enum",
  "dependentRequired",
];

function walk(root: Schema): { schemas: Schema[]; anchors: Map<string, readonly string[]> } {
  const schemas: Schema[] = [];
  const anchors = new Map<string, readonly string[]>();
  const visit = (schema: unknown, path: readonly string[]) => {
    if (!isObject(schema)) return;
    schemas.push(schema);
    if (typeof schema.$anchor === "string") anchors.set(schema.$anchor, path);
    for (const inner of subschemasOf(schema)) visit(inner.schema, [...path, ...inner.path]);
  };
  visit(root, []);
  return { schemas, anchors };
}

function movedTo(
  reference: string,
  pointer: string,
  anchors: ReadonlyMap<string, readonly string[]>,
): string {
  const fragment = reference.slice(1);
  if (fragment === "" || fragment.startsWith("/")) return pointer + fragment;
  const path = anchors.get(fragment) ?? [];
  return pointer + encodeURI(formatPointer(path));
}

/**
 * Describes a format of a declared type. The service accepts fewer forms of dates than other tools. Other
 * tools do not know a format of texts and numbers, so its types are published too.
 */
function describeFormat(schema: Schema): void {
  const format = typeof schema.format === "string" ? formatOf(schema.format) : undefined;
  const declared = declaredFormats[String(schema.format)];
  // A format that says nothing about numbers describes only strings.
  const types = [schema.type].flat();
  const isText = types.includes("string") && !types.includes("number") && !types.includes("integer");
  if (format === undefined || declared === undefined || (declared.code === undefined && !isText)) return;
  schema.description ??= toSentence(`Must be ${format.expected}`);
  if (declared.texts !== undefined && declared.numbers !== undefined) schema.type = bothTypes(schema.type);
}

/** The declared types of a value that is a string or an integer. */
function bothTypes(declared: unknown): readonly string[] {
  const types = declared === undefined ? ["string", "integer"] : [declared].flat();
  const found = ["string", "integer"].filter(
    (type) => types.includes(type) || (type === "integer" && types.includes("number")),
  );
  return found.length > 0 ? found : ["string", "integer"];
}
