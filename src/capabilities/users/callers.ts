/** People as callers: their sessions are credentials, also in cookies. */
import type { Authenticator, IdentifyingRequest } from "../../access/authenticate.ts";
import type { Principal } from "../../access/principal.ts";
import { Problem } from "../../errors.ts";
import type { Cookies } from "./cookies.ts";
import { openSessions, type SessionParts } from "./sessions.ts";
import type { Account, UserRecords } from "./user-records.ts";

/** What people as callers depend on. */
interface CallerParts {
  sessions: SessionParts;
  cookies: Cookies;
  records: UserRecords;
  /** The account of a session; `undefined` if the session has ended. */
  accountOf(session: string): Promise<Account | undefined>;
  /** Whether an account must set up a second factor before anything else. */
  lacksFactor(account: Account): boolean;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** People as callers. */
export function createAuthenticator(parts: CallerParts): Authenticator {
  const sessions = openSessions(parts.sessions);
  return {
    ...sessions,
    identify: (request) => identify(parts, sessions, request),
    requireReady: (principal) => requireReady(parts, principal),
    principalNow: (principal) => principalNow(parts, principal),
  };
}

function identify(
  { cookies }: CallerParts,
  sessions: Pick<Authenticator, "principalOf">,
  request: IdentifyingRequest,
): Promise<Principal | undefined> | undefined {
  const token = cookies.tokenIn(request);
  return token === undefined ? undefined : bySession(sessions, token);
}

/** The caller of a cookie. A browser sends the cookie of an ended session until it gets another one, so it counts as no caller. */
async function bySession(
  sessions: Pick<Authenticator, "principalOf">,
  token: string,
): Promise<Principal | undefined> {
  try {
    return await sessions.principalOf(token);
  } catch (error) {
    if (error instanceof Problem && error.code === "INVALID_TOKEN") return undefined;
    throw error;
  }
}

/** The principal can be a second old, and the user expects that a new factor counts at once. An ended session can do nothing. */
async function requireReady({ accountOf, lacksFactor }: CallerParts, { session }: Principal): Promise<void> {
  if (session?.mustAddFactor !== true) return;
  const account = await accountOf(session.id);
  if (account !== undefined && !lacksFactor(account)) return;
  throw new Problem(
    "SECOND_FACTOR_REQUIRED",
    "The service requires a second factor of you. Set one up with POST _auth/factors. Before that, this session can do nothing else.",
  );
}

async function principalNow({ records, now }: CallerParts, principal: Principal): Promise<Principal> {
  const { subject, session, roles } = principal;
  const ended = (why: string) => new Problem("INSUFFICIENT_SCOPE", `${why} The task ended.`);
  const account = (await records.account(subject))?.value;
  if (account?.disabled === true) throw ended("The account that began the task was disabled.");
  if (account === undefined && (session !== undefined || (await records.isOfAccount(subject))))
    throw ended("The account that began the task was deleted.");
  const { id, keyUntil = 0 } = session ?? {};
  if (id !== undefined && now() < keyUntil && (await records.session(id)) === undefined)
    throw ended("The key that began the task was deleted.");
  if (account === undefined || session === undefined) return principal;
  return { ...principal, roles: roles.filter((role) => account.roles.includes(role)) };
}
