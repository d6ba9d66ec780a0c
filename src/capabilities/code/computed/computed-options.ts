/** Checks the option `computed` of a collection, and completes its declaration. It calls no function. */
import type { RestOfConfiguration } from "../../../capability.ts";
import { attributeInfo } from "../../../collection/attributes.ts";
import type { Collection } from "../../../collection/collection.ts";
import { mustBe, suggest, withKnownMembers } from "../../../collection/messages.ts";
import { formatPath } from "../../../collection/paths.ts";
import { timestampNames } from "../../../collection/timestamps.ts";
import { readMembers, StartFaults } from "../../../errors/start-faults.ts";
import { StartError, type StartFault } from "../../../errors.ts";
import { isObject } from "../../../json/values.ts";
import { requireSynchronous } from "../code-options.ts";
import type { ComputedAttribute, ComputedAttributes } from "../settings.ts";

/** How many computed attributes a collection has at most. */
const maxComputed = 20;

/** Reads `computed` of a collection. Throws StartError with all faults. */
export function readComputed(value: unknown, place: string): ComputedAttributes {
  if (!isObject(value) || Object.keys(value).length === 0)
    throw mustBe(place, 'an object such as { "total": { "from": ["lines"], "value": … } }', value);
  const names = Object.keys(value);
  if (names.length > maxComputed)
    throw new StartError(
      `${place} has ${names.length} attributes. A collection can have at most ${maxComputed}.`,
    );
  const attributes = new Map(
    readMembers(value, (each, name) => {
      requireName(name, `${place}.${name}`);
      return readAttribute(each, `${place}.${name}`);
    }),
  );
  readMembers(value, (_, name) => {
    const others = (attributes.get(name)?.from ?? []).filter((each) => attributes.has(each));
    for (const each of others) {
      const detail =
        each === name ? "an attribute cannot be computed from itself" : `${each} is computed too`;
      throw below("from", `${place}.${name}.from: ${detail}. Name only attributes that clients send.`);
    }
  });
  return attributes;
}

/** Names that are no attributes of clients, or that a place with dots cannot name. */
function requireName(name: string, place: string): void {
  if (name === "id" || name === "__proto__" || name === "" || name.includes("."))
    throw new StartError(
      `${place}: ${JSON.stringify(name)} cannot be computed. Choose another name, without dots.`,
    );
}

function readAttribute(value: unknown, place: string): ComputedAttribute {
  if (!isObject(value)) throw mustBe(place, "an object with from and value", value);
  const faults = new StartFaults();
  const refuse = (name: string) => `${place}.${name} is not an option of a computed attribute.`;
  const known = withKnownMembers(value, { names: ["schema", "from", "version", "value"], refuse }, faults);
  const member = <Value>(name: string, read: (value: unknown, place: string) => Value) =>
    faults.read([name], () => read(known[name], `${place}.${name}`));
  const schema = member("schema", readSchema);
  const from = member("from", readFrom);
  const version = member("version", readVersion);
  member("value", requireSynchronous);
  faults.throwIfAny();
  return { schema: schema(), from: from(), version: version() };
}

function readSchema(value: unknown, place: string): object {
  if (value === undefined) return {};
  if (!isObject(value)) throw mustBe(place, 'a JSON Schema such as { "type": "number" }', value);
  if (value.default !== undefined)
    throw below("default", `${place}.default: a computed attribute has no default. Return it from value.`);
  return value;
}

function readFrom(value: unknown, place: string): readonly string[] {
  const isNames = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (!isNames || value.length === 0) throw mustBe(place, 'a list of attributes such as ["lines"]', value);
  return [...new Set(value as string[])];
}

function readVersion(value: unknown, place: string): number {
  if (value === undefined) return 1;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw mustBe(place, "a whole number of at least 1", value);
}

/** A fault of one member. */
function below(member: string, text: string): StartError {
  return new StartError([{ path: [member], text }]);
}

type Declaration = Readonly<Record<string, unknown>>;

/**
 * The declaration of a collection, in which its computed attributes are read-only attributes of the schema. Throws StartError for what
 * contradicts this. `readComputed` reports the faults of `computed` itself.
 */
export function declareComputed(declaration: Declaration, place: string): Declaration | undefined {
  if (declaration.computed === undefined) return undefined;
  const computed = unlessFaulty(() => readComputed(declaration.computed, `${place}.computed`));
  const faults = new StartFaults();
  const names = [...computed.keys()];
  for (const name of names) faults.read([], () => requireUndeclared(name, declaration, place));
  faults.throwIfAny();
  return {
    ...declaration,
    schema: schemaWith(declaration.schema, computed),
    attributes: rulesWith(declaration.attributes, names),
    computes: names,
  };
}

/** Throws a StartError without faults, because they are reported elsewhere. */
function unlessFaulty<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof StartError ? new StartError([]) : error;
  }
}

