/**
 * Relations: the names under which a request finds related resources. Each reference gives two relations: one to the resource
 * that it names, and one from that resource back.
 */
import { StartError } from "../errors.ts";
import { attributeInfo } from "./attributes.ts";
import type { Collection } from "./collection.ts";
import { formatPath, isIdPath, type Path } from "./paths.ts";
import type { Reference } from "./references.ts";

/** A relation from the resources of one collection to related resources. */
export interface Relation {
  name: string;
  /** `reference`: the ids are in the resource itself. `inverse`: the related resources have its id. */
  kind: "reference" | "inverse";
  /** The collection of the related resources. */
  collection: string;
  /** The attribute with the ids: of the resource itself, or of the related resources. */
  path: Path;
  /** Whether a resource can have several related resources. */
  isList: boolean;
  /** Whether the attribute is hidden from some callers. For them, the relation does not exist. */
  isRestricted: boolean;
}

/** A relation that exists only after a declaration gives it a name. `name` is the name that clients can try. */
export type UnnamedRelation = Omit<Relation, "isList">;

/** A relation that can get its name. */
interface Candidate extends Relation {
  /** The collection that has the relation. */
  from: string;
  /** Whether the declaration gives the name, or it is derived. Another use of a derived name wins. `none`: only advice uses it. */
  origin: "declared" | "derived" | "none";
  /** The path of the reference in the configuration. */
  at: readonly string[];
}

/** The collections with their relations. Throws StartError if a declared name is already used. */
export function withRelations(collections: ReadonlyMap<string, Collection>): Map<string, Collection> {
  const candidates = [...collections.values()].flatMap((collection) => candidatesOf(collection, collections));
  const faults = candidates.flatMap((each) => faultOf(each, candidates, collections));
  if (faults.length > 0) throw new StartError(faults);
  return new Map(
    [...collections].map(([name, collection]) => {
      const own = candidates.filter(({ from }) => from === name);
      const [unnamed = [], named = []] = [false, true].map((isNamed) =>
        own.filter((each) => isFree(each, candidates, collections) === isNamed).map(relationOf),
      );
      return [name, { ...collection, relations: new Map(named.map((each) => [each.name, each])), unnamed }];
    }),
  );
}

function relationOf({ name, kind, collection, path, isList, isRestricted }: Candidate): Relation {
  return { name, kind, collection, path, isList, isRestricted };
}

function candidatesOf(collection: Collection, collections: ReadonlyMap<string, Collection>): Candidate[] {
  const { name: from, references } = collection;
  return references.flatMap((reference) => {
    const { path, collection: target, as, inverse } = reference;
    if (!collections.has(target)) return []; // refused elsewhere
    const at = ["collections", from, "references", formatPath(path)];
    const forward = forwardName(reference);
    const isOnly = references.filter((each) => each.collection === target).length === 1;
    const isList = attributeInfo(collection, path).types?.has("array") === true;
    const isRestricted = collection.attributeRules.some(
      ({ name, roles, writeOnly }) => name === path[0] && (writeOnly || roles !== undefined),
    );
    const common = { path, isRestricted, at };
    return [
      {
        ...common,
        name: forward ?? formatPath(path),
        kind: "reference",
        collection: target,
        isList,
        from,
        origin: as !== undefined ? "declared" : forward === undefined ? "none" : "derived",
      },
      {
        ...common,
        name: inverse ?? from,
        kind: "inverse",
        collection: from,
        isList: true,
        from: target,
        origin: inverse !== undefined ? "declared" : isOnly ? "derived" : "none",
      },
    ];
  });
}

/** The name of the relation to the resource that a reference names, if it can have the name. */
export function forwardName({ as, path }: Pick<Reference, "as" | "path">): string | undefined {
  return as ?? defaultName(path);
}

/** `authorId` refers to an `author`. `undefined` for an attribute without such an ending, and for a nested one. */
function defaultName(path: Reference["path"]): string | undefined {
  const [name, ...nested] = path;
  const short = name.replace(/(?:_ids?|Ids?)$/, "");
  return nested.length > 0 || short === name || short === "" ? undefined : short;
}

/** The fault of a declared name that an attribute or another declared name already has. */
function faultOf(
  candidate: Candidate,
  candidates: readonly Candidate[],
  collections: ReadonlyMap<string, Collection>,
): { path: string[]; text: string }[] {
  const { origin, name, from, kind, at } = candidate;
  if (origin !== "declared") return [];
  const option = kind === "reference" ? "as" : "inverse";
  const path = [...at, option];
  const text = (problem: string) => `${path.join(".")}: ${problem}. Choose another name.`;
  if (isDeclaredAttribute(candidate, collections))
    return [{ path, text: text(`"${name}" is an attribute of "${from}"`) }];
  const first = candidates.find((each) => each.origin === "declared" && isSameName(each, candidate));
  if (first === candidate) return [];
  return [{ path, text: text(`"${name}" is already a relation of "${from}"`) }];
}

/** Whether a relation gets its name. A derived name must be impossible for an attribute, and no other relation can have it. */
function isFree(
  candidate: Candidate,
  candidates: readonly Candidate[],
  collections: ReadonlyMap<string, Collection>,
): boolean {
  if (candidate.origin !== "derived") return candidate.origin === "declared";
  const collection = collections.get(candidate.from) as Collection;
  const canBeAttribute = attributeInfo(collection, [candidate.name]).alternatives === undefined;
  const others = candidates.filter((each) => each !== candidate && each.origin !== "none");
  return !canBeAttribute && !others.some((each) => isSameName(each, candidate));
}

function isSameName(a: Candidate, b: Candidate): boolean {
  return a.from === b.from && a.name === b.name;
}

function isDeclaredAttribute(
  { from, name }: Candidate,
  collections: ReadonlyMap<string, Collection>,
): boolean {
  return isIdPath([name]) || attributeInfo(collections.get(from) as Collection, [name]).isDeclared;
}
