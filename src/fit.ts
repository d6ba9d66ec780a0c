/**
 * Finds the stored resources that do not fit the declared collections, and decides whether the service can start. The start needs this
 * before it applies a changed declaration, and an import before it adds resources. `holdfast check` lists the resources.
 */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "./collection/collection.ts";
import { hasExpired, isKnownExpiry } from "./collection/expiry.ts";
import { reservedIdViolations } from "./collection/ids.ts";
import { describeViolations } from "./collection/messages.ts";
import { formatPath } from "./collection/paths.ts";
import { type Reference, type ReferencedId, referencedIds } from "./collection/references.ts";
import { type Attributes, isAbout, withoutId } from "./collection/resource.ts";
import { clientAttributes, timestampViolations } from "./collection/timestamps.ts";
import { pathsOf } from "./collection/unique.ts";
import type { Config } from "./config.ts";
import { StartError, type Violation } from "./errors.ts";
import { toFragment } from "./json/pointer.ts";
import { uniqueValue } from "./query/unique-values.ts";
import { takenDetail } from "./store/core/commits/refusals.ts";
import { openTemporaryDatabase } from "./store/core/temporary-database.ts";
import { type CollectionRecord, isDeclared, isInternal, recordOf } from "./store/port/record.ts";
import type { Store } from "./store/port/store.ts";

/**
 * The records of the collections that the store must have after the start. Throws StartError if stored resources do not fit
 * a changed declaration, unless `config.accept`.
 */
export async function planStart(store: Store, config: Config): Promise<readonly CollectionRecord[]> {
  const plan: CollectionRecord[] = [];
  for (const collection of config.collections.values()) {
    if (!config.accept) {
      await requireFit(store, collection, checkNames);
      await requireNoneExpired(store, collection, Date.now());
    }
    plan.push(recordOf(collection));
  }
  return [...plan, ...releasedRecords(store.collections(), config)];
}

/** Throws StartError if a collection of the store differs from the plan. A collection that the store does not have is empty. */
export function requireDeclared(store: Pick<Store, "collections">, plan: readonly CollectionRecord[]): void {
  const known = store.collections();
  const changed = plan.find(
    (record) => known.has(record.name) && !isDeclared(known.get(record.name), record),
  );
  if (changed === undefined) return;
  throw new StartError(
    `The declaration of ${changed.name} has changed, and a read-only service cannot apply it to the store. Start the service once without readOnly.`,
  );
}

const startAdvice = ", or start the service anyway with --accept.";

/**
 * Runs the checks whose part of the declaration has changed since the resources were last checked. Throws StartError if
 * resources do not fit. The message ends with `advice`.
 */
export async function requireFit(
  store: Pick<Store, "scanEach" | "collections">,
  collection: Collection,
  checks: readonly CheckName[],
  advice = startAdvice,
): Promise<void> {
  const before = store.collections().get(collection.name);
  if (before === undefined) return;
  const names = checks.filter((name) => hasChanged[name](before, collection));
  for (const [name, misfits] of await findMisfits(store, collection, { names, maxListed: 1 })) {
    const [misfit] = misfits.first;
    if (misfit === undefined) continue;
    throw new StartError(
      `${complaints[name](collection.name, misfits)} ` +
        `(first ${JSON.stringify(misfit.id)}: ${describeViolations(misfit.violations)}). ` +
        `List them with "npx holdfast check"${advice}`,
    );
  }
}

/** Throws StartError if a new `expires` would delete resources that the store has. */
export async function requireNoneExpired(
  store: Pick<Store, "scan" | "collections">,
  { name, expires }: Collection,
  now: number,
): Promise<void> {
  const before = store.collections().get(name);
  if (expires === undefined || before === undefined || isKnownExpiry(before.indexes, expires)) return;
  let count = 0;
  for await (const { text } of store.scan(name)) count += Number(hasExpired({ expires }, text, now));
  if (count === 0) return;
  const have = count === 1 ? "one resource has" : `${count} resources have`;
  throw new StartError(
    `collections.${name}.expires is new, and ${have} expired by "${formatPath(expires.path)}". Give them other dates first, or start the service with --accept, which deletes them.`,
  );
}

