/** What the service says about its collections. */
import { useQuery } from "@tanstack/react-query";
import type { CollectionDetails } from "holdfast-client";
import { useEffect } from "react";
import { type Change, onChanges } from "./live.ts";
import { queries } from "./queries.ts";
import { client } from "./session.ts";

/** The key of the query, for those who know that the collections have changed. */
export const collectionsKey = ["collections"];

/** The collections that the caller can list, by name. With `everyMs`, they are read again after each such time. */
export function useCollections({ everyMs }: { everyMs?: number } = {}) {
  return useQuery({
    refetchInterval: everyMs ?? false,
    queryKey: collectionsKey,
    queryFn: ({ signal }) => client.$collectionDetails({ signal }),
    staleTime: 10_000,
  });
}

/** One collection; `undefined` until it is known, and if the caller cannot list it. */
export function useCollection(name: string): CollectionDetails | undefined {
  return useCollections().data?.find((each) => each.name === name);
}

/** What was last read about a collection. */
export function knownCollection(name: string): CollectionDetails | undefined {
  return queries
    .getQueryData<readonly CollectionDetails[]>(collectionsKey)
    ?.find((each) => each.name === name);
}

/** The collections after changes: creates and deletes count. */
function countChanges(
  all: readonly CollectionDetails[],
  changes: readonly Change[],
): readonly CollectionDetails[] {
  const by = new Map<string | undefined, number>();
  for (const { collection, isCreated, isDeleted } of changes)
    by.set(collection, (by.get(collection) ?? 0) + (isCreated ? 1 : isDeleted ? -1 : 0));
  return all.map((each) => {
    const more = by.get(each.name) ?? 0;
    return each.count === undefined || more === 0 ? each : { ...each, count: Math.max(0, each.count + more) };
  });
}

/** How long the counts are estimated before they are read again, in milliseconds. */
const trueUpMs = 5_000;
/** The wait before a new collection is read. */
const newMs = 300;

/** Lets the counts follow the changes of the service: at once by what happened, and soon by one request. */
export function useLiveCounts(): void {
  useEffect(() => {
    let timer: { at: number; end: ReturnType<typeof setTimeout> } | undefined;
    const readAfter = (ms: number) => {
      const at = Date.now() + ms;
      if (timer !== undefined && timer.at <= at) return;
      clearTimeout(timer?.end);
      const read = () => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: collectionsKey });
      };
      timer = { at, end: setTimeout(read, ms) };
    };
    const end = onChanges((changes) => {
      const all = queries.getQueryData<readonly CollectionDetails[]>(collectionsKey);
      const isNew = changes.some(({ collection }) => !all?.some(({ name }) => name === collection));
      if (all !== undefined) queries.setQueryData(collectionsKey, countChanges(all, changes));
      if (isNew) readAfter(newMs);
      else if (changes.some((each) => each.isCreated || each.isDeleted)) readAfter(trueUpMs);
    });
    return () => {
      clearTimeout(timer?.end);
      end();
    };
  }, []);
}
