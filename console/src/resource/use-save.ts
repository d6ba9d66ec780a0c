/** Saves an edit. Every write has the ETag of the version that it is based on. */
import { ConflictError, NotFoundError } from "holdfast-client";
import { type Refusal, refusalOf } from "../service/errors.ts";
import { collectionClient, notice, type Resource } from "../service/session.ts";
import { type Attributes, patchOf } from "./edit.ts";

/** What has become of a save. */
export type Outcome =
  | { kind: "saved"; resource: Resource }
  | { kind: "conflict"; theirs: Resource }
  | { kind: "deleted" }
  | { kind: "refused"; refusal: Refusal };

/** Changes a resource that is based on the version with this ETag. */
export async function saveChanges(
  collection: string,
  id: string,
  { base, etag, mine }: { base: Attributes; etag: string; mine: Attributes },
): Promise<Outcome> {
  const resources = collectionClient(collection);
  try {
    return {
      kind: "saved",
      resource: (await resources.patch(id, patchOf(base, mine), { ifMatch: etag })) as Resource,
    };
  } catch (error) {
    if (error instanceof ConflictError) return await conflictOf(collection, id, error);
    return refusedOf(error);
  }
}

async function conflictOf(collection: string, id: string, { current }: ConflictError): Promise<Outcome> {
  if (current !== undefined) return { kind: "conflict", theirs: current as Resource };
  try {
    return { kind: "conflict", theirs: (await collectionClient(collection).get(id)) as Resource };
  } catch (error) {
    return refusedOf(error);
  }
}

/** Creates a resource, with this id if the user has chosen one. */
export async function createResource(
  collection: string,
  mine: Attributes,
  id: string | undefined,
): Promise<Outcome> {
  try {
    const options = id === undefined ? {} : { id };
    return {
      kind: "saved",
      resource: (await collectionClient(collection).create(mine, options)) as Resource,
    };
  } catch (error) {
    const outcome = refusedOf(error);
    return outcome.kind === "deleted" ? { kind: "refused", refusal: refusalOf(error) } : outcome;
  }
}

function refusedOf(error: unknown): Outcome {
  if (error instanceof NotFoundError) return { kind: "deleted" };
  notice(error);
  return { kind: "refused", refusal: refusalOf(error) };
}
