/**
 * Closes schemas: where a schema lists attributes and says nothing about others, others are refused.
 *
 * What is closed is the description of a value: the root, an attribute, an item, with everything that `$ref`,
 * `allOf`, `anyOf` and so on add to it. Their branches are not closed one by one, since each would refuse what
 * the others list. For the same reason an attribute stays as it is when two branches describe it.
 */
import { isSchemaObject, type Schema, subschemasOf } from "./keywords.ts";
import { groupOf, type Resolve } from "./references.ts";

/** Closes the schema in place. Gives, for each schema that refuses others, the names that it knows. */
export function closeSchema(root: Schema, resolve: Resolve): Map<Schema, string[]> {
  const known = new Map<Schema, string[]>();
  const sites = findSites(root, resolve);
  for (const site of sites) {
    const group = groupOf(site, resolve);
    for (const schema of group) completeCondition(schema);
    const names = namesOf(group);
    if (names === undefined) continue;
    known.set(site, names);
    // Equal where nothing else lists attributes, and faster.
    const isAlone = group.size === 1 && !Object.hasOwn(site, "if");
    if (!saysSo(site)) site[isAlone ? "additionalProperties" : "unevaluatedProperties"] = false;
  }
  return known;
}

/** The root and every attribute or item, without those that two schemas describe together, and what is in them. */
function findSites(root: Schema, resolve: Resolve): Set<Schema> {
  const sites = new Set([root]);
  collectSites(root, sites);
  const shared = new Set<Schema>();
  for (const site of sites) {
    for (const child of sharedChildren(groupOf(site, resolve))) {
      shared.add(child);
      collectSites(child, shared);
    }
  }
  return new Set([...sites].filter((site) => !shared.has(site)));
}

function collectSites(schema: Schema, sites: Set<Schema>): void {
  for (const { schema: inner, applies } of subschemasOf(schema)) {
    // Closing what only decides (`if`, `not`) would turn the decision round.
    if (!isSchemaObject(inner) || applies === "test") continue;
    if (applies === "child") sites.add(inner);
    collectSites(inner, sites);
  }
}

/** Descriptions of an attribute that another schema of the group describes too. */
function sharedChildren(group: ReadonlySet<Schema>): Schema[] {
  const members = [...group].flatMap(({ properties }) => Object.entries(properties ?? {}));
  return [...Map.groupBy(members, ([name]) => name).values()]
    .filter((descriptions) => descriptions.length > 1)
    .flatMap((descriptions) => descriptions.map(([, child]) => child))
    .filter(isSchemaObject);
}

/** Every attribute that the group lists; `undefined` when no schema of it lists any. */
function namesOf(group: ReadonlySet<Schema>): string[] | undefined {
  const lists = [...group].map(({ properties }) => properties).filter(isSchemaObject);
  return lists.length === 0 ? undefined : [...new Set(lists.flatMap((list) => Object.keys(list)))];
}

/** Ajv forgets which attributes an `if` lists unless there is a `then` that is more than `true`. */
function completeCondition(schema: Schema): void {
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  if (Object.hasOwn(schema, "if") && !Object.hasOwn(schema, "then")) schema.then = { not: false };
}

function saysSo(schema: Schema): boolean {
  return Object.hasOwn(schema, "additionalProperties") || Object.hasOwn(schema, "unevaluatedProperties");
}