/** Whether a part of the declaration has changed since the resources were last checked. */
const hasChanged: Record<CheckName, (before: CollectionRecord, now: Collection) => boolean> = {
  // With `timestamps`, the schema does not describe two attributes of the stored resources.
  schema: (before, now) =>
    now.timestamps === (before.timestamps ?? false)
      ? now.schema !== undefined && before.schema !== now.schema
      : now.timestamps || now.schema !== undefined,
  unique: (before, now) => !isDeepStrictEqual(before.unique ?? [], now.unique),
  references: (before, now) => !isDeepStrictEqual(targetsOf(before.references), targetsOf(now.references)),
};

function targetsOf(references: readonly Reference[] = []): [string, string][] {
  return references.map(({ path, collection }) => [formatPath(path), collection]);
}

const complaints: Record<CheckName, (collection: string, misfits: Misfits) => string> = {
  schema: (name, { count, checked }) =>
    `The declaration of ${name} has changed, and ${count} of its ${checked} resources ` +
    `${count === 1 ? "does" : "do"} not fit it`,
  unique: (name, { count }) =>
    `In ${name}, ${count === 1 ? "one resource repeats" : `${count} resources repeat`} the value of another in ` +
    "an attribute that is now unique",
  references: (name, { count }) =>
    `In ${name}, ${count === 1 ? "one resource refers" : `${count} resources refer`} to a resource that does not exist`,
};

/** Collections that are no longer declared, but stay open. Their records lose everything that resources had to fit. */
function releasedRecords(
  known: ReadonlyMap<string, CollectionRecord>,
  { collections, openCollections }: Config,
): readonly CollectionRecord[] {
  if (!openCollections) return [];
  return [...known.values()]
    .filter(
      ({ name, schema, unique = [], references = [], timestamps = false }) =>
        (timestamps || (schema ?? unique[0] ?? references[0]) !== undefined) &&
        !collections.has(name) &&
        !isInternal(name),
    )
    .map((record) => ({ ...record, schema: undefined, unique: [], references: [], timestamps: false }));
}

/** The parts of a declaration that resources must fit, in the order of the reports. */
export const checkNames = ["schema", "unique", "references"] as const;

/** The name of such a check. */
export type CheckName = (typeof checkNames)[number];

/** The name of any check. Ids do not depend on a declaration. */
export type AnyCheckName = CheckName | "ids";

/** The result of one check. */
export interface Misfits {
  /** The number of resources. */
  checked: number;
  /** The number of resources that do not fit. */
  count: number;
  /** The first of these, in the order of ids. */
  first: readonly { id: string; violations: readonly Violation[] }[];
}

type Scannable = Pick<Store, "scanEach">;

interface StoredResource {
  id: string;
  attributes: Attributes;
  /** The attributes with the id. */
  resource: Record<string, unknown>;
}

/** A check of every resource of a collection, once each. */
interface Check {
  /** The collections whose ids it needs first. @default none */
  targets?: readonly string[];
  noteTarget?(collection: string, id: string): void;
  violationsOf(resource: StoredResource): readonly Violation[];
  close(): void;
}

interface Finding<Name extends AnyCheckName> extends Misfits {
  name: Name;
  check: Check;
  first: { id: string; violations: readonly Violation[] }[];
}

/**
 * Reads every resource of a collection once. Returns the result of each check that the declaration needs, for one state of the store: others
 * can write meanwhile.
 */
