/** The service that the page belongs to, and who uses it. */
import { createClient, ProblemError } from "holdfast-client";
import { shared } from "./shared.ts";

/** The path of the collections, from the page. */
export const prefix = meta("prefix") ?? "/api/v1";

/** The address of the collections. It is relative to the page, so that it works behind a proxy that adds a path. */
export const baseUrl = new URL(`.${prefix}`, document.baseURI).href;

/** The nonce that the service put into the page; empty without the service, while the console is developed. */
export const nonce = meta("nonce") ?? "";

function meta(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="holdfast-${name}"]`)?.content;
}

/** The collection of the profiles; empty if the service has no users. */
export const usersName = meta("users") ?? "";

export const hasUsers = usersName !== "";

/** Whether the service keeps its mails instead of sending them. */
export const keepsMails = meta("mails") !== undefined;

/** Where people with an account sign in, to come back afterwards; `undefined` if the service has no users. */
export function accountPage(): string | undefined {
  if (!hasUsers) return undefined;
  const here = encodeURIComponent(location.pathname + location.hash);
  return new URL(`./_sign-in?return=${here}`, document.baseURI).href;
}

const storageKey = "holdfast.credential";

const session = shared({
  /** The API key or token; an empty string without one. The tab keeps it until it is closed. */
  credential: sessionStorage.getItem(storageKey) ?? "",
  /** Whether the service refused to go on without another credential, so that the page must ask for one. */
  isRefused: false,
  /** Whether the caller asked to sign in, and can go on without it. */
  isOptional: false,
  /** Another number for each credential, so that nothing of one caller stays on the screen for the next one. */
  generation: 0,
});

function change(to: Partial<ReturnType<typeof session.get>>): void {
  session.set({ ...session.get(), isOptional: false, ...to });
}

/** The client of the service. It sends the credential of the session. A 401 to a credential asks for another one. */
export const client = createClient({
  baseUrl,
  token: () => session.get().credential,
  retry: { attempts: 3 },
  fetch: async (input, init) => {
    const sentBy = session.get().generation;
    const response = await fetch(input, init);
    const { credential, generation } = session.get();
    if (response.status === 401 && credential !== "" && sentBy === generation) change({ isRefused: true });
    return response;
  },
});

/** The client of one collection. */
export function collectionClient(name: string): AnyCollection {
  return client[name] as AnyCollection;
}

type AnyCollection = NonNullable<(typeof client)[string]>;

/** A resource of any collection. */
export type Resource = { readonly id: string | number; readonly [name: string]: unknown };

const leaveListeners = new Set<(next: string) => void>();

/** Calls back with the next credential before it is used, to forget what the caller before could see. */
export function onLeave(listener: (next: string) => void): void {
  leaveListeners.add(listener);
}

/** Uses another credential from now on. An empty one signs out. */
export function setCredential(next: string): void {
  for (const listener of leaveListeners) listener(next);
  if (next === "") sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, next);
  change({ credential: next, isRefused: false, generation: session.get().generation + 1 });
}

/** Reports an error of the service to the session: after a 401, the page asks for a credential. */
export function notice(error: unknown): void {
  if (error instanceof ProblemError && error.status === 401 && !session.get().isRefused)
    change({ isRefused: true });
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
  return session.get().isRefused;
}

/** The session, for components. */
export function useSession() {
  const { credential, ...others } = session.use();
  return { ...others, hasCredential: credential !== "" };
}

/** A text that is the same for equal credentials, and that does not contain the credential. */
export async function credentialTag(): Promise<string> {
  const { credential } = session.get();
  if (crypto.subtle === undefined) return credential === "" ? "open" : String(Math.random()); // randomUUID is missing too
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(baseUrl + credential));
  return Array.from(new Uint8Array(hash, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The header with the credential, for requests that the client does not make. */
export function authorization(): Record<string, string> {
  const { credential } = session.get();
  return credential === "" ? {} : { Authorization: `Bearer ${credential}` };
}

/** Who a token says its bearer is. API keys do not say it. */
export function bearer(token = session.get().credential): { subject: string; roles: string } | undefined {
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
