/**
 * Closes schemas: if a schema lists attributes and says nothing about others, the service refuses others.
 *
 * A site is the schema of one value: the root, an attribute or an item. It is closed together with its group, which is
 * everything that `$ref`, `allOf`, `anyOf` and so on add to it. The branches are not closed separately, because each would
 * refuse the attributes of the others. For the same reason, an attribute that two branches describe stays open.
 */
import { isObject } from "../json/values.ts";
import { groupOf, type ResolveRef, type Schema, subschemasOf } from "./subschemas.ts";

/** Closes the schema in place. Returns the names that each closed schema allows. */
export function closeSchema(root: Schema, resolve: ResolveRef): Map<Schema, string[]> {
  const known = new Map<Schema, string[]>();
  const sites = findSites(root, resolve);
  for (const site of sites) {
    const group = groupOf(site, resolve);
    for (const schema of group) completeCondition(schema);
    const names = namesOf(group);
    if (names === undefined) continue;
    known.set(site, names);
    // "additionalProperties" is faster, and has the same effect if no other schema lists attributes.
    const isAlone = group.size === 1 && !Object.hasOwn(site, "if");
    if (!mentionsOthers(site)) site[isAlone ? "additionalProperties" : "unevaluatedProperties"] = false;
  }
  return known;
}

/** All sites, except sites that two schemas describe together and the sites inside them. */
function findSites(root: Schema, resolve: ResolveRef): Set<Schema> {
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
    // A closed `if` or `not` would decide differently.
    if (!isObject(inner) || applies === "test") continue;
    if (applies === "child") sites.add(inner);
    collectSites(inner, sites);
  }
}

/** The schemas of attributes that several schemas of the group describe. */
function sharedChildren(group: ReadonlySet<Schema>): Schema[] {
  const members = [...group].flatMap(({ properties }) => Object.entries(properties ?? {}));
  return [...Map.groupBy(members, ([name]) => name).values()]
    .filter((descriptions) => descriptions.length > 1)
    .flatMap((descriptions) => descriptions.map(([, child]) => child))
    .filter(isObject);
}

/** Every attribute that the group lists; `undefined` if it lists none. */
function namesOf(group: ReadonlySet<Schema>): string[] | undefined {
  const lists = [...group].map(({ properties }) => properties).filter(isObject);
  return lists.length === 0 ? undefined : [...new Set(lists.flatMap((list) => Object.keys(list)))];
}

/** Adds a `then` that always matches. Without one, Ajv ignores which attributes an `if` lists. */
function completeCondition(schema: Schema): void {
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  if (Object.hasOwn(schema, "if") && !Object.hasOwn(schema, "then")) schema.then = { not: false };
}

function mentionsOthers(schema: Schema): boolean {
  return Object.hasOwn(schema, "additionalProperties") || Object.hasOwn(schema, "unevaluatedProperties");
}
