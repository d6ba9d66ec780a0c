/** Creates resources, and in open mode their collections. */
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { isInternal, withoutInternal } from "../../store/internal.ts";
import { recordOf } from "../../store/record.ts";
import { targetValidators } from "../lists/lists.ts";
import type { OperationOf } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requirePreconditions } from "../protocol/conditional.ts";
import { readObject } from "../protocol/content.ts";
import type { Service } from "../service.ts";
import { inTime, type Write } from "./commit.ts";
import { decideCreate } from "./decide.ts";
import { planFor, runWrite, type WriteSteps } from "./write.ts";

type Create = OperationOf<"create">;

/** Creates a resource. Throws the problems of preconditions and content, and the store's. */
export function create(write: Write<Create>): Promise<Result> {
  return runWrite(steps, write);
}

const steps: WriteSteps<Create, true, Record<string, unknown>> = {
  find: requireCollectionPreconditions,
  read: ({ service, request }) => readObject(request, service.settings.limits),
  resources: () => [],
  decide: async (write, _, content) => {
    const { service, operation } = write;
    const { collection, caller } = operation;
    const at = service.now();
    const textFor = decideCreate(collection, content, { at, subject: caller.principal?.subject });
    await requireCollection(service, collection);
    const id = await newId(service, collection);
    const key = { collection: collection.name, id };
    return planFor(write, { key, current: undefined, next: textFor(id), at });
  },
};

/** RFC 9110 §13.1.1: the preconditions of a POST are about its target, the collection. */
async function requireCollectionPreconditions({ service, operation, request }: Write<Create>): Promise<true> {
  const { headers } = request;
  if (headers["if-match"] !== undefined || headers["if-none-match"] !== undefined)
    requirePreconditions(headers, await targetValidators(service, operation));
  return true;
}

/** Creates the collection if it does not exist yet, as in open mode. Throws TOO_MANY_COLLECTIONS. */
export async function requireCollection(service: Service, collection: Collection): Promise<void> {
  if (service.store.collections().has(collection.name)) return;
  // One at a time, so that simultaneous creates keep to the limit. No resource has this name.
  await service.writes.run("collections", () => makeCollection(service, collection));
}

async function makeCollection(service: Service, collection: Collection): Promise<void> {
  const collections = service.store.collections();
  if (collections.has(collection.name)) return;
  if (isInternal(collection.name)) return service.webhooks?.prepare();
  const limit = service.settings.limits.collections;
  if (withoutInternal(collections.keys()).length >= limit) {
    throw new Problem(
      "TOO_MANY_COLLECTIONS",
      `A new collection would exceed the limit of ${limit} collections.`,
    );
  }
  await inTime(service, service.store.migrate([recordOf(collection)]));
}

async function newId(service: Service, { name, idKind }: Collection): Promise<string> {
  return idKind === "uuid"
    ? service.newUuid()
    : String(await inTime(service, service.store.reserveIds(name, 1)));
}
