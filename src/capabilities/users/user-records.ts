/** What the store keeps about users: accounts, sessions and tickets. The profile of a user is an ordinary resource. */
import type { Principal } from "../../access/principal.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { readIndexes } from "../../collection/indexes.ts";
import { allOf, type Filter } from "../../query/filter.ts";
import { isIn, Records, remove, type Versioned } from "../../records.ts";
import type { Vault } from "../../secrets.ts";
import type { Change } from "../../store/port/commit.ts";
import type { ListQuery } from "../../store/port/page.ts";
import type { ServingStore } from "../../store/port/store.ts";
import { auditCollection } from "./audit.ts";
import { mailCollection, mailName } from "./mail/mail-queue.ts";

/** The names of the internal collections. */
export const accountsName = "_accounts";
export const sessionsName = "_sessions";
export const ticketsName = "_tickets";
export const invitationsName = "_invitations";
export const identitiesName = "_identities";

/**
 * An account: what lets a user sign in, and what the user can do. It has the id of the profile. No resource shows it, and no
 * write to a profile changes it.
 */
export interface Account {
  id: string;
  /** The id again, as a reference: the delete of the profile deletes the account, in the same commit. */
  user: string;
  /** The address as the user wrote it. Mail goes to it. */
  email: string;
  /** The address in the form in which addresses are compared. No two accounts have the same one. */
  address: string;
  roles: readonly string[];
  /** What rules read as `$claims.name`. */
  claims: Readonly<Record<string, unknown>>;
  disabled: boolean;
  /** Unix time in milliseconds, like all times here. */
  createdAt: number;
  /** The hash of the password, as a PHC string. Absent: the user has none. */
  password?: string | undefined;
  /** The devices that have signed in, the latest first. */
  devices: readonly Device[];
  /** The authenticator app. */
  totp?: Totp | undefined;
  /** The SHA-256 of each recovery code that is left, in base64url. */
  recoveryCodes?: readonly string[] | undefined;
  passkeys?: readonly Passkey[] | undefined;
  /** How often all sign-ins that wait for the second factor have ended. @default 0 */
  epoch?: number | undefined;
}

/** An authenticator app, which shows another code every 30 seconds (TOTP). */
export interface Totp {
  kind: "totp";
  id: string;
  /** What the user calls it. */
  name?: string | undefined;
  /** The secret that the app has too, encrypted. */
  sealed: string;
  /** The step of the last code that was used. Earlier codes no longer work. */
  step: number;
  createdAt: number;
  usedAt: number;
}

/** A passkey: the public half of a key that the user's device keeps. */
export interface Passkey {
  kind: "passkey";
  id: string;
  /** What the user calls it. */
  name?: string | undefined;
  /** The id that the device has given it, in base64url. */
  credential: string;
  /** In the form of COSE, in base64url. */
  publicKey: string;
  /** How many times the device says that it was used; always 0 for many devices. */
  counter: number;
  createdAt: number;
  usedAt: number;
}

/** A device that has signed in. */
export interface Device {
  /** The SHA-256 of what the device shows, in base64url. */
  hash: string;
  /** The last sign-in. */
  at: number;
}

/** A session: a user who has signed in, or a key with which a program acts as the user. */
export interface Session {
  id: string;
  user: string;
  /** The SHA-256 of the token, in base64url. */
  hash: string;
  createdAt: number;
  /** The last use, to five minutes. */
  usedAt: number;
  /** When the user last proved who they are; 0 for a key, which cannot change the account. */
  confirmedAt: number;
  /** The part of the client's network that administrators and the user can see. */
  network: string;
  /** The start of `User-Agent`. */
  agent: string;
  /** The name of a key. Absent for other sessions. */
  name?: string | undefined;
  /** What limits a key, such as `articles:read`. @default the rights of the user */
  scopes?: readonly string[] | undefined;
  /** When a key ends. It has no idle time. */
  expiresAt?: number | undefined;
}

/** What a ticket and its code do. `used`: nothing any more (`sealed-tickets.ts`). */
export type TicketKind = "signUp" | "signIn" | "reset" | "email" | "used" | ProviderTicketKind;

/**
 * `provider`: the browser is at a provider. `returned`: it has come back, and only the page that was asked for is left. `link`: it has come
 * back with an identity that can be linked.
 */
export type ProviderTicketKind = "provider" | "returned" | "link";

/** A ticket stays with the client that asked. With the code in the mail, it proves the address. */
export interface Ticket {
  /** The SHA-256 of the ticket, in base64url. */
  id: string;
  kind: TicketKind;
  email: string;
  address: string;
  /** The user who asks for another address. The delete of the profile deletes the ticket. */
  user?: string | undefined;
  /** A keyed hash of the address and the code; absent if no code was mailed. */
  code?: string | undefined;
  /** When the code was mailed. */
  mailedAt?: number | undefined;
  /** Wrong codes so far. */
  wrong: number;
  network: string;
  createdAt: number;
  expiresAt: number;
  /** The password's hash and the profile of a sign-up, or what belongs to a provider, encrypted. */
  sealed?: string | undefined;
  /** Only one browser can use the ticket: this is the SHA-256 of its cookie. Absent: any client with the ticket can use it. */
  browser?: string | undefined;
}

