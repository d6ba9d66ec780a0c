/** `holdfast check`: reports faults of the configuration, warnings about it, damage in the store, and resources that do not fit. */
import { distance } from "fastest-levenshtein";
import type { Access } from "../access/access.ts";
import { actions, scopeOf } from "../access/access-declaration.ts";
import { isEndless, isLive } from "../access/api-key.ts";
import type { NamedRole } from "../access/roles.ts";
import { encryptsFor, openWriteHooks, readingOf, warningsAbout } from "../capabilities/all.ts";
import { type Collection, openCollection } from "../collection/collection.ts";
import { hasExpired } from "../collection/expiry.ts";
import { describeViolations } from "../collection/messages.ts";
import { formatPath, isIdPath } from "../collection/paths.ts";
import { subschemasOf } from "../collection/subschemas.ts";
import { readFilesOf } from "../config/derived-settings.ts";
import type { Config } from "../config.ts";
import { Problem, StartError } from "../errors.ts";
import { type AnyCheckName, checkNames, findMisfits, type Misfits } from "../fit.ts";
import { isLoopback } from "../http/protocol/hosts.ts";
import { isObject } from "../json/values.ts";
import { conditionTable, isCondition } from "../query/conditions.ts";
import type { StoreFilter } from "../query/filter.ts";
import { shownAddress } from "../store/address.ts";
import { mayExist, openKeys, openReader, type StoreReader } from "../store/open.ts";
import type { ApiKey } from "../store/port/keys.ts";
import { withoutInternal } from "../store/port/record.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { isOfUser } from "./keys-command.ts";
import { print } from "./shell.ts";
import { counted, excerpt } from "./wording.ts";

const maxPrinted = 50;

/** Checks configuration and store. Throws StartError if the configuration has faults or the store does not fit it. */
export async function runCheck({ asvs, hooks, ...flags }: Flags, env: Environment): Promise<void> {
  const config = await configOf(flags, env, { reportsFiles: true });
  await readFilesOf(config, Date.now());
  print(`configuration: ${config.file ?? "none (open mode: clients create collections by using them)"}`);
  printWarnings(await warningsOf(config));
  if (asvs === true) return printAsvs(config);
  if (!mayExist(config.store)) {
    print(`store: ${shownAddress(config.store)} does not exist yet`);
    return;
  }
  print(`store: ${shownAddress(config.store)}`);
  await withOpen(openReader(config.store), async (reader) => {
    if (await reader.findDamage(print)) throw new StartError("the store is damaged, as listed above");
    printWarnings(await keyWarningsOf(config, Date.now())); // the reader shows that the store exists
    const problems =
      (await checkStore(reader, config)) + (hooks === true ? await checkHooks(reader, config) : 0);
    if (problems > 0)
      throw new StartError(
        `the store does not fit the configuration: ${counted(problems, "problem")}, listed above`,
      );
  });
  print("everything fits");
}

/** Prints which requirements of OWASP ASVS the configuration meets. The requirements are about users, so it throws StartError without them. */
async function printAsvs(config: Config): Promise<void> {
  if (config.users === undefined)
    throw new StartError("--asvs is about services with users, and the configuration has no auth.users.");
  const { asvsLines } = await import("./asvs.ts");
  for (const line of asvsLines(config)) print(line);
}

/** Prints what does not fit the configuration, and returns the number of these problems. */
async function checkStore(reader: StoreReader, config: Config): Promise<number> {
  const known = reader.collections();
  let problems = 0;
  for (const collection of config.collections.values()) {
    const record = known.get(collection.name);
    if (record === undefined) {
      print(`${collection.name}: nothing stored yet`);
      continue;
    }
    if (record.idKind !== collection.idKind && reader.count(collection.name) > 0) {
      problems++;
      print(
        `${collection.name}: the configuration declares id "${collection.idKind}", but the ids in the store are "${record.idKind}"`,
      );
    }
    problems += await checkResources(reader, collection, [...checkNames, "ids"]);
    await printExpired(reader, collection);
  }
  const undeclared = withoutInternal(known.keys()).filter((name) => !config.collections.has(name));
  if (!config.openCollections) printUndeclared(reader, undeclared);
  else for (const name of undeclared) problems += await checkResources(reader, openCollection(name), ["ids"]);
  return problems;
}

