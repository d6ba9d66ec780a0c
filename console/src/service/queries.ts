/** What the page has read from the service, and what the caller opened last. It is forgotten when the caller changes. */
import { MutationCache, QueryClient, type UseMutationOptions, useMutation } from "@tanstack/react-query";
import type { Page } from "holdfast-client";
import { useRef } from "react";
import { notice, onLeave } from "./session.ts";

export const queries = new QueryClient({
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    // A service on this machine does not need a network.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      // The client repeats what is worth repeating.
      retry: false,
      staleTime: 5_000,
      throwOnError: (error) => {
        notice(error);
        return false;
      },
    },
  },
});

const recentKey = "holdfast.recent";
const mostRecent = 8;

onLeave(() => {
  queries.clear();
  sessionStorage.removeItem(recentKey);
});

interface Recent {
  collection: string;
  id: string;
}

/** The resources that were opened last, for the palette. The tab keeps them until it is closed. */
export function recentResources(): Recent[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(recentKey) ?? "[]");
    return Array.isArray(kept)
      ? kept.filter((each) => typeof each?.collection === "string" && typeof each.id === "string")
      : [];
  } catch {
    return [];
  }
}

/** Puts a resource at the beginning. */
export function remember(collection: string, id: string): void {
  const others = recentResources().filter((each) => each.collection !== collection || each.id !== id);
  try {
    sessionStorage.setItem(recentKey, JSON.stringify([{ collection, id }, ...others].slice(0, mostRecent)));
  } catch {}
}

/** The parameter for the first resources of a list. A service whose pages are shorter sends fewer. */
export function firstOnly(count: number): string {
  return `range=[0,${count - 1}]`;
}

/** What reads the next pages of a list. */
export type Rest<T> = AsyncGenerator<Pick<Page<T>, "items" | "total" | "limit">, void, undefined>;

/** Reads the next page for `useInfiniteQuery`, whose parameter is the reader that the page before left. After the last page, it is empty. */
export async function readNext<T>(rest: Rest<T>) {
  const { value = { items: [], total: undefined, limit: undefined } } = await rest.next();
  return { ...value, rest };
}

/** A change that the user makes. While it runs, another press does nothing, even before the page shows that it runs. */
export function useAction<Result, Asked = void>(options: UseMutationOptions<Result, Error, Asked>) {
  const isRunning = useRef(false);
  const mutation = useMutation({
    ...options,
    onSettled: (...settled) => {
      isRunning.current = false;
      return options.onSettled?.(...settled);
    },
  });
  const mutate = (asked: Asked) => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutation.mutate(asked);
  };
  return { ...mutation, mutate };
}
