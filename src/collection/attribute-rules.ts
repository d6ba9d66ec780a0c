/** Reads what is declared of single attributes: `readOnly` and `writeOnly` in the schema, and the option `attributes`. */
import { StartError } from "../errors.ts";
import { isObject } from "../json/gate.ts";
import { attributeFacts } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { isSchemaObject, type Schema, subschemasOf } from "./keywords.ts";
import { didYouMean } from "./nearest.ts";
import { formatPath } from "./paths.ts";
import { shown } from "./shown.ts";
import type { AttributeRule } from "./sight.ts";

/** How a configuration writes it: `{ "salary": { "roles": ["hr"] } }`. */
export type AttributesDeclaration = Readonly<
  Record<
    string,
    { readonly readOnly?: boolean; readonly writeOnly?: boolean; readonly roles?: readonly string[] }
  >
>;

/** Reads it all. Throws StartError naming the place below `at`, also for what would tell of an attribute that is hidden. */
export function readAttributeRules(
  declared: unknown,
  at: string,
  collection: Collection,
): readonly AttributeRule[] {
  const rules = new Map(rulesOfSchema(collection.schema, `${at}.schema`).map((rule) => [rule.name, rule]));
  if (declared !== undefined && !isObject(declared)) {
    const example = '{ "salary": { "roles": ["hr"] } }';
    throw new StartError(`${at}.attributes must be an object such as ${example}, and is ${shown(declared)}.`);
  }
  for (const [name, item] of Object.entries(declared ?? {})) {
    const place = `${at}.attributes.${name}`;
    requireAttribute(name, place, collection);
    rules.set(name, readRule(item, place, rules.get(name) ?? { ...nothing, name }));
  }
  const all = [...rules.values()];
  for (const rule of all) requireUntold(rule, at, collection);
  return all;
}

const nothing = { readOnly: false, writeOnly: false, roles: undefined };

const keywords = ["readOnly", "writeOnly"] as const;

/** Deeper in the schema they would be ignored, and what should be kept back would be told. */
function rulesOfSchema(text: string | undefined, at: string): AttributeRule[] {
  const root: unknown = text === undefined ? {} : JSON.parse(text);
  if (!isSchemaObject(root)) return [];
  const properties = isSchemaObject(root.properties) ? root.properties : {};
  const own = Object.entries(properties).filter(([, schema]) => isSchemaObject(schema));
  requireNoOthers(root, at, new Set(own.map(([, schema]) => schema)));
  return own.flatMap(([name, schema]) => {
    const { readOnly, writeOnly } = schema as Schema;
    if (readOnly !== true && writeOnly !== true) return [];
    return [{ ...nothing, name, readOnly: readOnly === true, writeOnly: writeOnly === true }];
  });
}

function requireNoOthers(schema: Schema, at: string, heeded: ReadonlySet<unknown>): void {
  const wrong = heeded.has(schema) ? undefined : keywords.find((keyword) => schema[keyword] === true);
  if (wrong !== undefined) {
    throw new StartError(
      `${at}: "${wrong}" is heeded of the attributes that the schema's own "properties" list, and would be ignored here.`,
    );
  }
  for (const { schema: inner, path } of subschemasOf(schema))
    if (isSchemaObject(inner)) requireNoOthers(inner, `${at}/${path.join("/")}`, heeded);
}

function requireAttribute(name: string, at: string, collection: Collection): void {
  if (name === "id") throw new StartError(`${at}: the id is everybody's to see, and the service's to set.`);
  const { insteadOf } = attributeFacts(collection, [name]);
  if (insteadOf === undefined) return;
  throw new StartError(`${at} is not an attribute of the schema.${didYouMean(name, insteadOf)}`);
}

function readRule(declared: unknown, at: string, before: AttributeRule): AttributeRule {
  if (!isObject(declared) || Object.keys(declared).length === 0) {
    const asks = "must be an object with readOnly, writeOnly or roles";
    throw new StartError(`${at} ${asks}, and is ${shown(declared)}.`);
  }
  const wrong = Object.keys(declared).find((name) => ![...keywords, "roles"].includes(name));
  if (wrong !== undefined) {
    const advice = didYouMean(wrong, [...keywords, "roles"]) || " There are readOnly, writeOnly and roles.";
    throw new StartError(`${at}.${wrong} is nothing that is said of an attribute.${advice}`);
  }
  const { readOnly = before.readOnly, writeOnly = before.writeOnly, roles } = declared;
  for (const [keyword, value] of Object.entries({ readOnly, writeOnly })) {
    if (typeof value !== "boolean")
      throw new StartError(`${at}.${keyword} must be true or false, and is ${shown(value)}.`);
  }
  return {
    ...before,
    readOnly: readOnly === true,
    writeOnly: writeOnly === true,
    roles: readRoles(roles, `${at}.roles`),
  };
}

function readRoles(declared: unknown, at: string): readonly string[] | undefined {
  if (declared === undefined) return undefined;
  const isRoles =
    Array.isArray(declared) && declared.every((each) => typeof each === "string" && each !== "");
  if (isRoles && declared.length > 0) return declared;
  throw new StartError(`${at} must be a list of roles such as ["hr"], and is ${shown(declared)}.`);
}

/** What is hidden must not be found by looking for it. */
function requireUntold({ name, writeOnly, roles }: AttributeRule, at: string, collection: Collection): void {
  if (!writeOnly && roles === undefined) return;
  const searched = collection.search.find(([first]) => first === name);
  if (searched !== undefined) {
    throw new StartError(
      `${at}.search: ${formatPath(searched)} is not for everybody to see, and would be found by everybody's search.`,
    );
  }
  if (!writeOnly) return;
  const unique = collection.unique.find(({ path: [first] }) => first === name);
  if (unique !== undefined)
    throw new StartError(
      `${at}.unique: nobody is told ${formatPath(unique.path)}, and a value that is taken would be told.`,
    );
}
