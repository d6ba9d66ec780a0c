/** The changes of a resource, page by page, and its earlier versions. */
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ResourceChange } from "holdfast-client";
import { useCallback, useEffect, useRef, useState } from "react";
import { collectionClient, notice, type Resource } from "../service/session.ts";
import { diffAttributes } from "./differences.ts";
import type { Attributes } from "./draft.ts";

/** How many changes are read at a time. */
const pageSize = 20;

interface State {
  changes: readonly ResourceChange[];
  hasMore: boolean;
  isLoading: boolean;
  error: unknown;
}

/** The changes, newest first. Another `latest` reads them again. */
export function useHistory(collection: string, id: string, latest: string) {
  const [state, setState] = useState<State>({
    changes: [],
    hasMore: false,
    isLoading: true,
    error: undefined,
  });
  const pages = useRef<AsyncGenerator<{ items: ResourceChange[]; limit: number | undefined }>>(undefined);
  const wanted = useRef(1);
  const read = useCallback(async (isStart: boolean, signal: AbortSignal) => {
    const own = pages.current;
    if (own === undefined) return;
    try {
      const items: ResourceChange[] = [];
      let isDone = false;
      for (let n = 0; n < (isStart ? wanted.current : 1) && !isDone; n++) {
        const { value, done } = await own.next();
        items.push(...(value?.items ?? []));
        isDone = done === true || value.items.length < Math.min(pageSize, value.limit ?? pageSize);
      }
      if (signal.aborted) return;
      setState((before) => ({
        changes: isStart ? items : [...before.changes, ...items],
        hasMore: !isDone,
        isLoading: false,
        error: undefined,
      }));
    } catch (error) {
      if (signal.aborted) return;
      notice(error);
      setState((before) => ({ ...before, isLoading: false, hasMore: false, error }));
    }
  }, []);
  const stop = useRef(new AbortController());
  // biome-ignore lint/correctness/useExhaustiveDependencies: another latest version has another history
  useEffect(() => {
    const controller = new AbortController();
    stop.current = controller;
    pages.current = collectionClient(collection)
      .history(id, { limit: pageSize, signal: controller.signal })
      .pages();
    void read(true, controller.signal);
    return () => controller.abort();
  }, [collection, id, latest, read]);
  const loadMore = () => {
    wanted.current++;
    void read(false, stop.current.signal);
  };
  return { ...state, loadMore };
}

/** The attributes of a version, which never change. */
export function useVersion(collection: string, id: string, version: number, isNeeded: boolean) {
  return useQuery({ ...versionQuery(collection, id, version), enabled: isNeeded && version > 0 });
}

function versionQuery(collection: string, id: string, version: number) {
  return queryOptions({
    queryKey: ["version", collection, id, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Attributes> =>
      (await collectionClient(collection).get(id, { version, signal })) as Resource,
  });
}

/** A version that brought a deleted resource back, and the versions before the delete, newest first. */
export interface Restore {
  version: number;
  earlier: readonly number[];
}

/** How many earlier versions are compared with a restored one. */
const mostCompared = 10;

/** The restored version: the newest one with the same attributes. `undefined` until it is found, and if none of the newest has them. */
export function useRestoredFrom(
  collection: string,
  id: string,
  restore: Restore | undefined,
  hidden: readonly string[],
): number | undefined {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ["restored from", collection, id, restore?.version],
    enabled: restore !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<number | null> => {
      const read = (version: number) => queries.fetchQuery(versionQuery(collection, id, version));
      const { version, earlier } = restore as Restore;
      const own = await read(version);
      for (const each of earlier.slice(0, mostCompared)) {
        const differences = diffAttributes(await read(each), own);
        if (differences.every(({ name }) => hidden.includes(name))) return each;
      }
      return null;
    },
  });
  return data ?? undefined;
}
