/** Sessions: how they begin, are checked, and end. */
import { LRUCache } from "lru-cache";
import { randomText } from "../../access/api-key.ts";
import type { Authenticator } from "../../access/authenticate.ts";
import { invalidToken } from "../../access/challenges.ts";
import { type CredentialKind, CredentialRing, hashCredential } from "../../access/credential-ring.ts";
import { parseScopes } from "../../access/principal.ts";
import { type AdministratorRule, isAdministrator } from "../../access/roles.ts";
import { isOvertaken, put, remove, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import { isMissingFactor } from "./factors.ts";
import { type Account, principalOf, type Session, sessionsName, type UserRecords } from "./user-records.ts";
import type { SessionTimes, UserSettings } from "./user-settings.ts";

/** The tokens of sessions as credentials. */
export type Sessions = Required<Pick<Authenticator, "takes" | "principalOf" | "owns">>;

/** The start of every token of a session. */
export const sessionMark = "hfs_";

const idBytes = 16;
const idLength = 25;
const secretBytes = 32;
const secretLength = 50;
const tokenLength = sessionMark.length + idLength + 1 + secretLength;

/** The most sessions of a user. With one more, the one that was used the longest time ago ends. */
export const maxSessions = 50;

/** The precision of `usedAt`, in milliseconds. */
const useEveryMs = 300_000;

/** How long a proof counts as a confirmation, in milliseconds. */
export const confirmedMs = 600_000;

/** How far the clocks of two instances can differ, in milliseconds. */
export const skewMs = 60_000;

/** The most characters of `User-Agent` that are kept. */
const maxAgent = 200;

/** Where a session begins. */
export interface Origin {
  /** The part of the network that is shown. */
  network: string;
  /** The header `User-Agent`. */
  agent: string | undefined;
}

/** A new session: the change that stores it, and its token, which nothing stores. */
export interface NewSession {
  session: Session;
  token: string;
  change: Change;
}

/** The most keys of a user for programs. */
export const maxUserKeys = 20;

/** What makes a session a key for a program. */
export type UserKey = Required<Pick<Session, "name" | "expiresAt">> & Pick<Session, "scopes">;

/** Whether a session is a key for a program. */
export function isKey({ value }: Versioned<Session>): boolean {
  return value.name !== undefined;
}

/** Makes a session for a user, or a key for a program. */
export function newSession(
  user: string,
  { network, agent = "" }: Origin,
  now: number,
  key?: UserKey,
): NewSession {
  const id = randomText(idBytes, idLength);
  const token = `${sessionMark}${id}_${randomText(secretBytes, secretLength)}`;
  const session: Session = {
    id,
    user,
    hash: hashCredential(token).toString("base64url"),
    createdAt: now,
    usedAt: now,
    confirmedAt: key === undefined ? now : 0,
    network,
    agent: agent.slice(0, maxAgent),
    ...key,
  };
  return { session, token, change: put(sessionsName, id, undefined, session) };
}

/** The changes that end sessions. */
export function endingOf(sessions: readonly Versioned<Session>[]): Change[] {
  return sessions.map(({ value, version }) => remove(sessionsName, value.id, version));
}

/** The changes that end the session of a client until now, if it is of another user. */
export async function endingOfOther(
  records: UserRecords,
  session: string | undefined,
  user: string,
): Promise<Change[]> {
  const former = session === undefined ? undefined : await records.session(session);
  return former === undefined || isKey(former) || former.value.user === user ? [] : endingOf([former]);
}

/** A session in the store, with its account. */
interface FoundSession {
  session: Versioned<Session>;
  account: Account;
}

/** What sessions depend on. */
export interface SessionParts {
  records: UserRecords;
  settings: Pick<UserSettings, "sessions" | "secondFactor" | "methods">;
  administrators: readonly AdministratorRule[];
  readOnly: boolean;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
}

/** The times of the sessions of an account. */
export function timesOf(
  {
    settings,
    administrators,
  }: { settings: Pick<UserSettings, "sessions">; administrators: readonly AdministratorRule[] },
  account: Account,
): SessionTimes {
  return isAdministrator(administrators, principalOf(account))
    ? settings.sessions.administrators
    : settings.sessions;
}

/** When a session ends if nothing uses it any more: Unix time in milliseconds. */
export function endOf({ createdAt, usedAt, expiresAt }: Session, { idle, absolute }: SessionTimes): number {
  return expiresAt ?? Math.min(createdAt + absolute, usedAt + idle);
}

/**
 * Removes the sessions and keys of users who never come back. A session past its absolute time is not used any more, so it is also
 * removed when its idle time is over.
 */
export async function sweepSessions(
  {
    records,
    settings,
    now,
  }: Pick<SessionParts, "records" | "now"> & { settings: Pick<UserSettings, "sessions"> },
  signal?: AbortSignal,
): Promise<void> {
  const { idle, administrators } = settings.sessions;
  while (signal?.aborted !== true) {
    // A minute more is for an instance with another clock, and five for a use that is not stored yet.
    const usedBefore = now() - Math.max(idle, administrators.idle) - useEveryMs - skewMs;
    const ended = await records.endedSessions({ usedBefore, now: now() - skewMs });
    if (ended.length === 0) return;
    try {
      await records.commit(endingOf(ended), now());
    } catch (error) {
      if (!isOvertaken(error)) throw error; // another instance removes them
      return;
    }
  }
}

/** Checks the tokens of sessions. */
export function openSessions(parts: SessionParts): Sessions {
  const ring = new CredentialRing(sessionCredentials(parts), parts);
  return {
    takes: (text) => text.startsWith(sessionMark),
    principalOf: (text) => ring.principalOf(text),
    owns: knownUsers(parts),
  };
}

/** How long it is known whether a subject is a user, in milliseconds, and of how many subjects. */
const known = { ms: 900, most: 10_000 };

function knownUsers({ records, elapsed }: SessionParts): Sessions["owns"] {
  const subjects = new LRUCache<string, { isUser: boolean; readAt: number }>({ max: known.most });
  return (subject) => {
    const found = subjects.peek(subject);
    const readAt = elapsed();
    if (found !== undefined && readAt - found.readAt < known.ms) return found.isUser;
    return records.isOfAccount(subject).then((isUser) => {
      subjects.set(subject, { isUser, readAt });
      return isUser;
    });
  };
}

function sessionCredentials(parts: SessionParts): CredentialKind<FoundSession> {
  const { records, readOnly, settings } = parts;
  return {
    called: "session",
    length: tokenLength,
    nameOf: (text) => text.slice(sessionMark.length, sessionMark.length + idLength),
    find: async (id) => {
      const session = await records.session(id);
      const account = session && (await records.account(session.value.user));
      return account && { session, account: account.value };
    },
    hashOf: ({ session }) => session.value.hash,
    principalOf: ({ session: { value }, account }) => ({
      ...principalOf(account),
      scopes: value.scopes && parseScopes(value.scopes),
      session: {
        id: value.id,
        confirmedAt: value.confirmedAt,
        mustAddFactor: isMissingFactor(settings, account),
        ...(value.expiresAt !== undefined && { keyUntil: value.expiresAt }),
      },
    }),
    usedAt: ({ session }) => session.value.usedAt,
    requireValid: ({ session, account }, { now, usedAt }) => {
      const end = endOf({ ...session.value, usedAt }, timesOf(parts, account));
      if (account.disabled || end <= now) throw invalidToken("The session has ended. Sign in again.");
    },
    useEveryMs,
    noteUse: async ({ session: { value, version } }, at) => {
      if (readOnly) return;
      await records.commit([put(sessionsName, value.id, version, { ...value, usedAt: at })], at);
    },
  };
}
