/** The pages of a list that the table shows, one after the other. Changes are put in where they belong. */
import { useCallback, useEffect, useRef, useState } from "react";
import { changedNames } from "../resource/edit.ts";
import { type Change, useChanges } from "../service/live.ts";
import { collectionClient, notice, type Resource } from "../service/session.ts";

/** The most resources of one request. */
const pageSize = 100;
/** Changes that arrive within this time cause one request, in milliseconds. */
const settleMs = 300;
/** How long a change is marked, in milliseconds. The style sheet has the same time. */
const freshMs = 4_000;
/** The most changed resources that are read one by one. After more, the list is read again. */
const mostChanged = 50;
/** The most pages that are read again. */
const mostPages = 5;

/** What the table shows. */
export interface Pages extends State {
  loadMore(): void;
  refresh(): void;
  /** Reads the list from its start. */
  restart(): void;
}

interface State {
  items: readonly Resource[];
  total: number | undefined;
  isLoading: boolean;
  error: unknown;
  /** The ids of the resources that changed while they were shown. */
  fresh: ReadonlySet<string>;
  hasMore: boolean;
  /** How many resources are new since the list was read. */
  news: number;
}

const none: ReadonlySet<string> = new Set();
const empty: State = {
  items: [],
  total: undefined,
  isLoading: true,
  error: undefined,
  fresh: none,
  hasMore: false,
  news: 0,
};

interface Page {
  items: Resource[];
  total: number | undefined;
  limit: number | undefined;
}

interface Reader {
  read: AsyncGenerator<Page, void, undefined>;
  stop: AbortController;
  isBusy: boolean;
  pages: number;
}

/** Puts changed resources in. `found` are those of the changed ones that the list has. */
function mergeChanges(
  items: readonly Resource[],
  changed: ReadonlySet<string>,
  found: readonly Resource[],
) {
  const now = new Map(found.map((each) => [String(each.id), each]));
  const shown = new Set(items.map(({ id }) => String(id)));
  return {
    items: items.flatMap((each) => {
      const id = String(each.id);
      return changed.has(id) ? (now.get(id) ?? []) : each;
    }),
    news: found.filter(({ id }) => !shown.has(String(id))).length,
  };
}

/** Whether changed resources may have another place: one of them has another value of an attribute that the list is sorted by. */
function isMoved(query: string, shown: readonly Resource[], found: readonly Resource[]): boolean {
  const sort = new URLSearchParams(query).get("sort");
  if (sort === null) return false; // the order of ids never changes
  const names = new Set(sort.split(",").map((key) => key.replace(/^[+ -]/, "").split(".")[0]));
  const before = new Map(shown.map((each) => [String(each.id), each]));
  return found.some((each) => {
    const old = before.get(String(each.id));
    return old !== undefined && changedNames(old, each).some((name) => names.has(name));
  });
}

/** Reads the pages of a list, and follows its changes. `isAtTop` says whether new rows would be in view. */
export function usePages(collection: string, query: string, isAtTop: () => boolean): Pages {
  const [state, setState] = useState<State>(empty);
  const reader = useRef<Reader>(undefined);
  const latest = useRef(state);
  latest.current = state;

  const start = useCallback(
    async (pages: number, fresh: ReadonlySet<string>) => {
      reader.current?.stop.abort();
      const stop = new AbortController();
      const list = collectionClient(collection).list({ query, limit: pageSize, signal: stop.signal });
      const mine: Reader = { read: list.pages() as never, isBusy: true, stop, pages: 0 };
      reader.current = mine;
      try {
        const items: Resource[] = [];
        let total: number | undefined;
        let isDone = false;
        while (mine.pages < pages && !isDone) {
          const { value } = await mine.read.next();
          items.push(...(value?.items ?? []));
          total ??= value?.total;
          mine.pages++;
          isDone = value === undefined || isLast(value);
        }
        if (!stop.signal.aborted)
          setState({ ...empty, items, total, isLoading: false, fresh, hasMore: !isDone });
      } catch (error) {
        if (stop.signal.aborted) return;
        notice(error);
        setState({ ...empty, isLoading: false, error });
      } finally {
        mine.isBusy = false;
      }
    },
    [collection, query],
  );
  const refresh = useCallback(
    (fresh = none) => start(Math.min(mostPages, Math.max(1, reader.current?.pages ?? 1)), fresh),
    [start],
  );

  useEffect(() => {
    setState(empty);
    void start(1, none);
    return () => reader.current?.stop.abort();
  }, [start]);

  useEffect(() => {
    if (state.fresh.size === 0) return;
    const timer = setTimeout(() => setState((before) => ({ ...before, fresh: none })), freshMs);
    return () => clearTimeout(timer);
  }, [state.fresh]);

  const follow = useCallback(
    async (changes: readonly Change[]) => {
      const ids = new Set(changes.flatMap(({ id }) => id ?? []));
      const isUnknown = changes.some(({ id }) => id === undefined) || /(^|&)id(%3A|:|=)/.test(query);
      if (isUnknown || ids.size > mostChanged) return isAtTop() ? refresh(ids) : refresh();
      const stop = reader.current?.stop;
      const only = [...ids].map((id) => `id=${encodeURIComponent(id)}`).join("&");
      try {
        const text = query === "" ? only : `${query}&${only}`;
        const list = collectionClient(collection).list({ query: text, ...(stop && { signal: stop.signal }) });
        const { items } = (await list.page()) as unknown as Page;
        if (stop !== reader.current?.stop) return;
        const { news } = mergeChanges(latest.current.items, ids, items);
        if (news > 0 && isAtTop()) return refresh(ids);
        if (isMoved(query, latest.current.items, items)) return refresh(ids);
        setState((before) => {
          const merged = mergeChanges(before.items, ids, items);
          return { ...before, items: merged.items, fresh: ids, news: before.news + merged.news };
        });
      } catch {
        void refresh(ids);
      }
    },
    [collection, query, refresh, isAtTop],
  );

  const waiting = useRef<{ changes: Change[]; timer: ReturnType<typeof setTimeout> | undefined }>({
    changes: [],
    timer: undefined,
  });
  useEffect(() => () => clearTimeout(waiting.current.timer), []);
  useChanges(
    collection,
    useCallback(
      (changes) => {
        const { current } = waiting;
        current.changes.push(...changes);
        current.timer ??= setTimeout(() => {
          waiting.current = { changes: [], timer: undefined };
          void follow(current.changes);
        }, settleMs);
      },
      [follow],
    ),
  );

  const loadMore = useCallback(async () => {
    const mine = reader.current;
    if (mine === undefined || mine.isBusy) return;
    mine.isBusy = true;
    try {
      const { value } = await mine.read.next();
      if (mine.stop.signal.aborted) return;
      mine.pages++;
      setState((before) => ({
        ...before,
        items: [...before.items, ...(value?.items ?? [])],
        hasMore: value !== undefined && !isLast(value),
      }));
    } catch (error) {
      if (!mine.stop.signal.aborted) setState((before) => ({ ...before, error, hasMore: false }));
    } finally {
      mine.isBusy = false;
    }
  }, []);

  return {
    ...state,
    loadMore: useCallback(() => void loadMore(), [loadMore]),
    refresh: useCallback(() => void refresh(), [refresh]),
    restart: useCallback(() => void start(1, none), [start]),
  };
}

/** Whether a page is the last one. The service can lower the limit, and pages of large resources end early. */
function isLast({ items }: Page): boolean {
  return items.length === 0;
}
