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

export function forgetPending(): void {
  localStorage.removeItem(storageKey);
}
