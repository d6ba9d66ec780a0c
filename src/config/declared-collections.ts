/** Reads the collections of a configuration, with their access rules. */
import { type NamedRole, rolesIn } from "../access/roles.ts";
import { type Rules, readRules } from "../access/rules.ts";
import { completeDeclaration, explainFaults } from "../capabilities/all.ts";
import { type Collection, openCollection } from "../collection/collection.ts";
import { readCollection } from "../collection/declaration.ts";
import { requireDeclaredCollections } from "../collection/references.ts";
import { withRelations } from "../collection/relations.ts";
import { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { readUniqueWhere } from "../query/unique-values.ts";
import { ownRootNames } from "../readers.ts";
import { type FileContent, type Get, requirePlainObject, withKnownNames } from "./option-values.ts";

/** All declared collections and their rules, by name, and the roles that they name. */
export interface Declared {
  collections: ReadonlyMap<string, Collection>;
  rules: ReadonlyMap<string, Rules>;
  roles: readonly NamedRole[];
}

/** Reads all collections, and adds their faults. If a collection has faults, the returned function throws StartError. */
export async function readCollections(
  content: FileContent,
  get: Get,
  faults: StartFaults,
): Promise<() => Declared> {
  const declarations = faults.read(["collections"], () =>
    requirePlainObject(content.collections ?? {}, "collections"),
  );
  const readings = await faults.wait([], () =>
    Promise.all(
      Object.keys(declarations()).map(async (name) => {
        const own = new StartFaults();
        const reading = await readOne(name, declarations(), { get, faults: own });
        faults.read(["collections", name], () => throwExplained(own, declarations()[name], name));
        return [name, reading] as const;
      }),
    ),
  );
  faults.read([], () => requireAuth(content, declarations()));
  const collections = faults.read([], () =>
    withRelations(new Map(readings().map(([name, { whole }]) => [name, whole()]))),
  );
  const rules = faults.read([], () => readAllRules(readings(), faults));
  return () => ({
    collections: collections(),
    rules: new Map(rules().map(([name, each]) => [name, each()])),
    roles: rolesIn(declarations()),
  });
}

/** Throws the faults of a collection, if there are any. A capability can have declared what has a fault. */
function throwExplained(faults: StartFaults, declaration: unknown, name: string): void {
  try {
    faults.throwIfAny();
  } catch (error) {
    if (!(error instanceof StartError) || !isObject(declaration)) throw error;
    throw new StartError(explainFaults(error.faults, declaration, `collections.${name}`));
  }
}

type Declarations = Readonly<Record<string, unknown>>;

type Reading = Awaited<ReturnType<typeof readOne>>;

/** Reads the rules of all collections. They come last, because their filters can name relations. */
function readAllRules(
  readings: readonly (readonly [name: string, Reading])[],
  faults: StartFaults,
): (readonly [name: string, rules: () => Rules])[] {
  const known = new Map(readings.map(([name, each]) => [name, relatedForRules(name, each)]));
  const [related] = unlessFaulty(() => withRelations(known));
  return readings.map(([name, { access, whole, described }]) => {
    const collection = () => {
      if (related === undefined) throw new StartError([]); // the names of relations have faults
      const { relations } = related.get(name) as Collection;
      const [own = described()] = unlessFaulty(whole);
      // A part that has faults throws when it is used.
      return Object.defineProperties({} as Collection, {
        ...Object.getOwnPropertyDescriptors(own),
        relations: { value: relations, enumerable: true },
        visibility: { value: undefined, enumerable: true },
      });
    };
    const read = () =>
      readRules(access(), `collections.${name}.access`, collection, (each) => related?.get(each));
    return [name, faults.read(["collections", name, "access"], read)] as const;
  });
}

/** The collection as the rules of others see it. If it has faults, it has any attribute, so that these rules get no faults. */
function relatedForRules(name: string, { whole, described }: Reading): Collection {
  const [references = []] = unlessFaulty(() => described().references);
  const withSchema = () => ({ ...described(), references });
  const [collection = { ...openCollection(name), references }] = [whole, withSchema].flatMap(unlessFaulty);
  return { ...collection, visibility: undefined };
}

/** The value in a list. If reading it throws StartError, it has faults that are reported elsewhere, and the list is empty. */
function unlessFaulty<Value>(read: () => Value): Value[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof StartError) return [];
    throw error;
  }
}

async function readOne(
  name: string,
  declarations: Declarations,
  { get, faults }: { get: Get; faults: StartFaults },
) {
  const at = `collections.${name}`;
  const declaration = faults.read([], () => {
    const given = requirePlainObject(declarations[name], at);
    const known = withKnownNames(given, { path: [], at, level: "collection" }, faults);
    return completeDeclaration(known, at);
  });
  faults.read([], () => requireFreePath(name, get("prefix")));
  const reading = await faults.wait([], () =>
    readCollection(name, declaration(), { faults, readWhere: readUniqueWhere }),
  );
  faults.read(["references"], () =>
    requireDeclaredCollections(reading().references(), `${at}.references`, Object.keys(declarations)),
  );
  return {
    whole: () => reading().whole(),
    described: () => reading().described(),
    access: () => declaration().access,
  };
}

/** Throws StartError if the path of a collection is one of the service's own. */
function requireFreePath(name: string, prefix: string): void {
  if (prefix !== "" || !ownRootNames.includes(name)) return;
  throw new StartError(
    `collections.${name}: the service uses /${name} itself. Choose another name, or a prefix other than "/".`,
  );
}

/** Without `auth`, throws StartError for the first option that needs to know the caller. */
function requireAuth({ auth }: FileContent, declarations: Declarations): void {
  if (auth !== undefined) return;
  for (const name of Object.keys(declarations)) {
    const option = optionAboutCallers(declarations[name]);
    if (option === undefined) continue;
    const path = ["collections", name, ...option];
    const text = `${path.join(".")}: this needs "auth". Without it, the service does not identify callers, and anyone can do everything.`;
    throw new StartError([{ path, text }]);
  }
}

/** The path of the first option about callers in a declaration. The declaration can have faults. */
function optionAboutCallers(declaration: unknown): readonly string[] | undefined {
  if (!isObject(declaration)) return undefined;
  const { access, attributes, defaults } = declaration;
  if (access !== undefined) return ["access"];
  const restricted = findName(attributes, (rule) => isObject(rule) && rule.roles !== undefined);
  if (restricted !== undefined) return ["attributes", restricted, "roles"];
  const naming = findName(defaults, (value) => value === "$subject");
  return naming === undefined ? undefined : ["defaults", naming];
}

function findName(members: unknown, matches: (value: unknown) => boolean): string | undefined {
  return isObject(members) ? Object.keys(members).find((name) => matches(members[name])) : undefined;
}
