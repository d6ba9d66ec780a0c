/** A declared schema as a component of a document: closed as it is enforced, its references leading where it then is. */
import { closeSchema } from "../../collection/closing.ts";
import { formatOf } from "../../collection/formats.ts";
import { createResolve, groupOf, type Schema, subschemasOf } from "../../collection/subschemas.ts";
import { toSentence } from "../../errors.ts";
import { formatPointer } from "../../json/pointer.ts";
import { isObject } from "../../json/values.ts";

/** A schema that is a component. */
export interface SchemaCopy {
  root: Schema;
  /** Whether the root says all that there is to say of a resource, so that members can be added to it. */
  isPlain: boolean;
}

/** Copies a schema, given as text, to where `pointer` leads: `#/components/schemas/ArticleInput`. */
export function copySchema(text: string, pointer: string): SchemaCopy {
  const root = JSON.parse(text) as Schema;
  const { schemas, anchors } = walk(root);
  const resolve = createResolve(root);
  closeSchema(root, resolve);
  const isPlain =
    groupOf(root, resolve).size === 1 && !judgesWhole.some((keyword) => Object.hasOwn(root, keyword));
  for (const schema of schemas) {
    if (typeof schema.$ref === "string") schema.$ref = movedTo(schema.$ref, pointer, anchors);
    delete schema.$anchor;
    delete schema.$schema;
    describeDate(schema);
  }
  return { root, isPlain };
}

/** Keywords by which a schema judges an object as a whole, or members that it does not name. */
const judgesWhole = [
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
 * Describes a format of dates. These formats allow fewer forms here than elsewhere. "date-value" is unknown elsewhere, so
 * its types are published too.
 */
function describeDate(schema: Schema): void {
  const format = typeof schema.format === "string" ? formatOf(schema.format) : undefined;
  if (format?.isDate !== true) return;
  schema.description ??= toSentence(`Must be ${format.expected}`);
  if (schema.format === "date-value") schema.type = dateTypes(schema.type);
}

/** The declared types that a date value can have: it is a text or a whole number. */
function dateTypes(declared: unknown): readonly string[] {
  const types = declared === undefined ? ["string", "integer"] : [declared].flat();
  const found = ["string", "integer"].filter(
    (type) => types.includes(type) || (type === "integer" && types.includes("number")),
  );
  return found.length > 0 ? found : ["string", "integer"];
}
