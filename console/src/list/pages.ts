/** The pages of a list that the table shows, one after the other. Changes are put in where they belong. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { changedNames } from "../resource/edit.ts";
import { knownCollection } from "../service/collections.ts";
import { type Change, useChanges } from "../service/live.ts";
import { queries, type Rest, readNext } from "../service/queries.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { readListQuery } from "./list-query.ts";

/** Changes that arrive within this time cause one request, in milliseconds. */
const settleMs = 300;
/** How long a change is marked, in milliseconds. The style sheet has the same time. */
const freshMs = 4_000;
/** The most changed resources that are read one by one. After more, the list is read again. */
const mostChanged = 50;
/** The most pages that are read again. */
const mostPages = 5;

/** What the table shows. */
export type Pages = ReturnType<typeof usePages>;

const none: ReadonlySet<string> = new Set();

/** What has changed since the list was read. */
interface Since {
  /** The first page of the read list. */
  first: object | undefined;
  /** The changed resources by id; `undefined` for those that left the list. */
  changed: ReadonlyMap<string, Resource | undefined>;
  /** The ids of the resources that changed a moment ago. */
  fresh: ReadonlySet<string>;
  /** How many resources are new. */
  news: number;
}

const unchanged: Since = { first: undefined, changed: new Map(), fresh: none, news: 0 };

/** Whether changed resources may have another place: one of them has another value of an attribute that the list is sorted by. */
function isMoved(
  { collection, query }: { collection: string; query: string },
  shown: ReadonlyMap<string, Resource>,
  found: readonly Resource[],
): boolean {
  const { sort } = readListQuery(query); // without a sort, the order of ids never changes
  const relations = new Map(
    knownCollection(collection)?.relations.map((each) => [each.name, each.attribute]),
  );
  const names = new Set(
    sort.flatMap(({ name }) => {
      const [first = name] = name.split(".");
      return [first, relations.get(first) ?? first];
    }),
  );
  return found.some((each) => {
    const old = shown.get(String(each.id));
    return old !== undefined && changedNames(old, each).some((name) => names.has(name));
  });
}

/** Reads the pages of a list, and follows its changes. `isAtTop` says whether new rows would be in view. */
export function usePages(collection: string, query: string, isAtTop: () => boolean) {
  const { data, error, isPending, isFetching, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ["list", collection, query],
    initialPageParam: undefined as Rest<Resource> | undefined,
    queryFn: ({ pageParam, signal }) =>
      readNext(pageParam ?? (collectionClient(collection).list({ query, signal }).pages() as never)),
    // Pages of large resources end early, so only an empty page is the last one.
    getNextPageParam: ({ items, rest }) => (items.length === 0 ? undefined : rest),
    structuralSharing: false, // a copy would have no ETag
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const first = data?.pages[0];
  const [since, setSince] = useState(unchanged);
  const { changed, fresh, news } = since.first === first ? since : unchanged;
  const items = useMemo(() => {
    const read = (data?.pages ?? []).flatMap((page) => page.items);
    return changed.size === 0
      ? read
      : read.flatMap((each) => {
          const id = String(each.id);
          return changed.has(id) ? (changed.get(id) ?? []) : each;
        });
  }, [data, changed]);
  const latest = useRef({ data, items });
  latest.current = { data, items };

  const reread = useCallback(
    async (most: number, fresh: ReadonlySet<string>) => {
      const { data: before } = latest.current;
      if (before !== undefined && before.pages.length > most)
        queries.setQueryData(["list", collection, query], {
          pages: before.pages.slice(0, most),
          pageParams: before.pageParams.slice(0, most),
        });
      const { data: after } = await refetch();
      setSince({ ...unchanged, first: after?.pages[0], fresh });
    },
    [collection, query, refetch],
  );

  useEffect(() => {
    if (since.fresh.size === 0) return;
    const timer = setTimeout(() => setSince((before) => ({ ...before, fresh: none })), freshMs);
    return () => clearTimeout(timer);
  }, [since.fresh]);

  const follow = useCallback(
    async (changes: readonly Change[]) => {
      const ids = new Set(changes.flatMap(({ id }) => id ?? []));
      const isUnknown = changes.some(({ id }) => id === undefined) || /(^|&)id(%3A|:|=)/.test(query);
      if (isUnknown || ids.size > mostChanged) return reread(mostPages, isAtTop() ? ids : none);
      const start = latest.current.data?.pages[0];
      const only = [...ids].map((id) => `id=${encodeURIComponent(id)}`).join("&");
      try {
        const list = collectionClient(collection).list({ query: query === "" ? only : `${query}&${only}` });
        const found = (await list.page()).items as unknown as Resource[];
        if (start !== latest.current.data?.pages[0]) return;
        const shown = new Map(latest.current.items.map((each) => [String(each.id), each]));
        const more = found.filter(({ id }) => !shown.has(String(id))).length;
        if ((more > 0 && isAtTop()) || isMoved({ collection, query }, shown, found))
          return reread(mostPages, ids);
        const now = new Map(found.map((each) => [String(each.id), each]));
        setSince(({ first, changed, news }) => ({
          first: start,
          changed: new Map([
            ...(first === start ? changed : []),
            ...[...ids].map((id) => [id, now.get(id)] as const),
          ]),
          fresh: ids,
          news: (first === start ? news : 0) + more,
        }));
      } catch {
        void reread(mostPages, ids);
      }
    },
    [collection, query, reread, isAtTop],
  );

  const waiting = useRef<{ changes: Change[]; timer?: ReturnType<typeof setTimeout> }>({ changes: [] });
  useEffect(() => () => clearTimeout(waiting.current.timer), []);
  useChanges(
    collection,
    useCallback(
      (changes) => {
        const { current } = waiting;
        current.changes.push(...changes);
        current.timer ??= setTimeout(() => {
          waiting.current = { changes: [] };
          void follow(current.changes);
        }, settleMs);
      },
      [follow],
    ),
  );

  return {
    items,
    total: first?.total,
    isLoading: isPending,
    error,
    hasMore: hasNextPage,
    fresh,
    news,
    loadMore: () => {
      if (!isFetching) void fetchNextPage();
    },
    refresh: () => void reread(mostPages, none),
    /** Reads the list from its start. */
    restart: () => void reread(1, none),
  };
}