/** Prints what the hooks would refuse, and returns the number of these resources. Throws StartError. */
async function checkHooks(reader: StoreReader, config: Config): Promise<number> {
  const { collections, http } = config;
  const around = { limits: http.limits, collections: () => collections, warn: print };
  const opened = await openWriteHooks(config, around);
  if (opened === undefined)
    throw new StartError("--hooks is about collections with hooks, and the configuration has no hooks.");
  const { findHookMisfits } = await import("./hook-misfits.ts");
  let problems = 0;
  try {
    for (const collection of collections.values()) {
      const hooks = opened.hooks.of(collection.name);
      if (hooks?.validate === undefined) continue;
      const misfits = await findHookMisfits(reader, collection, { hooks, maxListed: maxPrinted });
      const fit =
        misfits.count === 0 ? "all fit" : `${misfits.count} ${misfits.count === 1 ? "does" : "do"} not fit`;
      print(`${collection.name}: ${counted(misfits.checked, "resource")} by its hooks, ${fit}`);
      printMisfits(misfits);
      problems += misfits.count;
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new StartError(`a hook failed: ${error.cause === undefined ? error.message : String(error.cause)}`);
  } finally {
    await opened.stop();
  }
  return problems;
}

async function checkResources(
  reader: StoreReader,
  collection: Collection,
  names: readonly AnyCheckName[],
): Promise<number> {
  const found = await findMisfits(reader, collection, { names, maxListed: maxPrinted });
  for (const [check, misfits] of found) {
    if (check === "schema" || misfits.count > 0) print(`${collection.name}: ${summaries[check](misfits)}`);
    printMisfits(misfits);
  }
  return [...found.values()].reduce((sum, { count }) => sum + count, 0);
}

const summaries: Record<AnyCheckName, (misfits: Misfits) => string> = {
  schema: ({ checked, count }) =>
    `${counted(checked, "resource")}, ${count === 0 ? "all fit" : `${count} ${count === 1 ? "does" : "do"} not fit`}`,
  unique: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "repeats" : "repeat"} the value of another in a unique attribute`,
  references: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "refers" : "refer"} to a resource that does not exist`,
  ids: ({ count }) =>
    `${counted(count, "resource")} ${count === 1 ? "has a reserved id, so clients cannot reach it" : "have a reserved id, so clients cannot reach them"}`,
};

function printMisfits({ count, first }: Misfits): void {
  for (const { id, violations } of first) print(`  ${excerpt(id)}: ${describeViolations(violations)}`);
  if (count > first.length) print(`  and ${(count - first.length).toLocaleString("en")} more`);
}

/** Prints how many resources have expired. A new `expires` can have this effect on resources that were written before it. */
async function printExpired(reader: StoreReader, collection: Collection): Promise<void> {
  if (collection.expires === undefined) return;
  const now = Date.now();
  let count = 0;
  for await (const { text } of reader.scan(collection.name))
    count += Number(hasExpired(collection, text, now));
  if (count === 0) return;
  const are = count === 1 ? "has" : "have";
  print(
    `${collection.name}: ${counted(count, "resource")} ${are} expired by "${formatPath(collection.expires.path)}"; the service does not show them, and deletes them`,
  );
}

/** Undeclared collections are not a problem, because the store keeps their resources. */
function printUndeclared(reader: StoreReader, names: readonly string[]): void {
  for (const name of names) {
    print(
      `${name}: not declared; the store keeps its ${counted(reader.count(name), "resource")}, but clients cannot reach them`,
    );
  }
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) print(`warning: ${warning}`);
}

const list = new Intl.ListFormat("en");

