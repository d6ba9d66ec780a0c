/**
 * Signing in at providers, and the identities there that belong to accounts. An unknown identity never joins an account because of
 * its address: its owner signs in in another way first, in the same browser, and then links it.
 */
import { hash } from "node:crypto";
import { randomText } from "../../access/api-key.ts";
import { Problem } from "../../errors.ts";
import { put, remove, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import { inNewEpoch } from "./factors.ts";
import type { Current, Flows, Visitor } from "./flows.ts";
import type { OwnAccount } from "./own-account.ts";
import { type Claims, ProviderClient, type Transaction } from "./provider-client.ts";
import type { Begun } from "./second-factor.ts";
import { endingOf } from "./sessions.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { newTicketText, type Tickets, ticketId, ticketMs } from "./tickets.ts";
import {
  type Account,
  accountsName,
  type Identity,
  identitiesName,
  type ProviderTicketKind,
  type Ticket,
  ticketsName,
} from "./user-records.ts";
import type { Provider } from "./user-settings.ts";

/** What mails say about a change. */
const notices = {
  added: "An account at another service can now sign in to your account.",
  removed:
    "An account at another service can no longer sign in to your account. All other devices were signed out.",
};

/** The most identities of an account. */
const maxIdentities = 10;

/** The browser that somebody uses. */
export interface Browser {
  visitor: Visitor;
  /** What it shows while somebody is at a provider. */
  browser: string | undefined;
}

/** What somebody asks for who goes to a provider. */
export interface Departure extends Browser {
  provider: Provider;
  /** The whole address where the browser goes afterwards. */
  returnTo: string;
  /** Whether the identity only becomes linkable. */
  isLink: boolean;
  /** The session until now, which ends. */
  before: string | undefined;
}

/** What came of a return. */
export type Returned = { returnTo: string | undefined } & (
  | { kind: "begun"; begun: Begun }
  /** The browser has come back before, with the same response of the provider: somebody has reloaded the page. */
  | { kind: "again"; hasBegun: boolean }
  | { kind: "link"; ticket: string; email: string | undefined }
  | { kind: "failed"; code: Problem["code"] }
);

/** What the ticket keeps of somebody who is at a provider. */
interface Away extends Omit<Transaction, "state" | "redirectUri"> {
  provider: string;
  returnTo: string;
  isLink: boolean;
  before: string | undefined;
}

/** What the ticket keeps of somebody who has come back. */
interface Left extends Pick<Away, "provider" | "returnTo"> {
  /** Whether the return has begun a session. @default false */
  hasBegun?: boolean;
}

/** What the ticket keeps of an identity that can be linked. */
type Linkable = Pick<Identity, "provider" | "issuer" | "subject" | "email">;

/** What providers depend on. */
export interface ProviderParts extends Omit<Flows, "beginProven"> {
  tickets: Tickets;
  /** Begins a session by an identity, of a new account if it can have one; `undefined` if it belongs to no account. */
  signIn: (claims: Claims, more: IdentityUse) => Promise<Begun | undefined>;
  own: OwnAccount;
}

/** How an identity is used. */
export interface IdentityUse {
  provider: Provider;
  visitor: Visitor;
  device: string | undefined;
  before: string | undefined;
}

/** The providers of one service. */
export class Providers {
  readonly #parts: ProviderParts;
  readonly #clients = new Map<string, ProviderClient>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
  }

  /** Where the providers send browsers back, without their names: `https://shop.example/api/v1/_auth/providers`. */
  get address(): string {
    const { publicUrl, prefix } = this.#parts;
    return `${publicUrl()}${prefix}/_auth/providers`;
  }

  /** The provider with a name. */
  named(name: string): Provider | undefined {
    return this.#parts.settings.providers.find((each) => each.name === name);
  }

  /** Where a browser goes after a sign-in; `undefined` if it must not go there. */
  returnAddress(text: string): string | undefined {
    const { publicUrl, settings } = this.#parts;
    return returnAddress(text, { publicUrl: publicUrl(), origins: settings.origins });
  }

  /** Sends somebody to a provider. Returns what the browser has to show afterwards. Throws QUOTA_EXCEEDED and UNAVAILABLE. */
  async depart({
    provider,
    visitor,
    browser,
    ...asked
  }: Departure): Promise<{ address: string; browser: string }> {
    const named = browser ?? randomText(32, 50);
    await this.#parts.tickets.count(visitor, { isMailed: false });
    const [nonce, verifier] = [newTicketText().text, newTicketText().text];
    const away: Away = { ...asked, provider: provider.name, nonce, verifier };
    const state = await this.#giveTicket("provider", away, { visitor, browser: named });
    const redirectUri = this.#redirectUri(provider);
    return {
      address: await this.#clientOf(provider).address({ redirectUri, state, nonce, verifier }),
      browser: named,
    };
  }

  /** Receives somebody who comes back. `query` has the parameters of the request. Never throws a Problem. */
  async receive(
    provider: Provider,
    query: string,
    { visitor, browser, device }: Browser & { device: string | undefined },
  ): Promise<Returned> {
    let returnTo: string | undefined;
    try {
      const state = new URLSearchParams(query).get("state") ?? "";
      const away = await this.#spend(provider, state, browser);
      if (away === undefined) return await this.#again(state, browser);
      returnTo = away.returnTo;
      const claims = await this.#claims(provider, query, { ...away, state });
      const use = { provider, visitor, device, before: away.before };
      const begun = away.isLink ? undefined : await this.#parts.signIn(claims, use);
      if (begun !== undefined) {
        await this.#noteBegun(state, browser);
        return { kind: "begun", begun, returnTo };
      }
      const { issuer, subject, email } = claims;
      const linkable: Linkable = { provider: provider.name, issuer, subject, email };
      const ticket = await this.#giveTicket("link", linkable, { visitor, browser });
      return { kind: "link", ticket, email, returnTo };
    } catch (error) {
      if (error instanceof Problem) return { kind: "failed", code: error.code, returnTo };
      throw error;
    }
  }

  /**
   * Links an identity to the account of a confirmed session. Throws CONFIRMATION_REQUIRED, SIGN_IN_FAILED if the ticket is not of this
   * browser, and IDENTITY_UNAVAILABLE.
   */
  async link(
    { session, account, source = {} }: Current,
    ticket: string,
    browser: string | undefined,
  ): Promise<Identity> {
    const { own, untilCommitted, records, now, notice, audit } = this.#parts;
    own.requireConfirmed(session);
    const identity = await untilCommitted(async () => {
      const { value, version } = await this.#find(["link"], ticket, browser);
      const { provider, issuer, subject, email } = this.#parts.tickets.contentOf<Linkable>(value);
      const id = identityId(issuer, subject);
      const known = await records.identity(id);
      const spent = remove(ticketsName, value.id, version);
      if (known !== undefined && known.value.user !== account.id)
        return { changes: [spent], result: unavailable("This identity belongs to another account.") };
      if (known !== undefined) return { changes: [spent], result: known.value };
      const current = await own.requireOpen(account.id, session.id);
      if ((await records.identitiesOf(account.id)).length >= maxIdentities)
        throw unavailable(`An account has at most ${maxIdentities} identities. Remove one first.`);
      const made = { id, user: account.id, provider, issuer, subject, email, createdAt: now() };
      const entry = audit.entry({ kind: "identityLinked", subject: account.id, item: id }, source);
      const changes = [put(identitiesName, id, undefined, made), unchanged(current), spent, entry];
      return { changes: [...changes, await notice(current.value, notices.added)], result: made };
    });
    return identity;
  }

  /**
   * Removes an identity. All other sessions of the user end. Returns whether there was one. Throws CONFIRMATION_REQUIRED, and
   * IDENTITY_UNAVAILABLE if it is the only way to sign in.
   */
  async unlink({ session, account, source = {} }: Current, id: string): Promise<boolean> {
    const { own, untilCommitted, records, notice, audit } = this.#parts;
    own.requireConfirmed(session);
    return untilCommitted(async () => {
      const all = await records.identitiesOf(account.id);
      const found = all.find(({ value }) => value.id === id);
      if (found === undefined) return { changes: [], result: false };
      const current = await own.requireOpen(account.id, session.id);
      if (all.length === 1 && !this.#hasOtherWay(current.value))
        throw unavailable("You could not sign in any more. Link another identity first.");
      const others = (await records.sessionsOf(account.id)).filter(({ value }) => value.id !== session.id);
      const entry = audit.entry({ kind: "identityRemoved", subject: account.id, item: id }, source);
      const removed = remove(identitiesName, id, found.version);
      // A sign-in with the identity that waits for the second factor ends too.
      const written = put(accountsName, account.id, current.version, inNewEpoch(current.value));
      const changes = [removed, written, entry, ...endingOf(others)];
      return { changes: [...changes, await notice(current.value, notices.removed)], result: true };
    });
  }

  /** Passkeys do not count: they can be lost and removed. */
  #hasOtherWay({ password }: Account): boolean {
    const { methods } = this.#parts.settings;
    return methods.includes("email") || (password !== undefined && methods.includes("password"));
  }

  /** Who has come back. Throws SIGN_IN_FAILED and UNAVAILABLE. */
  async #claims(
    provider: Provider,
    query: string,
    transaction: Omit<Transaction, "redirectUri">,
  ): Promise<Claims> {
    const redirectUri = this.#redirectUri(provider);
    try {
      return await this.#clientOf(provider).claims(query, { ...transaction, redirectUri });
    } catch (error) {
      const problem = problemIn(error);
      const reason = problem?.message ?? reasonOf(error);
      if (reason !== "access_denied") this.#parts.warn(`auth.users.providers.${provider.name}: ${reason}`);
      throw problem ?? signInFailed();
    }
  }

  #clientOf(provider: Provider): ProviderClient {
    const { providerSecrets, elapsed } = this.#parts;
    const client =
      this.#clients.get(provider.name) ??
      new ProviderClient(provider, providerSecrets[provider.name] ?? "", elapsed);
    this.#clients.set(provider.name, client);
    return client;
  }

  /** Each provider has its own, so that no response of one can pass as that of another. */
  #redirectUri({ name }: Provider): string {
    return `${this.address}/${name}/callback`;
  }

  async #giveTicket(
    kind: ProviderTicketKind,
    content: object,
    { visitor, browser = "" }: Browser,
  ): Promise<string> {
    const { vault, now, untilCommitted } = this.#parts;
    const { text, id } = newTicketText();
    const at = now();
    const ticket: Ticket = {
      id,
      kind,
      email: "",
      address: "", // it proves none, so it also does not end with the tickets of one
      wrong: 0,
      network: visitor.network,
      createdAt: at,
      expiresAt: at + ticketMs,
      sealed: vault.seal("ticket", placeOf(id), JSON.stringify(content)),
      browser: hash("sha256", browser, "base64url"),
    };
    await untilCommitted(async () => ({
      changes: [put(ticketsName, id, undefined, ticket)],
      result: undefined,
    }));
    return text;
  }

  /** The open ticket of this browser. Throws SIGN_IN_FAILED. */
  async #find(
    kinds: readonly ProviderTicketKind[],
    text: string,
    browser: string | undefined,
  ): Promise<Versioned<Ticket>> {
    const { records, now } = this.#parts;
    const found = await records.ticket(ticketId(text));
    const isOwn =
      found !== undefined &&
      browser !== undefined &&
      kinds.some((kind) => kind === found.value.kind) &&
      found.value.browser === hash("sha256", browser, "base64url");
    if (!isOwn || found.value.expiresAt <= now()) throw signInFailed();
    return found;
  }

  /**
   * What the ticket of somebody who was at a provider keeps. Nobody can use it again: then it only keeps the page that was asked for.
   * `undefined` if it was used. Throws SIGN_IN_FAILED.
   */
  async #spend(provider: Provider, state: string, browser: string | undefined): Promise<Away | undefined> {
    const { tickets, untilCommitted } = this.#parts;
    return untilCommitted<Away | undefined>(async () => {
      const { value, version } = await this.#find(["provider", "returned"], state, browser);
      const kept = tickets.contentOf<Away>(value);
      if (kept.provider !== provider.name) throw signInFailed();
      if (value.kind === "returned") return { changes: [], result: undefined };
      const { returnTo } = kept;
      return { changes: [this.#left(value, version, { provider: provider.name, returnTo })], result: kept };
    });
  }

  /** The change that leaves this in a ticket that was used. */
  #left(ticket: Ticket, version: number, left: Left): Change {
    const sealed = this.#parts.vault.seal("ticket", placeOf(ticket.id), JSON.stringify(left));
    return put(ticketsName, ticket.id, version, { ...ticket, kind: "returned", sealed } satisfies Ticket);
  }

  /** Notes that the return has begun a session. */
  async #noteBegun(state: string, browser: string | undefined): Promise<void> {
    const { tickets, untilCommitted } = this.#parts;
    await untilCommitted(async () => {
      const { value, version } = await this.#find(["returned"], state, browser);
      const left = { ...tickets.contentOf<Left>(value), hasBegun: true };
      return { changes: [this.#left(value, version, left)], result: undefined };
    });
  }

  async #again(state: string, browser: string | undefined): Promise<Returned> {
    const { value } = await this.#find(["returned"], state, browser);
    const { returnTo, hasBegun = false } = this.#parts.tickets.contentOf<Left>(value);
    return { kind: "again", returnTo, hasBegun };
  }
}

