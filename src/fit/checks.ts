/** The ways in which a resource may not fit what is declared of its collection. */
import type { Collection } from "../collection/collection.ts";
import { type Target, targetsOf } from "../collection/refers.ts";
import type { Attributes } from "../collection/resource.ts";
import { clientAttributes, timeFaults } from "../collection/timestamps.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import type { Store } from "../store/store.ts";
import { KnownIds } from "./known-ids.ts";
import { SeenValues } from "./seen-values.ts";

/** Where the resources are read from. */
export type Scannable = Pick<Store, "scan">;

/** What is asked of all resources of a collection, once each, in id order. Close it afterwards. */
export interface Check {
  /** What is wrong with a resource. */
  judge(resource: { id: string; attributes: Attributes }): readonly Violation[];
  close(): void;
}

/** Does it fit the schema, and are the service's own times such as the service writes? */
export function schemaCheck(collection: Collection): Check {
  return {
    judge: ({ attributes }) => [
      ...timeFaults(collection, attributes),
      ...collection.validate(clientAttributes(collection, attributes)),
    ],
    close() {},
  };
}

/** Has it the value of one before it in a unique attribute? */
export function uniqueCheck({ unique }: Collection): Check {
  const seen = new SeenValues();
  return {
    judge: (resource) => unique.flatMap((each, n) => seen.collision(n, each, resource)),
    close: () => seen.close(),
  };
}

/** Does it refer to what is not there? The ids of the collections that it may refer to are read first. */
export async function referenceCheck(store: Scannable, { references }: Collection): Promise<Check> {
  const known = new KnownIds();
  try {
    for (const collection of new Set(references.map((reference) => reference.collection)))
      for await (const { id } of store.scan(collection)) known.add(collection, id);
  } catch (error) {
    known.close();
    throw error;
  }
  const isLost = ({ id, reference }: Target) => !known.has(reference.collection, id);
  return {
    judge: ({ attributes }) => targetsOf(attributes, references).filter(isLost).map(lostViolation),
    close: () => known.close(),
  };
}

function lostViolation({ at, reference }: Target): Violation {
  const detail = `is not the id of a resource of ${reference.collection}`;
  return { in: "body", pointer: toFragment(at), code: "reference", detail };
}
