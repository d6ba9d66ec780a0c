/** The constraints that every changed resource must meet: unique values and references. */
import { type Reference, referencedIds } from "../../../collection/references.ts";
import { pathsOf } from "../../../collection/unique.ts";
import { toFragment } from "../../../json/pointer.ts";
import { uniqueValue } from "../../../query/unique-values.ts";
import type { Plan } from "../../sql/plans.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { canBeId } from "../entries.ts";
import { danglingReference, type Refusal, valueTaken } from "./refusals.ts";
import type { Judging, ResolvedChange } from "./resolved-commit.ts";

/** A resource that was parsed, with its id. */
export interface ParsedResource {
  id: string;
  attributes: Record<string, unknown>;
  /** Whether a change of another resource comes later in the same commit. @default false for all */
  isLater?: (other: string) => boolean;
}

/**
 * Finds the first `most` changes with a unique value that another resource has, or with a dangling reference: first all
 * with such a value. `resources` are the parsed texts of the changes.
 */
export function* findBrokenConstraints(
  judging: Judging,
  changes: readonly ResolvedChange[],
  resources: readonly unknown[],
  most: number,
): Plan<Refusal[]> {
  const found = yield* findCollisions(judging, changes, resources, most);
  for (const [index, { collection, next }] of changes.entries()) {
    if (found.length >= most) break;
    if (next === undefined || collection.references.length === 0) continue;
    const attributes = resources[index] as Record<string, unknown>;
    const pointer = yield* findDangling(judging, collection.references, attributes);
    if (pointer !== undefined) found.push(danglingReference(pointer, index));
  }
  return found;
}

/** Finds unique values that another resource has after all changes. If two changes collide, the later one is refused. */
function* findCollisions(
  judging: Judging,
  changes: readonly ResolvedChange[],
  resources: readonly unknown[],
  most: number,
): Plan<Refusal[]> {
  const found: Refusal[] = [];
  let indexes: Map<string, number> | undefined;
  for (const [index, { collection, id, next }] of changes.entries()) {
    if (next === undefined || collection.unique.length === 0) continue;
    indexes ??= new Map(changes.map((each, n) => [`${each.collection.number}/${each.id}`, n]));
    const known = indexes;
    const isLater = (other: string) => (known.get(`${collection.number}/${other}`) ?? -1) > index;
    const attributes = resources[index] as Record<string, unknown>;
    const taken = yield* findTaken(judging, collection, { id, attributes, isLater });
    if (taken !== undefined) found.push(valueTaken(taken, index));
    if (found.length >= most) break;
  }
  return found;
}

/** The attributes of a unique value that another resource has. */
export interface Taken {
  /** JSON Pointers in fragments. */
  pointers: readonly string[];
  /** The id of the other resource. */
  holder: string;
}

/** The first unique value that another resource has. */
export function* findTaken(
  { staged, lookups }: Judging,
  collection: NumberedCollection,
  { id, attributes, isLater = () => false }: ParsedResource,
): Plan<Taken | undefined> {
  const isOther = (other: string) => other !== id && !isLater(other);
  for (const place of collection.uniqueSlots) {
    const { unique } = place;
    const value = uniqueValue(attributes, unique);
    if (value === undefined) continue;
    // This resource and holders with staged changes are skipped. One holder more than these is enough.
    const enough = staged.of(collection).resources.length + 1;
    const held = yield* lookups.holders(collection, place, { value, enough });
    const holder =
      held.find((other) => isOther(other) && !staged.hasChanged(collection, other)) ??
      [...staged.holders(collection, place, value)].find(isOther);
    if (holder !== undefined) return { pointers: pathsOf(unique).map(toFragment), holder };
  }
  return undefined;
}

/** A pointer to the first id that leads to no resource. */
export function* findDangling(
  judging: Judging,
  references: readonly Reference[],
  attributes: Record<string, unknown>,
): Plan<string | undefined> {
  for (const { reference, id, at } of referencedIds(attributes, references)) {
    if (!(yield* exists(judging, reference.collection, id))) return toFragment(at);
  }
  return undefined;
}

/** Whether a resource exists after the staged changes. */
export function* exists({ catalogue, staged, lookups }: Judging, name: string, id: string): Plan<boolean> {
  const collection = catalogue().byName.get(name);
  if (collection === undefined || !canBeId(id)) return false;
  const resource = staged.find(collection, id);
  if (resource !== undefined) return resource.now !== undefined;
  return yield* lookups.exists(collection, id);
}