export async function findMisfits<Name extends AnyCheckName>(
  store: Scannable,
  collection: Collection,
  { names, maxListed }: { names: readonly Name[]; maxListed: number },
): Promise<ReadonlyMap<Name, Misfits>> {
  const findings: Finding<Name>[] = [];
  try {
    for (const name of names.filter((each) => isNeeded(collection, each)))
      findings.push({ name, check: openCheck[name](collection), checked: 0, count: 0, first: [] });
    const targets = [...new Set(findings.flatMap(({ check }) => check.targets ?? []))];
    let place = 0;
    const scanned = findings.length === 0 ? [] : [...targets, collection.name];
    for await (const { id, text } of store.scanEach(scanned, (next) => (place = next))) {
      const target = targets[place];
      if (target !== undefined) {
        for (const { check } of findings) check.noteTarget?.(target, id);
        continue;
      }
      const resource = JSON.parse(text) as Record<string, unknown>;
      const attributes = withoutId(resource);
      for (const finding of findings) {
        finding.checked++;
        const violations = finding.check.violationsOf({ id, attributes, resource });
        if (violations.length === 0) continue;
        finding.count++;
        if (finding.first.length < maxListed) finding.first.push({ id, violations });
      }
    }
  } finally {
    for (const { check } of findings) check.close();
  }
  return new Map(findings.map((finding) => [finding.name, finding]));
}

function isNeeded(collection: Collection, name: AnyCheckName): boolean {
  return name === "schema" || name === "ids" || collection[name].length > 0;
}

/** The values and ids that the checks compare are in temporary files, so that memory stays flat. */
const openCheck: Record<AnyCheckName, (collection: Collection) => Check> = {
  schema: (collection) => ({
    violationsOf: ({ attributes }) => [
      ...timestampViolations(collection, attributes),
      ...exceptComputed(collection, collection.validate(clientAttributes(collection, attributes))),
    ],
    close() {},
  }),
  ids: () => ({ violationsOf: ({ id }) => reservedIdViolations(id), close() {} }),
  unique: openUniqueCheck,
  references: openReferenceCheck,
};

/** The service still computes these attributes, so their values do not have to fit yet. */
function exceptComputed({ computes }: Collection, violations: readonly Violation[]): readonly Violation[] {
  if (computes === undefined) return violations;
  return violations.filter((each) => !computes.values().some((name) => isAbout(each, name)));
}

/** Finds values of unique attributes that an earlier resource has. */
function openUniqueCheck({ unique }: Collection): Check {
  const seen = openTemporaryDatabase(
    "create table seen (attribute integer, value text, id text, primary key (attribute, value)) without rowid",
  );
  const insert = seen.prepare("insert into seen values (?, ?, ?) on conflict do nothing");
  const find = seen.prepare("select id from seen where attribute = ? and value = ?");
  return {
    violationsOf: ({ id, resource }) =>
      unique.flatMap((each, n) => {
        const value = uniqueValue(resource, each);
        if (value === undefined || insert.run(n, value, id).changes === 1) return [];
        const [pointer, ...others] = pathsOf(each).map(toFragment);
        const detail = takenDetail(others, JSON.stringify(String(find.get(n, value)?.id)));
        return [{ in: "body", pointer: pointer as string, code: "unique", detail }];
      }),
    close: () => seen.close(),
  };
}

/** Finds references to resources that do not exist. */
function openReferenceCheck({ references }: Collection): Check {
  const known = openTemporaryDatabase(
    "create table known (collection text, id text, primary key (collection, id)) without rowid",
  );
  const insert = known.prepare("insert into known values (?, ?)");
  const find = known.prepare("select 1 from known where collection = ? and id = ?");
  const isDangling = ({ id, reference }: ReferencedId) => find.get(reference.collection, id) === undefined;
  return {
    targets: references.map(({ collection }) => collection),
    noteTarget: (collection, id) => void insert.run(collection, id),
    violationsOf: ({ attributes }) =>
      referencedIds(attributes, references)
        .filter(isDangling)
        .map(({ at, reference }) => {
          const detail = `is not the id of a resource of ${reference.collection}`;
          return { in: "body", pointer: toFragment(at), code: "reference", detail };
        }),
    close: () => known.close(),
  };
}
