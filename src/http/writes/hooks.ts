/** Gives the hooks of a collection (`WriteHooks`) their part in a write: they complete what it proposes, and judge its next state. */
import type { Collection } from "../../collection/collection.ts";
import type { HookedWrite, HooksOfRequest } from "../../collection/write-hooks.ts";
import type { Caller } from "../caller/admit.ts";
import type { Data } from "../service.ts";
import type { CollectionWrite, Write } from "./commit.ts";
import type { Proposed } from "./decide.ts";

/** What a write does with one resource. */
export type HookedChange = Pick<HookedWrite, "operation" | "id" | "previous" | "now">;

/** The proposal as the hooks of its collection complete it. Throws what they throw. */
export async function completed(
  write: Write<CollectionWrite>,
  proposed: Proposed,
  change: HookedChange,
): Promise<Proposed> {
  const complete = write.service.hooks?.of(proposed.collection.name)?.complete;
  if (complete === undefined) return proposed;
  return { ...proposed, attributes: await complete(hooked(write, change), proposed.attributes) };
}

/** Lets the hooks of the collection judge the next text of a resource, or the text that a delete removes. Throws what they throw. */
export async function requireValidated(
  write: Write<CollectionWrite>,
  text: string,
  change: HookedChange,
): Promise<void> {
  const validate = write.service.hooks?.of(write.operation.collection.name)?.validate;
  if (validate !== undefined) await validate(hooked(write, change), text);
}

/** Whether the hooks of a collection can store something else than what a client has sent. */
export function changesWrites({ service, operation }: Write<CollectionWrite>): boolean {
  return service.hooks?.of(operation.collection.name)?.complete !== undefined;
}

/**
 * The hooks of a collection for a request or a task that writes many resources without the access rules, such as an import; `undefined` if
 * the collection has none. `id`: that of the request or the task.
 */
export function hooksForMany(
  service: Pick<Data, "hooks"> & { store: Pick<Data["store"], "read"> },
  collection: Collection,
  { id, caller, now }: { id: string; caller: Caller; now: number },
): HooksOfRequest | undefined {
  const hooks = service.hooks?.of(collection.name);
  if (hooks === undefined) return undefined;
  return {
    hooks,
    write: {
      collection,
      canRead: true,
      caller: caller.principal,
      now,
      // Each resource has as much time as a request of its own.
      get request() {
        return { id };
      },
      read: async (key) => (await service.store.read(key))?.text,
    },
  };
}

function hooked({ service, operation, request }: Write<CollectionWrite>, change: HookedChange): HookedWrite {
  const { collection, guard, caller } = operation;
  return {
    ...change,
    collection,
    canRead: guard.canRead,
    caller: caller.principal,
    request,
    read: async (key) => (await service.store.read(key))?.text,
  };
}
