/** What users change about their own accounts: the password, the address, keys for programs, and which sessions are open. */
import { signInFailed } from "../access/challenges.ts";
import { Problem } from "../errors.ts";
import { type Decided, put, type Versioned } from "../records.ts";
import type { Change } from "../store/port/commit.ts";
import { endInvitations } from "./administration.ts";
import type { Audit } from "./audit.ts";
import { inNewEpoch } from "./factors.ts";
import { readAddress } from "./mail-address.ts";
import type { Mirror } from "./mirror.ts";
import { confirmedMs, endingOf, isKey, maxUserKeys, newSession, skewMs, type UserKey } from "./sessions.ts";
import type { GivenTicket, TicketProof, Tickets } from "./tickets.ts";
import { type Account, accountsName, type Session, type Ticket, type UserRecords } from "./user-records.ts";
import type { Beginning, Current, SignedIn, Visitor } from "./users.ts";

/** What changes of the own account depend on. */
export interface OwnAccountParts {
  records: UserRecords;
  audit: Pick<Audit, "entry">;
  tickets: Tickets;
  mirror: Mirror;
  /** The hash of a new password of an account. Throws PASSWORD_REFUSED, QUOTA_EXCEEDED and UNAVAILABLE. */
  hashNew(password: string, account: Account, visitor: Visitor): Promise<string>;
  /** What begins a session of an account whose factors are proven. */
  begin(account: Versioned<Account>, beginning: Beginning): Promise<Decided<SignedIn>>;
  /** The change that tells a user something by mail. */
  notice(account: Account, text: string): Promise<Change>;
  untilCommitted<T>(decide: () => Promise<Decided<T | Problem>>): Promise<T>;
  /** Unix time in milliseconds. */
  now: () => number;
}

/** What mails say about a change. */
export const notices = {
  password: "The password of your account was changed. All other devices were signed out.",
  key: "A key with which a program acts as you was added to your account.",
  email:
    "The address of your account was changed. No more mail comes to this one. All other devices were signed out.",
};

/** What the users of one service change about their own accounts. */
export class OwnAccount {
  readonly #parts: OwnAccountParts;

  constructor(parts: OwnAccountParts) {
    this.#parts = parts;
  }

  /** Sets a password in a confirmed session. All sessions of the user end. Throws CONFIRMATION_REQUIRED and PASSWORD_REFUSED. */
  async changePassword({ session, account }: Current, password: string, visitor: Visitor): Promise<SignedIn> {
    const { begin, notice, untilCommitted, hashNew } = this.#parts;
    this.requireConfirmed(session);
    const hashed = await hashNew(password, account, visitor);
    return untilCommitted(async () => {
      const current = await this.#requireOpen(account.id, session.id);
      const also = [await notice(current.value, notices.password)];
      const set = { password: hashed, devices: [] };
      return begin(current, { visitor, kind: "password", method: "session", ends: "all", set, also });
    });
  }

  /**
   * Begins a change of the address, in a confirmed session: mails a code to the new one. The answer is the same if the address has
   * an account. Throws CONFIRMATION_REQUIRED, INVALID_PARAMETER, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async requestEmail({ session, account }: Current, email: string, visitor: Visitor): Promise<GivenTicket> {
    const { records, tickets } = this.#parts;
    this.requireConfirmed(session);
    const to = readAddress(email);
    await tickets.count(visitor);
    const other = await records.accountOf(to.key);
    const isFree = other === undefined || other.value.id === account.id; // the user can change its letters
    return tickets.give({
      kind: "email",
      to,
      template: isFree ? "email" : undefined,
      visitor,
      user: account.id,
    });
  }

  /** Sets the address that a ticket and its code prove. All other sessions of the user end. Throws as `signIn` does. */
  async changeEmail({ session, account }: Current, proof: TicketProof, visitor: Visitor): Promise<SignedIn> {
    const { tickets, begin, untilCommitted } = this.#parts;
    this.requireConfirmed(session);
    return untilCommitted(() =>
      tickets.redeem(proof, ["email"], async (found) => {
        const current = await this.#requireOpen(account.id, session.id);
        if (found.value.user !== account.id) throw signInFailed();
        return begin(current, await this.withAddress(found, current.value, visitor));
      }),
    );
  }

