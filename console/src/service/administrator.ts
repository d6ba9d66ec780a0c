/** Whether the caller administers the service, and the pages that the caller can open. */
import { useQuery } from "@tanstack/react-query";
import { ProblemError, type User } from "holdfast-client";
import { type PageName, pages } from "../route.ts";
import { useCollections } from "./collections.ts";
import { client, hasUsers, keepsMails, useSession } from "./session.ts";

/**
 * Whether the caller is an administrator; `undefined` until it is known. Only administrators see the rules of collections.
 * Without collections, the page asks for the configuration, which does not exist for other callers.
 */
export function useIsAdministrator(): boolean | undefined {
  const { data: collections } = useCollections();
  const isEmpty = collections?.length === 0;
  const { data: canAdminister } = useQuery({
    queryKey: ["administrator"],
    enabled: isEmpty,
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
    queryFn: async ({ signal }) => {
      try {
        await client.$configuration({ signal });
        return true;
      } catch (error) {
        if (error instanceof ProblemError && error.status < 500) return false;
        throw error;
      }
    },
  });
  return isEmpty ? canAdminister : collections?.some(({ rules }) => rules !== undefined);
}

/** Who has signed in at the page of the service; `undefined` without users, and for callers with a key or token. */
export function useUser(): User | undefined {
  const { hasCredential } = useSession();
  const { data } = useQuery({
    queryKey: ["user"],
    enabled: hasUsers && !hasCredential,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await client.$auth.user({ signal })) ?? null,
  });
  return hasCredential ? undefined : (data ?? undefined);
}

/** Whether the caller is known to the service. */
export function useIsSignedIn(): boolean {
  const { hasCredential } = useSession();
  return useUser() !== undefined || hasCredential;
}

/** The pages that the service has for its administrators. */
const servedPages = pages.filter(
  (name) => (hasUsers || (name !== "accounts" && name !== "audit")) && (name !== "mail" || keepsMails),
);

/** The functions of the configuration, for administrators. */
export function useCode({ enabled = true, everyMs }: { enabled?: boolean; everyMs?: number } = {}) {
  return useQuery({
    enabled,
    queryKey: ["code"],
    queryFn: ({ signal }) => client.$code({ signal }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  });
}

/** The key of the queries of tasks. */
export const tasksKey = ["tasks"];

/** The pages that the caller can open. Callers who are no administrators have their own tasks. */
export function useServedPages(): readonly PageName[] {
  const isAdministrator = useIsAdministrator();
  const isSignedIn = useIsSignedIn();
  const { data: own = [] } = useQuery({
    queryKey: [...tasksKey, "any"],
    enabled: isAdministrator === false && isSignedIn,
    queryFn: ({ signal }) => client.$tasks.list({ limit: 1, signal }),
  });
  const { data: code } = useCode({ enabled: isAdministrator === true });
  if (isAdministrator === true)
    return code === undefined || code.functions.length === 0
      ? servedPages.filter((name) => name !== "code")
      : servedPages;
  return own.length > 0 ? ["tasks"] : [];
}

/** The key of the query of the configuration. */
const configurationKey = ["configuration"];

/** The effective configuration. Only administrators can read it. */
export function useConfiguration({ enabled = true }: { enabled?: boolean } = {}) {
  return useQuery({
    enabled,
    queryKey: configurationKey,
    queryFn: ({ signal }) => client.$configuration({ signal }),
  });
}
