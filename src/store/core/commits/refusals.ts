/** The reasons why a store refuses a write. All stores use these codes and messages. */
import { Problem, type ProblemCode } from "../../../errors.ts";
import { subjectAt } from "../../../json/pointer.ts";
import { checksumOfResource, damageOf, nameOfResource } from "../checksums.ts";
import type { ResourceState } from "./staged-changes.ts";

/** Why a commit is refused. */
export interface Refusal {
  code: ProblemCode;
  detail: string;
  /** The attribute, as a JSON Pointer in a fragment. */
  pointer?: string;
  /** The index of the change in its commit. */
  change?: number;
  /** The further reasons, if the commit asks for all of them (`Commit.whole`). */
  others?: readonly Refusal[];
}

/** The most reasons why one commit is refused. */
export const maxRefusals = 50;

/** The detail of a violation of a unique attribute. */
export const takenDetail = "repeats the value of another resource";

/** The detail of a violation of a reference. */
export const danglingDetail = "is not the id of an existing resource";

/** A receipt with the key is stored already. */
export const keyReused: Refusal = {
  code: "IDEMPOTENCY_KEY_REUSED",
  detail: "The Idempotency-Key was already used.",
};

/** The store has reached its limit of receipts. */
export const tooManyReceipts: Refusal = {
  code: "UNAVAILABLE",
  detail:
    "The service has reached its limit of stored Idempotency-Keys. Try again later, when some have expired.",
};

/** The version is not the expected one. */
export function staleVersion(id: string, expect: number | "absent", now: ResourceState | undefined): Refusal {
  const current = now === undefined ? "does not exist" : `has version ${now.version}`;
  const expected = expect === "absent" ? "no resource" : `version ${expect}`;
  return {
    code: "PRECONDITION_FAILED",
    detail: `The resource ${JSON.stringify(id)} ${current}, but ${expected} was expected.`,
  };
}

/** Another resource has the value of a unique attribute. */
export function valueTaken(pointer: string, change: number): Refusal {
  return { code: "UNIQUE_VIOLATION", detail: messageAt(pointer, takenDetail), pointer, change };
}

/** A reference to a resource that does not exist. */
export function danglingReference(pointer: string, change: number): Refusal {
  return { code: "REFERENCE_NOT_FOUND", detail: messageAt(pointer, danglingDetail), pointer, change };
}

/** Other resources refer to a deleted one. */
export function stillReferenced(id: string, change: number): Refusal {
  const detail = `Other resources refer to ${JSON.stringify(id)}: delete or change them first.`;
  return { code: "REFERENCED", detail, change };
}

/** A delete would change more resources than the limit. */
export function cascadeTooLarge(id: string, change: number, limit: string): Refusal {
  const detail = `Deleting ${JSON.stringify(id)} would change more than ${limit}. Delete or change some of them first.`;
  return { code: "REFERENCED", detail, change };
}

/** A resource of the commit is deleted, and another resource refers to it. */
export function refersToDeleted(by: string, id: string, change: number): Refusal {
  const detail = `${JSON.stringify(by)} refers to ${JSON.stringify(id)}, which would be deleted.`;
  return { code: "REFERENCED", detail, change };
}

/** A collection does not have the sequence that the commit expects. */
export function collectionChanged(name: string): Refusal {
  return { code: "PRECONDITION_FAILED", detail: `The collection ${name} has changed.` };
}

/** The refusal of a change of a resource that is damaged in the store; `undefined` if it is not. */
export function refuseDamaged(
  collection: string,
  id: string,
  state: ResourceState | undefined,
): Refusal | undefined {
  if (state === undefined || checksumOfResource(collection, { id, ...state }) === state.checksum)
    return undefined;
  return { code: "DATA_DAMAGED", detail: damageOf(nameOfResource(collection, id)) };
}

/** The version of the last delete of a resource is not the one in the change log. */
export function deleteDamaged(collection: string, id: string): Refusal {
  const detail = `The version of the last delete of the resource ${collection}/${id} is damaged in the store. Restore a backup.`;
  return { code: "DATA_DAMAGED", detail };
}

/** The change log lacks the last delete of a resource, so it is not known what a restore would follow. */
export function lastChangeUnknown(collection: string, id: string): Refusal {
  const detail = `The resource ${collection}/${id} cannot be restored: the store kept no history when it was last deleted.`;
  return { code: "UNAVAILABLE", detail };
}

/** The refusal as an error. */
export function problemOf({ code, detail, pointer, change, others }: Refusal): Problem {
  return new Problem(code, detail, { attribute: pointer, change, others: others?.map(problemOf) });
}

function messageAt(pointer: string, detail: string): string {
  return `${subjectAt(pointer, "The resource")} ${detail}.`;
}
