/** What waits for a code. It stays in this browser, also for the tab that the link of the mail opens. */

/** A ticket of the service, and what to do with its code. */
export interface Pending {
  kind: "signUp" | "signIn" | "reset";
  email: string;
  ticket: string;
  /** Unix time in milliseconds. */
  expiresAt: number;
  /** Where to go afterwards: the parameter `return` of the page. */
  returnTo: string | null;
}

const storageKey = "holdfast.sign-in";

/** Keeps a ticket, in place of an earlier one. */
export function keepPending(pending: Pending): void {
  localStorage.setItem(storageKey, JSON.stringify(pending));
}

/** The ticket in this browser that a code can finish; `undefined` if the browser has no such ticket. */
export function readPending(now = Date.now()): Pending | undefined {
  const text = localStorage.getItem(storageKey);
  if (text === null) return undefined;
  const pending = JSON.parse(text) as Pending;
  if (pending.expiresAt > now) return pending;
  forgetPending();
  return undefined;
}

const linkKey = "holdfast.link";

/** An identity at a provider that waits for the sign-in of its owner. */
export interface PendingLink {
  ticket: string;
  /** The name of the provider. */
  provider: string;
  /** Unix time in milliseconds. */
  expiresAt: number;
}

/** How long the ticket of a link works, in milliseconds. */
const linkMs = 600_000;

/** Keeps the ticket of an identity, in place of an earlier one. */
export function keepLink(link: Omit<PendingLink, "expiresAt">, now = Date.now()): void {
  localStorage.setItem(linkKey, JSON.stringify({ ...link, expiresAt: now + linkMs }));
}

/** The identity that this browser can link; `undefined` if it has none. */
export function readLink(now = Date.now()): PendingLink | undefined {
  const text = localStorage.getItem(linkKey);
  const link = text === null ? undefined : (JSON.parse(text) as PendingLink);
  return link !== undefined && link.expiresAt > now ? link : undefined;
}

export function forgetLink(): void {
  localStorage.removeItem(linkKey);
}

export function forgetPending(): void {
  localStorage.removeItem(storageKey);
}