/** One sentence for each warning. */
export async function warningsOf(config: Config): Promise<string[]> {
  const { collections, access, auth } = config;
  return [
    ...publicWrites(config),
    ...(await warningsAbout(config, { collections, access, administrators: auth?.administrators ?? [] })),
    ...secretInStore(config),
    ...similarRoles(config.roles),
    ...unencryptedListener(config),
    ...anyOrigin(config),
    ...slowLists(config),
    ...unnamedRelations(config),
    ...ignoredDefaults(config),
  ];
}

/** Sentences about the API keys that never expire, and those that the service refuses. The store must exist. */
export async function keyWarningsOf(config: Config, now: number): Promise<string[]> {
  const { auth, store } = config;
  if (auth?.keys !== true) return [];
  const refused: ApiKey[] = [];
  const all = await withOpen(openKeys(store), async (keys) => {
    const found = await keys.all();
    for (const key of found)
      if (isLive(key, now) && (await isOfUser(keys, config, key.subject))) refused.push(key);
    return found;
  });
  return [...endlessKeys(all, now), ...refusedKeys(refused)];
}

function refusedKeys(refused: readonly ApiKey[]): string[] {
  if (refused.length === 0) return [];
  const subjects = refused.length === 1 ? "its subject is" : "their subjects are";
  return [
    `API ${refused.length === 1 ? "key" : "keys"} ${namesOf(refused)}: the service refuses requests with ${refused.length === 1 ? "it" : "them"}, because ${subjects} the id of a user. Revoke them with "npx holdfast keys revoke", and let users create their own keys`,
  ];
}

function endlessKeys(all: readonly ApiKey[], now: number): string[] {
  const endless = all.filter((key) => isEndless(key, now));
  if (endless.length === 0) return [];
  const never = endless.length === 1 ? "never expires" : "never expire";
  return [`${counted(endless.length, "API key")} ${never}: ${namesOf(endless)}`];
}

function namesOf(keys: readonly ApiKey[]): string {
  const names = keys.slice(0, 5).map(({ name, prefix }) => `"${name}" (${prefix})`);
  return `${names.join(", ")}${keys.length > names.length ? " and others" : ""}`;
}

function publicWrites({ access, collections }: Config): string[] {
  if (access === undefined) return []; // without `auth`, only the address to listen on matters
  return [...collections.keys()].flatMap((name) => {
    const permit = access.permit(name, undefined);
    const open = actions.filter((action) => scopeOf(action) === "write" && permit.may(action) !== "nothing");
    return open.length === 0 ? [] : [`${name}: anyone can ${list.format(open)} without a credential`];
  });
}

function secretInStore(config: Config): string[] {
  if (encryptsFor(readingOf(config)) === undefined || config.secrets.length > 0) return [];
  return [
    'HOLDFAST_SECRET is not set, so the service makes a secret and keeps it in the store: anyone who has the file can read what it encrypts. "holdfast secret" prints a value for the variable',
  ];
}

function unencryptedListener({ host, http: { tls, trustProxy } }: Config): string[] {
  if (isLoopback(host) || tls !== undefined || trustProxy.length > 0) return [];
  return [`host: traffic to ${host} is not encrypted, because neither tls nor trustProxy is configured`];
}

function anyOrigin({ auth, http: { corsOrigins } }: Config): string[] {
  if (auth !== undefined || !corsOrigins.includes("*")) return [];
  return [
    'cors.origins: with "*" and without auth, every web page that a user of this machine opens can read and change everything',
  ];
}

/** In shorter names, another letter usually makes another role, as in "hr" and "pr". */
const minSimilarLength = 4;

/** The pairs of roles that differ by one letter, or only in upper and lower case. */
function similarRoles(roles: readonly NamedRole[]): string[] {
  const all = [...Map.groupBy(roles, ({ name }) => name)];
  return all.flatMap(([one, ofOne], n) =>
    all
      .slice(n + 1)
      .filter(([other]) => isSimilar(one, other))
      .map(
        ([other, ofOther]) =>
          `the roles "${one}" (${placesOf(ofOne)}) and "${other}" (${placesOf(ofOther)}) are almost the same. Is one of them misspelled?`,
      ),
  );
}

