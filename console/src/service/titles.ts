/** The titles of resources that others refer to. All that a page shows are read with one list request for each collection. */
import type { CollectionDetails } from "holdfast-client";
import { useSyncExternalStore } from "react";
import { knownCollection } from "./collections.ts";
import { onChanges } from "./live.ts";
import { propertiesOf, titleNames, titleOf } from "./schema.ts";
import { collectionClient, type Resource } from "./session.ts";

/** The attributes of a collection that can be a title. In an open schema, all of them can exist. */
export function titleFields(info: CollectionDetails | undefined): string[] {
  const properties = Object.keys(propertiesOf(info));
  return properties.length === 0 ? titleNames : titleNames.filter((each) => properties.includes(each));
}

/** How long requests for titles wait for others, in milliseconds. */
const gatherMs = 30;
const most = 100;

const titles = new Map<string, string | undefined>();
const waiting = new Map<string, Set<string>>();
const listeners = new Set<() => void>();

onChanges((changes) => {
  for (const { collection, id } of changes) {
    if (collection === undefined || id === undefined) titles.clear();
    else titles.delete(`${collection}/${id}`);
  }
  for (const listener of listeners) listener();
});

/** The title of a resource; `undefined` until it is known, and if it has none for the caller. */
export function useTitle(collection: string, id: string): string | undefined {
  return useSyncExternalStore(subscribe, () => {
    const key = `${collection}/${id}`;
    if (!titles.has(key)) ask(collection, id);
    return titles.get(key);
  });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function ask(collection: string, id: string): void {
  const ids = waiting.get(collection) ?? new Set<string>();
  if (waiting.size === 0) setTimeout(() => void readAll(), gatherMs);
  waiting.set(collection, ids.add(id));
}

async function readAll(): Promise<void> {
  const asked = [...waiting];
  waiting.clear();
  await Promise.all(
    asked.map(async ([collection, ids]) => {
      for (const id of ids) titles.set(`${collection}/${id}`, undefined);
      const fields = titleFields(knownCollection(collection));
      if (fields.length === 0) return;
      const list = [...ids];
      for (let at = 0; at < list.length; at += most)
        await read(collection, fields, list.slice(at, at + most));
    }),
  );
  for (const listener of listeners) listener();
}

async function read(collection: string, fields: readonly string[], ids: readonly string[]): Promise<void> {
  try {
    const filter = { id: ids };
    const list = collectionClient(collection).list({ filter, fields, limit: most } as object);
    const { items } = await list.page();
    for (const item of items as unknown as Resource[]) titles.set(`${collection}/${item.id}`, titleOf(item));
  } catch {
    // The ids are shown instead.
  }
}