/** An identity at a provider, with which the user can sign in. */
export interface Identity {
  /** The SHA-256 of the issuer and the subject, in base64url. So no two accounts have the same identity. */
  id: string;
  user: string;
  /** The name of the provider. */
  provider: string;
  issuer: string;
  subject: string;
  /** The address that the provider has named. It is only shown. */
  email?: string | undefined;
  createdAt: number;
}

/** An invitation. With its token, somebody who proves the address gets an account with these roles and claims. */
export interface Invitation {
  id: string;
  /** The SHA-256 of the token in the link, in base64url. */
  hash: string;
  email: string;
  address: string;
  roles: readonly string[];
  claims: Readonly<Record<string, unknown>>;
  /** Attributes of the new profile. */
  profile?: Readonly<Record<string, unknown>> | undefined;
  /** The existing profile that gets the account. The delete of the profile deletes the invitation. */
  user?: string | undefined;
  /**
   * The address that the account of `user` has, in the form in which addresses are compared. The proven address replaces it, and
   * no account is created. Absent: the invitation is for a new account.
   */
  replaces?: string | undefined;
  createdAt: number;
  expiresAt: number;
}

/** The caller that a session of an account is. */
export function principalOf({ id, roles, claims }: Account): Principal {
  return { subject: id, roles, claims, scopes: undefined };
}

/** The internal collections. `profiles` is the name of the collection of the profiles. */
function collectionsFor(profiles: string): Collection[] {
  const toProfile = { path: ["user"], collection: profiles, onDelete: "cascade" } as const;
  return [
    {
      ...openCollection(accountsName),
      unique: [{ path: ["address"], ignoreCase: false }],
      references: [toProfile],
    },
    {
      ...openCollection(sessionsName),
      references: [toProfile],
      indexes: readIndexes([["user", "-usedAt"], ["usedAt"], ["expiresAt"]], "indexes"),
    },
    {
      ...openCollection(ticketsName),
      references: [toProfile],
      indexes: readIndexes([["address", "-createdAt"], ["network", "createdAt"], ["expiresAt"]], "indexes"),
    },
    {
      ...openCollection(invitationsName),
      references: [toProfile],
      indexes: readIndexes([["hash"], ["address"], ["user"], ["expiresAt"]], "indexes"),
    },
    {
      ...openCollection(identitiesName),
      references: [toProfile],
      indexes: readIndexes([["user", "-createdAt"]], "indexes"),
    },
  ];
}

/** Reads and writes what the store keeps about users. */
export class UserRecords extends Records {
  constructor(store: ServingStore, profiles: string) {
    super(store, [...collectionsFor(profiles), mailCollection(profiles), auditCollection]);
  }

  account(id: string): Promise<Versioned<Account> | undefined> {
    return this.read(accountsName, id);
  }

  /** Whether an id is that of an account, or of one that was deleted. */
  isOfAccount(id: string): Promise<boolean> {
    return this.hadEver(accountsName, id);
  }

  /** The account with an address, in the form in which addresses are compared. */
  async accountOf(address: string): Promise<Versioned<Account> | undefined> {
    const { records } = await this.list<Account>({
      collection: accountsName,
      filter: isIn("address", address),
      limit: 1,
    });
    return records[0];
  }

  /** The accounts with these ids, as many as there are. */
  async accountsIn(ids: readonly string[]): Promise<Account[]> {
    const found: Account[] = [];
    for (let n = 0; n < ids.length; n += atOnce) {
      const filter: Filter = { kind: "in", path: ["id"], values: ids.slice(n, n + atOnce) };
      for (let after: string | undefined; ; ) {
        const query = { collection: accountsName, filter, limit: atOnce, ...(after && { after: [after] }) };
        const { records, more } = await this.list<Account>(query);
        found.push(...records.map(({ value }) => value));
        if (!more) break;
        after = records.at(-1)?.value.id;
      }
    }
    return found;
  }

  session(id: string): Promise<Versioned<Session> | undefined> {
    return this.read(sessionsName, id);
  }

  /** Sessions that were last used before a time, and keys that have expired before another one, some at once. */
  async endedSessions({
    usedBefore,
    now,
  }: {
    usedBefore: number;
    now: number;
  }): Promise<Versioned<Session>[]> {
    const unused: Filter[] = [
      { kind: "lt", path: ["usedAt"], values: [usedBefore] },
      { kind: "exists", path: ["expiresAt"], value: false },
    ];
    const expired: Filter = { kind: "lt", path: ["expiresAt"], values: [now] };
    const pages = [allOf(unused), expired].map((filter) =>
      this.list<Session>({ collection: sessionsName, filter, limit: atOnce }),
    );
    return (await Promise.all(pages)).flatMap(({ records }) => records);
  }