function requireUndeclared(
  name: string,
  { schema, attributes, defaults, expires, timestamps }: Declaration,
  place: string,
): void {
  const at = `${place}.computed.${name}`;
  const refuse = (path: readonly string[], text: string) => {
    throw new StartError([{ path, text }]);
  };
  if (isObject(schema) && isObject(schema.properties) && Object.hasOwn(schema.properties, name))
    refuse(
      ["computed", name],
      `${at}: the schema declares "${name}" too. Remove it there, and write its schema in ${at}.schema.`,
    );
  if (isObject(attributes) && isObject(attributes[name]) && attributes[name].readOnly === false)
    refuse(
      ["attributes", name, "readOnly"],
      `${place}.attributes.${name}.readOnly: the attribute is computed, so clients cannot change it. Remove this.`,
    );
  if (isObject(defaults) && Object.hasOwn(defaults, name))
    refuse(
      ["defaults", name],
      `${place}.defaults.${name}: a computed attribute has no default. Return it from ${at}.value.`,
    );
  if (typeof expires === "string" && expires.split(".")[0] === name)
    refuse(
      ["expires"],
      `${place}.expires: "${name}" is computed, and an error in its function would delete resources. Set the attribute in hooks.before instead.`,
    );
  if (timestamps === true && timestampNames.some((each) => each === name))
    refuse(
      ["computed", name],
      `${at}: with timestamps, the service itself sets "${name}". Choose another name.`,
    );
}

/** A fault in the schema of a computed attribute, at the place where the configuration has this schema. */
export function explainComputed(fault: StartFault, { computed }: Declaration, place: string): StartFault {
  const [member, keyword, name = "", ...inner] = fault.path;
  const isOwn = isObject(computed) && Object.hasOwn(computed, name);
  if (member !== "schema" || keyword !== "properties" || !isOwn) return fault;
  const within = inner.length === 0 ? "" : ` at ${inner.join("/")}`;
  const reason = fault.text.slice(fault.text.indexOf(": "));
  return {
    path: ["computed", name, "schema", ...inner],
    text: `${place}.computed.${name}.schema${within}${reason}`,
  };
}

/** A collection without a schema still has any other attributes. A schema that is no object is reported elsewhere. */
function schemaWith(declared: unknown, computed: ComputedAttributes): unknown {
  const own = Object.fromEntries([...computed].map(([name, { schema }]) => [name, schema]));
  if (declared === undefined || declared === true)
    return { type: "object", properties: own, additionalProperties: true };
  if (!isObject(declared) || !isObject(declared.properties ?? {})) return declared;
  return { ...declared, properties: { ...(declared.properties as object | undefined), ...own } };
}

/** Rules that are no object are reported elsewhere. */
function rulesWith(declared: unknown, names: readonly string[]): unknown {
  if (declared !== undefined && !isObject(declared)) return declared;
  const rules: Record<string, unknown> = { ...declared };
  for (const name of names) {
    const rule = rules[name] ?? {};
    if (isObject(rule)) rules[name] = { ...rule, readOnly: true };
  }
  return rules;
}

/** Checks `from` of all computed attributes of a collection. Throws StartError. */
export function requireSources(
  name: string,
  computed: ComputedAttributes,
  { collections }: Pick<RestOfConfiguration, "collections">,
): void {
  const collection = collections.get(name);
  if (collection === undefined) return;
  readMembers(Object.fromEntries(computed), (_, attribute) => {
    const place = `collections.${name}.computed.${attribute}`;
    requireUncleared(collection, attribute, place);
    for (const each of computed.get(attribute)?.from ?? []) {
      requireSource(collection, each, `${place}.from`, [...computed.keys()]);
      requireUncleared(collection, each, `${place}.from`);
    }
  });
}

function requireSource(
  collection: Collection,
  name: string,
  place: string,
  computed: readonly string[],
): void {
  const fault = (text: string) => below("from", `${place}: ${text}`);
  if (name === "id" || (collection.timestamps && timestampNames.some((each) => each === name)))
    throw fault(`the service sets "${name}" after it has computed. Name only attributes that clients send.`);
  const { alternatives } = attributeInfo(collection, [name]);
  if (alternatives === undefined) return;
  const known = alternatives.filter((each) => each !== "id" && !computed.includes(each));
  throw fault(`"${name}" is not an attribute of the schema. ${suggest(name, known)}`);
}

/** A delete clears references without calling a function, so nothing computed can depend on them. */
function requireUncleared({ references }: Collection, name: string, place: string): void {
  const cleared = references.find(({ path, onDelete }) => path[0] === name && onDelete === "clear");
  if (cleared === undefined) return;
  throw new StartError(
    `${place}: "${formatPath(cleared.path)}" is a reference with onDelete "clear", so a delete would change it without computing. Choose "restrict" or "cascade", or compute without it.`,
  );
}
