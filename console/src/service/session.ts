/** The service that the page belongs to, and who uses it. */
import { createClient, ProblemError } from "holdfast-client";
import { useSyncExternalStore } from "react";

/** The path of the collections, from the page. */
export const prefix =
  document.querySelector<HTMLMetaElement>('meta[name="holdfast-prefix"]')?.content ?? "/api/v1";

/** The address of the collections. It is relative to the page, so that it works behind a proxy that adds a path. */
export const baseUrl = new URL(`.${prefix}`, document.baseURI).href;

const storageKey = "holdfast.credential";

/** The API key or token; an empty string without one. The tab keeps it until it is closed. */
let credential = sessionStorage.getItem(storageKey) ?? "";
/** Whether the service refused to go on without another credential. */
let isRefused = false;
const listeners = new Set<() => void>();

/** Counts the credentials of this page, so that nothing of one caller stays on the screen for the next one. */
let generation = 0;

/** The client of the service. It sends the credential of the session. A 401 to a credential asks for another one. */
export const client = createClient({
  baseUrl,
  token: () => credential,
  retry: { attempts: 3 },
  fetch: async (input, init) => {
    const sentBy = generation;
    const response = await fetch(input, init);
    if (response.status === 401 && credential !== "" && sentBy === generation) change({ isRefused: true });
    return response;
  },
});

/** The client of one collection. */
export function collectionClient(name: string): AnyCollection {
  return client[name] as AnyCollection;
}

export type AnyCollection = NonNullable<(typeof client)[string]>;

/** A resource of any collection. */
export type Resource = { readonly id: string | number; readonly [name: string]: unknown };

/** The state of the session. */
export interface Session {
  hasCredential: boolean;
  /** Whether the page must ask for a credential. */
  isRefused: boolean;
  /** Whether the caller asked to sign in, and can go on without it. */
  isOptional: boolean;
  /** A number that is another one for each credential. */
  generation: number;
}

let state: Session = { hasCredential: credential !== "", isRefused, isOptional: false, generation };

function change(to: { credential?: string; isRefused: boolean; isOptional?: boolean }): void {
  credential = to.credential ?? credential;
  isRefused = to.isRefused;
  const { isOptional = false } = to;
  state = { hasCredential: credential !== "", isRefused, isOptional, generation };
  for (const listener of listeners) listener();
}

const leaveListeners = new Set<(next: string) => void>();

/** Calls back with the next credential before it is used, to forget what the caller before could see. */
export function onLeave(listener: (next: string) => void): void {
  leaveListeners.add(listener);
}

/** Uses another credential from now on. An empty one signs out. */
export function setCredential(next: string): void {
  generation += 1;
  for (const listener of leaveListeners) listener(next);
  if (next === "") sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, next);
  change({ credential: next, isRefused: false });
}

/** Reports an error of the service to the session: after a 401, the page asks for a credential. */
export function notice(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401 && !isRefused) change({ isRefused: true });
}

/** Shows the page that asks for a credential. */
export function askForCredential(): void {
  change({ isRefused: true, isOptional: true });
}

/** Goes on without another credential. */
export function keepCredential(): void {
  change({ isRefused: false });
}

/** Asks the service whether it accepts a credential. Throws ProblemError with status 401 if it does not. */
export async function tryCredential(next: string): Promise<void> {
  await createClient({ baseUrl, token: next, retry: { attempts: 1 } }).$collections();
}

/** Whether the page asks for a credential at this moment. */
export function asksForCredential(): boolean {
  return isRefused;
}

/** The session, for components. */
export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** A text that is the same for equal credentials, and that does not contain the credential. */
export async function credentialTag(): Promise<string> {
  if (crypto.subtle === undefined) return credential === "" ? "open" : String(Math.random()); // randomUUID is missing too
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(baseUrl + credential));
  return Array.from(new Uint8Array(hash, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The header with the credential, for requests that the client does not make. */
export function authorization(): Record<string, string> {
  return credential === "" ? {} : { Authorization: `Bearer ${credential}` };
}

/** Who a token says its bearer is. API keys do not say it. */
export function bearer(token = credential): { subject: string; roles: string } | undefined {
  try {
    const [, part = ""] = token.split(".");
    const text = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    const claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (each) => each.charCodeAt(0))));
    if (typeof claims.sub !== "string") return undefined;
    const { roles = [] } = claims as { roles?: unknown };
    return { subject: claims.sub, roles: Array.isArray(roles) ? roles.map(String).join(", ") : "" };
  } catch {
    return undefined;
  }
}
