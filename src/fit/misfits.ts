/** Finds the stored resources that do not fit the declaration of their collection, and describes what is wrong. */
import type { Collection } from "../collection/collection.ts";
import { reservedIdViolations } from "../collection/ids.ts";
import { type ReferencedId, referencedIds } from "../collection/references.ts";
import { type Attributes, withoutId } from "../collection/resource.ts";
import { clientAttributes, timestampViolations } from "../collection/timestamps.ts";
import { uniqueValue } from "../collection/unique.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { openTemporaryDatabase } from "../store/core/temporary-database.ts";
import type { Store } from "../store/port/store.ts";

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

type Scannable = Pick<Store, "scan">;

interface StoredResource {
  id: string;
  attributes: Attributes;
}

/** A check of every resource of a collection, once each. */
interface Check {
  violationsOf(resource: StoredResource): readonly Violation[];
  close(): void;
}

interface Finding<Name extends AnyCheckName> extends Misfits {
  name: Name;
  check: Check;
  first: { id: string; violations: readonly Violation[] }[];
}

/** Reads every resource of a collection once. Returns the result of each check that the declaration needs. */
export async function findMisfits<Name extends AnyCheckName>(
  store: Scannable,
  collection: Collection,
  { names, maxListed }: { names: readonly Name[]; maxListed: number },
): Promise<ReadonlyMap<Name, Misfits>> {
  const findings: Finding<Name>[] = [];
  try {
    for (const name of names.filter((each) => isNeeded(collection, each))) {
      const check = await openCheck[name](collection, store);
      findings.push({ name, check, checked: 0, count: 0, first: [] });
    }
    for await (const { id, text } of findings.length === 0 ? [] : store.scan(collection.name)) {
      const attributes = withoutId(JSON.parse(text) as Record<string, unknown>);
      for (const finding of findings) {
        finding.checked++;
        const violations = finding.check.violationsOf({ id, attributes });
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
const openCheck: Record<AnyCheckName, (collection: Collection, store: Scannable) => Check | Promise<Check>> =
  {
    schema: (collection) => ({
      violationsOf: ({ attributes }) => [
        ...timestampViolations(collection, attributes),
        ...collection.validate(clientAttributes(collection, attributes)),
      ],
      close() {},
    }),
    ids: () => ({ violationsOf: ({ id }) => reservedIdViolations(id), close() {} }),
    unique: openUniqueCheck,
    references: openReferenceCheck,
  };

/** Finds values of unique attributes that an earlier resource has. */
function openUniqueCheck({ unique }: Collection): Check {
  const seen = openTemporaryDatabase(
    "create table seen (attribute integer, value text, id text, primary key (attribute, value)) without rowid",
  );
  const insert = seen.prepare("insert into seen values (?, ?, ?) on conflict do nothing");
  const find = seen.prepare("select id from seen where attribute = ? and value = ?");
  return {
    violationsOf: ({ id, attributes }) =>
      unique.flatMap((each, n) => {
        const value = uniqueValue(attributes, each);
        if (value === undefined || insert.run(n, value, id).changes === 1) return [];
        const detail = `repeats the value of ${JSON.stringify(String(find.get(n, value)?.id))}`;
        return [{ in: "body", pointer: toFragment(each.path), code: "unique", detail }];
      }),
    close: () => seen.close(),
  };
}

/** Finds references to resources that do not exist. First reads all ids of the collections that they refer to. */
async function openReferenceCheck({ references }: Collection, store: Scannable): Promise<Check> {
  const known = openTemporaryDatabase(
    "create table known (collection text, id text, primary key (collection, id)) without rowid",
  );
  try {
    const insert = known.prepare("insert into known values (?, ?)");
    for (const collection of new Set(references.map((reference) => reference.collection)))
      for await (const { id } of store.scan(collection)) insert.run(collection, id);
  } catch (error) {
    known.close();
    throw error;
  }
  const find = known.prepare("select 1 from known where collection = ? and id = ?");
  const isDangling = ({ id, reference }: ReferencedId) => find.get(reference.collection, id) === undefined;
  return {
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
