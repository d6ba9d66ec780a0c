/** What the page has read from the service, and what the caller opened last. It is forgotten when the caller changes. */
import { MutationCache, QueryClient } from "@tanstack/react-query";
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
