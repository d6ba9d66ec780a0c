/** What a collection declares to lead elsewhere: attributes that hold ids of resources which must be there. */
import { readMembers } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { attributeFacts, type Describing } from "./attributes.ts";
import { didYouMean } from "./nearest.ts";
import { formatPath, type Path, parsePath } from "./paths.ts";
import type { Attributes } from "./resource.ts";
import { shown } from "./shown.ts";

/** What becomes of those that refer to a resource which is deleted: they forbid it, go too, or refer to it no more. */
export type OnDelete = "restrict" | "cascade" | "clear";

/** An attribute that holds the id of a resource, or a list of ids. */
export interface Reference {
  path: Path;
  /** The name of the collection that it leads to. */
  collection: string;
  onDelete: OnDelete;
}

/** How a configuration writes it: the name of the collection, or that with what a delete does. */
export type ReferenceDeclaration = string | { readonly collection: string; readonly onDelete?: OnDelete };

const onDeletes: readonly unknown[] = ["restrict", "cascade", "clear"] satisfies OnDelete[];

/** Reads the option `references`: `{ "authorId": "users" }`. Throws StartError with every fault, each with its place below `at`. */
export function readReferences(
  declared: unknown,
  at: string,
  describing: () => Describing,
): readonly Reference[] {
  if (declared === undefined) return [];
  if (!isObject(declared)) {
    const example = '{ "authorId": "users" }';
    throw new StartError(`${at} must be an object such as ${example}, not ${shown(declared)}.`);
  }
  const all = readMembers(declared, (item, name) => {
    const reference = readOne(name, item, `${at}.${name}`);
    requireFit(reference, `${at}.${name}`, describing());
    return reference;
  });
  return all.map(([, reference]) => reference);
}

function readOne(name: string, item: unknown, at: string): Reference {
  const path = parsePath(name);
  if (path === undefined || path[0] === "id") {
    throw new StartError(`${at}: only attributes such as "authorId" or "author.id" can refer to resources.`);
  }
  const fields = isObject(item) ? item : { collection: item };
  const { collection, onDelete = "restrict", ...others } = fields;
  if (typeof collection === "string" && onDeletes.includes(onDelete) && Object.keys(others).length === 0)
    return { path, collection, onDelete: onDelete as OnDelete };
  throw new StartError(
    `${at} must be a collection such as "users" or { "collection": "users", "onDelete": "restrict" | "cascade" | "clear" }, not ${shown(item)}.`,
  );
}

function requireFit({ path, onDelete }: Reference, at: string, collection: Describing): void {
  const facts = attributeFacts(collection, path);
  const types = [...(facts.types ?? ["string"])].filter((type) => type !== "null");
  const isFit = types.every((type) => type === "string" || type === "number" || type === "array");
  if (facts.insteadOf !== undefined || types.length !== 1 || !isFit) {
    throw new StartError(
      `${at}: the schema must allow an id here (a string, or a number if ids are integers) or a list of ids.`,
    );
  }
  if (onDelete !== "clear") return;
  if (facts.isRequired === true && types[0] !== "array")
    throw new StartError(`${at}: the schema requires the attribute, so a delete cannot clear it.`);
  if ((facts.minItems ?? 0) > 0)
    throw new StartError(`${at}: the schema requires items in the list, so a delete cannot clear them.`);
}

/** Throws StartError with every reference to a collection that is not declared. The places begin with `at`. */
export function requireTargets(
  references: readonly Reference[],
  at: string,
  collections: readonly string[],
): void {
  const faults = references
    .filter(({ collection }) => !collections.includes(collection))
    .map(({ path, collection }) => {
      const name = formatPath(path);
      const text = `${at}.${name}: no collection "${collection}" is declared.${didYouMean(collection, collections)}`;
      return { path: [name], text };
    });
  if (faults.length > 0) throw new StartError(faults);
}

/** An id that a resource holds, and where. */
export interface Target {
  reference: Reference;
  /** The way to the id in the resource. */
  at: readonly (string | number)[];
  id: string;
}

/** The ids that a resource's attributes hold in its references. */
export function targetsOf(attributes: Attributes, references: readonly Reference[]): Target[] {
  return references.flatMap((reference): Target[] => {
    const { path } = reference;
    const value = holderOf(attributes, path)?.[path.at(-1) as string];
    if (!Array.isArray(value)) return isId(value) ? [{ reference, at: path, id: String(value) }] : [];
    return value.flatMap((item: unknown, n) =>
      isId(item) ? [{ reference, at: [...path, n], id: String(item) }] : [],
    );
  });
}

/** Takes an id out of the attribute of a reference. */
export function clearReference(attributes: Attributes, { path }: Reference, id: string): void {
  const holder = holderOf(attributes, path);
  const name = path.at(-1) as string;
  if (holder === undefined) return;
  const value = holder[name];
  if (Array.isArray(value)) holder[name] = value.filter((item) => !isId(item) || String(item) !== id);
  else delete holder[name];
}

function holderOf(attributes: Attributes, path: Path): Attributes | undefined {
  let holder: unknown = attributes;
  for (const [n, name] of path.entries()) {
    const isObject = typeof holder === "object" && holder !== null && !Array.isArray(holder);
    if (!isObject || !Object.hasOwn(holder as Attributes, name)) return undefined;
    if (n < path.length - 1) holder = (holder as Attributes)[name];
  }
  return holder as Attributes;
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}