  /** The sessions of a user, the latest used first. */
  async sessionsOf(user: string): Promise<Versioned<Session>[]> {
    return this.#latest(sessionsName, { filter: isIn("user", user), by: "usedAt", limit: 200 });
  }

  ticket(id: string): Promise<Versioned<Ticket> | undefined> {
    return this.read(ticketsName, id);
  }

  /** The latest tickets for an address, the newest first. */
  async ticketsFor(address: string): Promise<Versioned<Ticket>[]> {
    return this.#latest(ticketsName, { filter: isIn("address", address), by: "createdAt", limit: 500 });
  }

  identity(id: string): Promise<Versioned<Identity> | undefined> {
    return this.read(identitiesName, id);
  }

  /** The identities of a user, the newest first. */
  async identitiesOf(user: string): Promise<Versioned<Identity>[]> {
    return this.#latest(identitiesName, { filter: isIn("user", user), by: "createdAt", limit: 100 });
  }

  async #latest<T>(
    collection: string,
    { filter, by, limit }: { filter: Filter; by: string; limit: number },
  ): Promise<Versioned<T>[]> {
    const query: ListQuery = { collection, filter, sort: [{ path: [by], descending: true }], limit };
    return (await this.list<T>(query)).records;
  }

  /** Tickets that have expired, the oldest first. */
  async expiredTickets(now: number, limit: number): Promise<Versioned<Ticket>[]> {
    const filter: Filter = { kind: "lt", path: ["expiresAt"], values: [now] };
    const { records } = await this.list<Ticket>({ collection: ticketsName, filter, limit });
    return records;
  }

  /** Tickets that a network has asked for, the oldest first. */
  async ticketsOfNetwork(network: string, limit: number): Promise<Versioned<Ticket>[]> {
    const query: ListQuery = {
      collection: ticketsName,
      filter: isIn("network", network),
      sort: [{ path: ["createdAt"], descending: false }],
      limit,
    };
    return (await this.list<Ticket>(query)).records;
  }

  /** The changes that remove the waiting mails to a user. */
  async mailsTo(user: string): Promise<Change[]> {
    const { records } = await this.list<{ id: string }>({
      collection: mailName,
      filter: isIn("user", user),
      limit: 500,
    });
    return records.map(({ value, version }) => remove(mailName, value.id, version));
  }

  invitation(id: string): Promise<Versioned<Invitation> | undefined> {
    return this.read(invitationsName, id);
  }

  /** The invitation whose token has this SHA-256, in base64url. */
  async invitationWith(hash: string): Promise<Versioned<Invitation> | undefined> {
    return (await this.#invitations(isIn("hash", hash), 1))[0];
  }

  /** The invitations of an address, in the form in which addresses are compared. */
  invitationsFor(address: string): Promise<Versioned<Invitation>[]> {
    return this.#invitations(isIn("address", address), 100);
  }

  /** The invitations that are for a profile, or for its account. */
  invitationsOf(user: string): Promise<Versioned<Invitation>[]> {
    return this.#invitations(isIn("user", user), 100);
  }

  expiredInvitations(now: number, limit: number): Promise<Versioned<Invitation>[]> {
    return this.#invitations({ kind: "lt", path: ["expiresAt"], values: [now] }, limit);
  }

  async #invitations(filter: Filter, limit: number): Promise<Versioned<Invitation>[]> {
    return (await this.list<Invitation>({ collection: invitationsName, filter, limit })).records;
  }
}

/** The records that are read, or removed in one commit, at once. */
const atOnce = 500;

/** Ends all sessions and tickets, after a store was copied or restored. Returns how many sessions they were. */
export async function endAllSessions(store: ServingStore, at: number): Promise<number> {
  const records = new Records(store, []);
  let ended = 0;
  for (const collection of [sessionsName, ticketsName]) {
    for (;;) {
      const page = await records.list<{ id: string }>({ collection, limit: atOnce });
      await records.commit(
        page.records.map(({ value, version }) => remove(collection, value.id, version)),
        at,
      );
      if (collection === sessionsName) ended += page.records.length;
      if (!page.more) break;
    }
  }
  return ended;
}

/** The accounts with an authenticator app whose secret the vault does not open. */
export async function accountsWithLostApp(store: ServingStore, vault: Vault): Promise<Account[]> {
  const records = new Records(store, []);
  const found: Account[] = [];
  for (let after: readonly [string] | undefined; ; ) {
    const page = await records.list<Account>({
      collection: accountsName,
      limit: atOnce,
      ...(after && { after }),
    });
    const accounts = page.records.map(({ value }) => value);
    found.push(...accounts.filter(({ totp }) => totp !== undefined && !vault.knows(totp.sealed)));
    const last = accounts.at(-1);
    if (!page.more || last === undefined) return found;
    after = [last.id];
  }
}