function isSimilar(a: string, b: string): boolean {
  if (a.toLowerCase() === b.toLowerCase()) return true;
  if (Math.min(a.length, b.length) < minSimilarLength) return false;
  const differsInDigitsOnly = a.replaceAll(/\d/g, "") === b.replaceAll(/\d/g, ""); // "team-1" and "team-2"
  return !differsInDigitsOnly && distance(a, b) === 1;
}

function placesOf([first, ...others]: readonly NamedRole[]): string {
  const more = others.length === 1 ? "1 other place" : `${others.length} other places`;
  return `${first?.at}${others.length === 0 ? "" : ` and ${more}`}`;
}

/** Without a schema, a relation has no name of its own. Nobody notices, because filters through it are valid and match nothing. */
function unnamedRelations({ collections }: Config): string[] {
  return [...collections.values()].flatMap(({ name, schema, unnamed }) =>
    (schema === undefined ? unnamed : []).map(({ kind, collection: related, path }) => {
      const [option, holder] = kind === "reference" ? ["as", name] : ["inverse", related];
      const at = `${holder}.references.${formatPath(path)}`;
      return `${at}: requests for "${name}" cannot use the relation to "${related}", because it has no name. Set "${option}"`;
    }),
  );
}

/** A `default` has an effect only on an attribute in the schema's own "properties". */
function ignoredDefaults({ collections }: Config): string[] {
  const placesIn = (schema: unknown, path: readonly string[]): string[] => {
    if (!isObject(schema)) return [];
    const isOwn = path.length === 2 && path[0] === "properties";
    const here = Object.hasOwn(schema, "default") && !isOwn ? [[...path, "default"].join("/")] : [];
    const inner = subschemasOf(schema).flatMap((each) => placesIn(each.schema, [...path, ...each.path]));
    return [...here, ...inner];
  };
  return [...collections.values()].flatMap(({ name, schema }) =>
    placesIn(schema === undefined ? undefined : JSON.parse(schema), []).map(
      (place) =>
        `${name}: the default in the schema at ${place} does nothing, because only attributes in the schema's own "properties" have defaults`,
    ),
  );
}

function slowLists({ access, collections }: Config): string[] {
  if (access === undefined) return [];
  return [...collections.values()].flatMap((collection) =>
    unindexedIn(access, collection).map(
      (attribute) =>
        `${collection.name}: a rule filters lists by "${attribute}", but no index begins with it, so every list reads the whole collection`,
    ),
  );
}

/** The attributes that need an index, because rules filter the lists of the collection by them. */
function unindexedIn(access: Access, { name, indexes }: Collection): readonly string[] {
  const indexed = new Set(indexes.flatMap(([key]) => (key === undefined ? [] : [formatPath(key.path)])));
  return [...new Set(access.listFilters(name).flatMap((filter) => unindexedOf(filter, indexed) ?? []))];
}

/** The attributes of a filter that need an index; `undefined` if no index can serve the filter. */
function unindexedOf(filter: StoreFilter, indexed: ReadonlySet<string>): readonly string[] | undefined {
  switch (filter.kind) {
    case "and": {
      const each = filter.filters
        .map((inner) => unindexedOf(inner, indexed))
        .filter((all) => all !== undefined);
      return each.toSorted((a, b) => a.length - b.length)[0]; // one served filter is enough
    }
    case "or": {
      const each = filter.filters.map((inner) => unindexedOf(inner, indexed));
      return each.includes(undefined) ? undefined : each.flatMap((all) => all ?? []);
    }
    default: {
      if (!isCondition(filter) || conditionTable[filter.kind].range === undefined) return undefined;
      const name = formatPath(filter.path);
      return isIdPath(filter.path) || indexed.has(name) ? [] : [name];
    }
  }
}
