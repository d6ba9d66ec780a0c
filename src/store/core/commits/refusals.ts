/** The reasons why a store refuses a write. All stores use these codes and messages. */
import { Problem, type ProblemCode, type Violation } from "../../../errors.ts";
import { subjectAt } from "../../../json/pointer.ts";
import { checksumOfResource, damageOf, nameOfResource } from "../checksums.ts";
import { WorkInProgress } from "../loads.ts";
import type { Taken } from "./constraints.ts";
import type { ResourceState } from "./staged-changes.ts";

/** Why a commit is refused. */
export interface Refusal {
  code: ProblemCode;
  detail: string;
  /** The attributes, as JSON Pointers in fragments. */
  pointers?: readonly string[];
  /** The id of the resource that has the unique value. */
  holder?: string;
  /** The index of the change in its commit. */
  change?: number;
  /** Whether it is a `WorkInProgress`. @default false */
  isInProgress?: true;
  /** The further reasons, if the commit asks for all of them (`Commit.whole`). */
  others?: readonly Refusal[];
}

/** The refusal of work that has to wait for an import or exclusive work. */
export const workInProgress: Refusal = {
  code: "UNAVAILABLE",
  detail: new WorkInProgress().message,
  isInProgress: true,
};

/** The most reasons why one commit is refused. */
export const maxRefusals = 50;

/** The detail of a violation of a unique attribute. `others`: the pointers to the other attributes of a combination. */
export function takenDetail(others: readonly string[] = [], whose = "another resource"): string {
  const names = others.map((pointer) => subjectAt(pointer, "the resource"));
  const together = names.length === 0 ? "" : `, together with ${enumerate(names)}`;
  return `repeats the value of ${whose}${together}`;
}

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

/** A related resource is not as the change requires it. The caller decides again, and finds out why. */
export function requirementNotMet(change: number): Refusal {
  return { code: "PRECONDITION_FAILED", detail: "A related resource has changed in the meantime.", change };
}

/** A violation for each attribute of a unique value. */
export function takenViolations(pointers: readonly string[]): Violation[] {
  return pointers.map((pointer) => {
    const detail = takenDetail(pointers.filter((each) => each !== pointer));
    return { in: "body", pointer, code: "unique", detail };
  });
}

/** Another resource has the value of a unique attribute. */
export function valueTaken({ pointers, holder }: Taken, change: number): Refusal {
  return { code: "UNIQUE_VIOLATION", detail: takenMessage(pointers), pointers, holder, change };
}

/** The message about a value, or a combination of values, that another resource has. */
export function takenMessage(pointers: readonly string[]): string {
  const [first = "#", ...others] = pointers;
  if (others.length === 0) return messageAt(first, takenDetail());
  return `${enumerate(pointers.map((pointer) => subjectAt(pointer, "The resource")))} repeat the values of another resource.`;
}

/** Without a reference to a deleted resource, another resource would have a unique value that exists already. */
export function valueTakenByClearing(id: string, change: number): Refusal {
  const detail = `Deleting ${JSON.stringify(id)} would clear references to it, and then two resources would have the same value in a unique attribute. Delete or change one of them first.`;
  return { code: "REFERENCED", detail, change };
}

/** A reference to a resource that does not exist. */
export function danglingReference(pointer: string, change: number): Refusal {
  const detail = messageAt(pointer, danglingDetail);
  return { code: "REFERENCE_NOT_FOUND", detail, pointers: [pointer], change };
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

/** An earlier step of the commit changes or deletes the resource too. */
export function changedByStep(id: string, change: number): Refusal {
  const detail = `The end of another resource in the same request changes or deletes ${JSON.stringify(id)}. Change it in a request of its own.`;
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

/** The refusal as an error. */
export function problemOf({
  code,
  detail,
  pointers,
  holder,
  change,
  others,
  isInProgress,
}: Refusal): Problem {
  if (isInProgress === true) return new WorkInProgress();
  return new Problem(code, detail, {
    attributes: pointers,
    takenBy: holder,
    change,
    others: others?.map(problemOf),
  });
}

function messageAt(pointer: string, detail: string): string {
  return `${subjectAt(pointer, "The resource")} ${detail}.`;
}

/** `a, b and c`. */
function enumerate(texts: readonly string[]): string {
  const [last = "", ...before] = texts.toReversed();
  return before.length === 0 ? last : `${before.toReversed().join(", ")} and ${last}`;
}
