/** Reads the rules for single attributes: the option `attributes`, and `readOnly` and `writeOnly` in the schema. */
import { readEach, readMembers, StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { type AttributeSource, attributeInfo } from "./attributes.ts";
import { didYouMean, mustBe, withKnownMembers } from "./messages.ts";
import { formatPath, type Path } from "./paths.ts";
import { type Schema, subschemasOf } from "./subschemas.ts";
import { pathsOf, type Unique } from "./unique.ts";
import type { AttributeRule } from "./visibility.ts";

/** The option in a configuration: `{ "salary": { "roles": ["hr"] } }`. */
export type AttributesDeclaration = Readonly<
  Record<
    string,
    { readonly readOnly?: boolean; readonly writeOnly?: boolean; readonly roles?: readonly string[] }
  >
>;

/** Reads the option `attributes`. Throws StartError with every fault, each with its place below `at`. */
export function readAttributeRules(
  declared: unknown,
  at: string,
  { source, schemaRules }: RuleSources,
): readonly AttributeRule[] {
  if (declared !== undefined && !isObject(declared))
    throw mustBe(at, 'an object such as { "salary": { "roles": ["hr"] } }', declared);
  const faults = new StartFaults();
  const bySchema = faults.read([], () => new Map(schemaRules().map((rule) => [rule.name, rule])));
  const own = faults.read([], () =>
    readMembers(declared ?? {}, (item, name) => {
      const rule = readRule(item, `${at}.${name}`);
      requireAttribute(name, `${at}.${name}`, source());
      return rule;
    }),
  );
  faults.throwIfAny();
  const rules = new Map(bySchema());
  for (const [name, rule] of own())
    rules.set(name, { ...(rules.get(name) ?? { ...nothing, name }), ...rule });
  return [...rules.values()];
}

/** The schema and its rules. Both functions throw StartError if the schema has faults. */
interface RuleSources {
  source: () => AttributeSource;
  schemaRules: () => readonly AttributeRule[];
}

const nothing = { readOnly: false, writeOnly: false, roles: undefined };

const keywords = ["readOnly", "writeOnly"] as const;

/**
 * The rules in the schema. `readOnly` and `writeOnly` work only on top-level attributes. Throws StartError with every other
 * place of these keywords, because the service would show an attribute that the schema declares as hidden.
 */
export function rulesOfSchema(text: string | undefined, at: string): AttributeRule[] {
  const root: unknown = text === undefined ? {} : JSON.parse(text);
  if (!isObject(root)) return [];
  const properties = isObject(root.properties) ? root.properties : {};
  const own = Object.entries(properties).filter(([, schema]) => isObject(schema));
  const faults = new StartFaults();
  findOthers(root, [], new Set(own.map(([, schema]) => schema)), (path, keyword) => {
    const place = [at, ...path].join("/");
    faults.add(
      path,
      `${place}: "${keyword}" works only on attributes in the schema's own "properties"; here it would be ignored.`,
    );
  });
  faults.throwIfAny();
  return own.flatMap(([name, schema]) => {
    const { readOnly, writeOnly } = schema as Schema;
    if (readOnly !== true && writeOnly !== true) return [];
    return [{ ...nothing, name, readOnly: readOnly === true, writeOnly: writeOnly === true }];
  });
}

function findOthers(
  schema: Schema,
  path: readonly string[],
  allowed: ReadonlySet<unknown>,
  refuse: (path: readonly string[], keyword: string) => void,
): void {
  const wrong = allowed.has(schema) ? undefined : keywords.find((keyword) => schema[keyword] === true);
  if (wrong !== undefined) refuse(path, wrong);
  for (const inner of subschemasOf(schema))
    if (isObject(inner.schema)) findOthers(inner.schema, [...path, ...inner.path], allowed, refuse);
}

function requireAttribute(name: string, at: string, collection: AttributeSource): void {
  if (name === "id")
    throw new StartError(
      `${at}: every caller can see the id, and only the service sets it. Leave it out here.`,
    );
  const { alternatives } = attributeInfo(collection, [name]);
  if (alternatives === undefined) return;
  throw new StartError(`${at} is not an attribute of the schema.${didYouMean(name, alternatives)}`);
}

/** The rule of one attribute, with only the members that are declared. */
function readRule(declared: unknown, at: string): Partial<AttributeRule> {
  if (!isObject(declared) || Object.keys(declared).length === 0)
    throw mustBe(at, "an object with readOnly, writeOnly or roles", declared);
  const faults = new StartFaults();
  const known = {
    names: [...keywords, "roles"],
    refuse: (name: string) => `${at}.${name} is not an option of an attribute.`,
    advice: "The options are readOnly, writeOnly and roles.",
  };
  const options = withKnownMembers(declared, known, faults);
  const members = readers.map(([name, read]) =>
    faults.read([name], () => {
      const value = options[name];
      return value === undefined ? {} : { [name]: read(value, `${at}.${name}`) };
    }),
  );
  faults.throwIfAny();
  return Object.assign({}, ...members.map((member) => member())) as Partial<AttributeRule>;
}

/** Throws StartError if the value is not a boolean. */
export function readBoolean(declared: unknown, at: string): boolean {
  if (typeof declared === "boolean") return declared;
  throw mustBe(at, "true or false", declared);
}

function readRoles(declared: unknown, at: string): readonly string[] {
  const isRoles =
    Array.isArray(declared) && declared.every((each) => typeof each === "string" && each !== "");
  if (isRoles && declared.length > 0) return declared;
  throw mustBe(at, 'a list of roles such as ["hr"]', declared);
}

const readers = [
  ["readOnly", readBoolean],
  ["writeOnly", readBoolean],
  ["roles", readRoles],
] as const;

/** Throws StartError for every searched attribute that some callers cannot see: a search must not find hidden values. */
export function requireSearchReadable(
  rules: readonly AttributeRule[],
  search: readonly Path[],
  at: string,
): void {
  const hidden = new Set(
    rules.filter(({ writeOnly, roles }) => writeOnly || roles !== undefined).map(({ name }) => name),
  );
  readEach(search, (path) => {
    if (!hidden.has(path[0])) return;
    throw new StartError(
      `${at}: some callers cannot see ${formatPath(path)}, but a search by any caller would find it. Remove it here.`,
    );
  });
}

/**
 * Throws StartError for every entry of `unique` by which a refused duplicate would reveal a hidden value: with an attribute that is
 * `writeOnly`, also in its filter; with attributes that have different roles; or with a hidden attribute to which a create gives a
 * constant. `constants` are the names of the attributes with a constant default.
 */
export function requireUniqueReadable(
  rules: readonly AttributeRule[],
  unique: readonly Unique[],
  { constants, at }: { constants: ReadonlySet<string>; at: string },
): void {
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  const rolesOf = ([name]: Path) => JSON.stringify(byName.get(name)?.roles?.toSorted() ?? []);
  const all = unique.map((each) => [...pathsOf(each), ...(each.where?.paths ?? [])]);
  readEach(all.flat(), (path) => {
    if (byName.get(path[0])?.writeOnly !== true) return;
    throw new StartError(
      `${at}: no caller can see ${formatPath(path)}, but a refused duplicate would reveal its value. Remove it here.`,
    );
  });
  readEach(all, (paths) => {
    const hidden = paths.find(([name]) => byName.get(name)?.roles !== undefined);
    if (hidden === undefined) return;
    const other = paths.find((path) => rolesOf(path) !== rolesOf(hidden));
    if (other !== undefined)
      throw new StartError(
        `${at}: a refused duplicate would reveal ${formatPath(hidden)} to callers who can see only ${formatPath(other)}. Give all attributes of this entry, and of its "where", the same "roles".`,
      );
    if (constants.has(hidden[0]))
      throw new StartError(
        `${at}: every create gives ${formatPath(hidden)} a default, so a refused duplicate would reveal its value to callers who cannot see it. Remove the default, or the entry here.`,
      );
  });
}