  /** What begins a session of an account with the address that a ticket has proven. Throws SIGN_IN_FAILED if another account has it. */
  async withAddress(found: Versioned<Ticket>, account: Account, visitor: Visitor): Promise<Beginning> {
    const { records, tickets, mirror, notice, now } = this.#parts;
    const { email, address } = found.value;
    const other = await records.accountOf(address);
    if (other !== undefined && other.value.id !== account.id) throw signInFailed();
    const invitations = [
      ...(await records.invitationsFor(address)),
      ...(await records.invitationsOf(account.id)),
    ];
    const ended = new Map(invitations.map((each) => [each.value.id, each]));
    const also = [
      ...(await tickets.endingWith(found)),
      ...(await tickets.endingFor(account.address, address)),
      ...endInvitations([...ended.values()]),
      ...(await mirror.changesFor(account.id, { ...account, email }, now())),
      await notice(account, notices.email),
    ];
    // Also ends a sign-in that waits for the second factor if only letters change.
    const set = { email, address, devices: [], epoch: inNewEpoch(account).epoch };
    return { visitor, kind: "email", method: "email", ends: "all", set, also };
  }

  /**
   * Makes a key with which a program acts as the user, in a confirmed session. Throws CONFIRMATION_REQUIRED, and TOO_MANY_KEYS.
   */
  async addKey(
    { session, account }: Current,
    key: UserKey,
    visitor: Visitor,
  ): Promise<Current & { token: string }> {
    const { records, audit, notice, untilCommitted, now } = this.#parts;
    this.requireConfirmed(session);
    return untilCommitted(async () => {
      const current = await this.#requireOpen(account.id, session.id);
      const keys = (await records.sessionsOf(account.id)).filter(isKey);
      const ended = keys.filter(({ value }) => (value.expiresAt ?? 0) <= now());
      if (keys.length - ended.length >= maxUserKeys)
        throw new Problem("TOO_MANY_KEYS", `You have ${maxUserKeys} keys already. End one of them first.`);
      const origin = { network: visitor.shownNetwork, agent: visitor.agent };
      const made = newSession(account.id, origin, now(), key);
      const { value, version } = current;
      return {
        // The account is written too, so that two requests cannot make a key at the same time.
        changes: [
          put(accountsName, account.id, version, value),
          made.change,
          ...endingOf(ended),
          await notice(value, notices.key),
          audit.entry({ kind: "programKey", subject: account.id, item: made.session.id }, visitor),
        ],
        result: { session: made.session, account: value, token: made.token },
      };
    });
  }

  /** Ends sessions of a user: one, or all. Returns whether there was one. */
  async end(user: string, which: string | "all", visitor: Visitor): Promise<boolean> {
    const { records, audit, untilCommitted } = this.#parts;
    return untilCommitted(async () => {
      const all = await records.sessionsOf(user);
      const ended = all.filter(({ value }) => which === "all" || value.id === which);
      if (ended.length === 0) return { changes: [], result: false };
      const item = which === "all" ? undefined : which;
      const account = which === "all" ? await records.account(user) : undefined;
      const waiting =
        account === undefined ? [] : [put(accountsName, user, account.version, inNewEpoch(account.value))];
      const entry = audit.entry({ kind: "signOut", subject: user, item }, visitor);
      return { changes: [...waiting, ...endingOf(ended), entry], result: true };
    });
  }

  /** Throws CONFIRMATION_REQUIRED unless the user has proven who they are within the last ten minutes. */
  requireConfirmed({ confirmedAt }: Pick<Session, "confirmedAt">): void {
    const age = this.#parts.now() - confirmedAt;
    // The clocks of two instances can differ a little. A clock that was set back confirms nothing.
    if (age > -skewMs && age < confirmedMs) return;
    throw new Problem(
      "CONFIRMATION_REQUIRED",
      "This change needs a proof that is at most ten minutes old. Send your password, or a ticket with its code, to _auth/confirm.",
    );
  }

  /** The account, while the session is still open: the owner can have ended it meanwhile. Throws SIGN_IN_FAILED. */
  async #requireOpen(id: string, session: string): Promise<Versioned<Account>> {
    const { records } = this.#parts;
    const current = await records.account(id);
    const isOpen = (await records.session(session)) !== undefined;
    if (!isOpen || current === undefined || current.value.disabled) throw signInFailed();
    return current;
  }
}
