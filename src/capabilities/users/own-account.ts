/** What users change about their own accounts: the password, keys for programs, and which sessions are open. */
import { Problem } from "../../errors.ts";
import { put, type Versioned } from "../../records.ts";
import { inNewEpoch } from "./factors.ts";
import type { Current, Flows, SignedIn, Visitor } from "./flows.ts";
import type { NewPasswords } from "./new-passwords.ts";
import { confirmedMs, endingOf, isKey, maxUserKeys, newSession, skewMs, type UserKey } from "./sessions.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { type Account, accountsName, type Session } from "./user-records.ts";

/** What changes of the own account depend on. */
export interface OwnAccountParts extends Flows {
  passwords: NewPasswords;
}

/** What mails say about a change. */
export const notices = {
  password: "The password of your account was changed. All other devices were signed out.",
  key: "A key with which a program acts as you was added to your account.",
};

/** What the users of one service change about their own accounts. */
export class OwnAccount {
  readonly #parts: OwnAccountParts;

  constructor(parts: OwnAccountParts) {
    this.#parts = parts;
  }

  /** Sets a password in a confirmed session. All sessions of the user end. Throws CONFIRMATION_REQUIRED and PASSWORD_REFUSED. */
  async changePassword({ session, account }: Current, password: string, visitor: Visitor): Promise<SignedIn> {
    const { beginProven, notice, untilCommitted, passwords } = this.#parts;
    this.requireConfirmed(session);
    const hashed = await passwords.hashFor(account, password, visitor);
    return untilCommitted(async () => {
      const current = await this.requireOpen(account.id, session.id);
      const also = [await notice(current.value, notices.password)];
      const set = { password: hashed, devices: [] };
      return beginProven(current, { visitor, kind: "password", method: "session", ends: "all", set, also });
    });
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
      const current = await this.requireOpen(account.id, session.id);
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
  async requireOpen(id: string, session: string): Promise<Versioned<Account>> {
    const { records } = this.#parts;
    const current = await records.account(id);
    const isOpen = (await records.session(session)) !== undefined;
    if (!isOpen || current === undefined || current.value.disabled) throw signInFailed();
    return current;
  }
}
