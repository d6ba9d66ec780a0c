/** Writes by a unique key: replaces or creates, patches or deletes the resource that has the values of the key. */
import type { Judged } from "../../access/access.ts";
import { pathsOf } from "../../collection/unique.ts";
import { Problem } from "../../errors.ts";
import { toFragment } from "../../json/pointer.ts";
import { hasKey, requireKey } from "../../query/unique-keys.ts";
import type { Stored } from "../../store/port/stored.ts";
import { currentOf } from "../caller/judged.ts";
import type { WriteByKey } from "../operations/operation.ts";
import { notFound, type Result } from "../operations/result.ts";
import { readObject, requireWhole } from "../protocol/content.ts";
import { change } from "./change.ts";
import { overtaken, type Write } from "./commit.ts";
import { decideNew } from "./create.ts";
import { runWrite, untilCommitted, type WriteSteps } from "./write.ts";

/**
 * Carries out a write by a unique key. A PUT creates the resource if none has the key. If another write creates it first, the PUT
 * changes that one. Throws the problems of a change or a create, UNIQUE_VIOLATION if the caller cannot see the resource that has the
 * key, and UNAVAILABLE if other writes come first until the time for a request is over.
 */
export function writeByKey(write: Write<WriteByKey>): Promise<Result> {
  const { service, operation } = write;
  const { kind, guard } = operation;
  return untilCommitted(service, async () => {
    const holder = await holderOf(write);
    if (holder !== undefined && guard.sees(holder)) {
      const result = await change({ ...write, operation: { ...operation, id: holder.id } });
      return result.kind === "not found" ? overtaken : result; // it has other values by now, or it is deleted
    }
    if (kind !== "replace") return notFound;
    try {
      return await runWrite(steps, write);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "UNIQUE_VIOLATION") throw error;
      if (error.takenBy !== undefined && (await canBeHolder(write, error, error.takenBy))) return overtaken;
      throw error;
    }
  });
}

/**
 * Whether another attempt can succeed although a resource had a unique value of the content: it has got the key in the meantime, or
 * has gone or changed again. Otherwise it has another value of the content, or the caller cannot see it.
 */
async function canBeHolder(
  { service, operation }: Write<WriteByKey>,
  { attributes }: Problem,
  id: string,
): Promise<boolean> {
  const { collection, key, guard } = operation;
  const found = await currentOf(service, guard, { collection: collection.name, id });
  if (found === undefined) return true;
  const pointers = pathsOf(key.unique).map(toFragment);
  const isAboutKey = attributes.every((pointer) => pointers.includes(pointer));
  const resource = JSON.parse(found.text) as Record<string, unknown>;
  return guard.sees(found) && (isAboutKey || hasKey(resource, key));
}

async function holderOf({ service, operation }: Write<WriteByKey>): Promise<(Stored & Judged) | undefined> {
  const { store, expired } = service;
  const { collection, key, guard } = operation;
  const id = await store.holder(collection.name, key.unique, key.value);
  const holder =
    id === undefined ? undefined : await currentOf(service, guard, { collection: collection.name, id });
  // The store hides what has expired, but not what an earlier operation of a batch has made.
  return holder !== undefined && expired.isOver(collection.name, holder.text) ? undefined : holder;
}

/** The steps of a PUT that creates the resource. */
const steps: WriteSteps<WriteByKey, true, Record<string, unknown>> = {
  find: async ({ operation: { guard }, request }) => {
    if (!guard.can("create")) throw guard.denied("create");
    if (request.headers["if-match"] !== undefined)
      throw new Problem("PRECONDITION_FAILED", "A precondition is not met: no resource has this unique key.");
    return true;
  },
  read: async ({ service, operation, request }) => {
    requireWhole(request);
    const content = await readObject(request, service.settings.limits);
    requireKey(content, operation.key);
    return content;
  },
  resources: () => [],
  decide: (write, _, content) => decideNew(write, content, { isPut: true }),
};