/**
 * The whole address for a path of the service, or for an address of one of the origins; `undefined` for everything else, such as
 * `//evil.example`, `/\evil.example` and `javascript:`.
 */
export function returnAddress(
  text: string,
  { publicUrl, origins }: { publicUrl: string; origins: readonly string[] },
): string | undefined {
  // Browsers read a backslash as a slash, and leave out control characters.
  if (/[\\\p{Cc}\s]/u.test(text) || text.length > 2_000) return undefined;
  const isPath = text.startsWith("/") && !text.startsWith("//");
  const origin = isPath ? publicUrl : origins.find((each) => text === each || text.startsWith(`${each}/`));
  if (origin === undefined) return undefined;
  const url = URL.parse(text, origin);
  // Alone, such a path would be the address of another server.
  return url?.origin === origin && !url.pathname.startsWith("//") ? url.href : undefined;
}

/** The id of an identity. It is the same in every store, so no two accounts can have the identity. */
export function identityId(issuer: string, subject: string): string {
  return hash("sha256", `${issuer}\n${subject}`, "base64url");
}

/** The change that stores an identity. */
export function newIdentity(claims: Claims, more: Pick<Identity, "user" | "provider" | "createdAt">): Change {
  const { issuer, subject, email } = claims;
  const id = identityId(issuer, subject);
  const identity: Identity = { id, issuer, subject, email, ...more };
  return put(identitiesName, id, undefined, identity);
}

/** The changes that end identities. */
export function endIdentities(identities: readonly Versioned<Identity>[]): Change[] {
  return identities.map(({ value, version }) => remove(identitiesName, value.id, version));
}

/** An account that was judged must be the same when the change is made: two requests at once could remove its last two identities. */
function unchanged({ value, version }: Versioned<Account>): Change {
  return put(accountsName, value.id, version, value);
}

function placeOf(ticket: string): string {
  return `${ticketsName}/${ticket}`;
}

function unavailable(detail: string): Problem {
  return new Problem("IDENTITY_UNAVAILABLE", detail);
}

/** The problem that the library has wrapped. */
function problemIn(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  return error instanceof Error && error.cause !== undefined ? problemIn(error.cause) : undefined;
}

/** What went wrong, for the log. It has no parameter of the request but the code of the error. */
function reasonOf(error: unknown): string {
  const { error: ofProvider, message } = error as { error?: unknown; message?: string };
  return typeof ofProvider === "string" && /^[\w.]{1,60}$/.test(ofProvider)
    ? ofProvider
    : (message ?? "failed");
}
