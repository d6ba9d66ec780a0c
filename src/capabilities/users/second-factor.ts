/**
 * The second factor of a sign-in: a code of an authenticator app (TOTP), a recovery code, or a passkey. Also what users change about
 * their factors.
 */
import { Problem } from "../../errors.ts";
import { put, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { AuditKind } from "./audit.ts";
import { isKnownDevice } from "./devices.ts";
import { isMissingFactor, isRequired, type SecondFactorKind, secondFactorsOf, stampOf } from "./factors.ts";
import type { Beginning, Current, Flows, SignedIn, Visitor } from "./flows.ts";
import { guessPolicies, type Taken } from "./guess-limits.ts";
import type { OwnAccount } from "./own-account.ts";
import type { CreationOptions, PasskeyResponse, Passkeys, RequestOptions } from "./passkeys.ts";
import type { SealedTickets } from "./sealed-tickets.ts";
import { endingOf } from "./sessions.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { type GivenTicket, newCode, readCode, ticketId } from "./tickets.ts";
import { type Account, accountsName, type Passkey, type Totp } from "./user-records.ts";

/** A sign-in that needs the second factor. */
export interface SecondStep extends GivenTicket {
  /** What the client can send with the ticket. */
  factors: readonly SecondFactorKind[];
  /** What the browser's `navigator.credentials.get` needs for a passkey. */
  passkey?: RequestOptions | undefined;
}

/** How a sign-in ends: with a session, or with the question for the second factor. */
export type Begun = SignedIn | SecondStep;

/** A proof by a second factor: exactly one of the last three. */
export interface SecondProof {
  ticket: string;
  device?: string | undefined;
  totp?: string | undefined;
  recoveryCode?: string | undefined;
  passkey?: PasskeyResponse | undefined;
}

/** A factor that a user has just set up. */
export interface AddedFactor {
  factor: Totp | Passkey;
  /** The new recovery codes, if the user had none and needs some. Nothing stores them. */
  recoveryCodes: readonly string[] | undefined;
}

/** What second factors depend on. */
export interface SecondFactorParts extends Flows {
  tickets: SealedTickets;
  passkeys: Passkeys;
  own: OwnAccount;
}

/** What a ticket for the second factor contains. */
interface Asked {
  user: string;
  /** What the account was when the first factor was proven. */
  stamp: string;
  ends?: string | undefined;
  /** What the audit records of the second step. @default signIn */
  kind?: AuditKind | undefined;
}

/** The recovery codes of a user. */
const recoveryCount = 10;

/** A recovery code is three codes of a mail, one after the other: 24 letters, 120 random bits. */
const recoveryParts = 3;

const notices = {
  totp: "An authenticator app was added to your account. All other devices were signed out.",
  passkey: "A passkey was added to your account.",
  removed:
    "A second factor or a passkey of your account was removed. All other devices were signed out. With a password or a code by mail, you can still sign in if the service has them.",
  recoveryCodes: "Your account has new recovery codes. The earlier ones no longer work.",
  guessed:
    "There were many wrong codes of your second factor, after a right password or a right code by mail. If it was not you, set a new password.",
};

/** The second factors of the users of one service. */
export class SecondFactors {
  readonly #parts: SecondFactorParts;

  constructor(parts: SecondFactorParts) {
    this.#parts = parts;
  }

  /** What a sign-in asks for after the first factor; empty if one factor is enough. */
  factorsOf(account: Account): SecondFactorKind[] {
    return secondFactorsOf(this.#parts.settings, account);
  }

  /** Whether the service requires a second factor of the user. */
  isRequired({ roles }: Account): boolean {
    return isRequired(this.#parts.settings, roles);
  }

  /** Whether the user must set up a second factor before anything else. */
  isMissing(account: Account): boolean {
    return isMissingFactor(this.#parts.settings, account);
  }

  /** The second step of a sign-in to an account; `undefined` if one factor is enough. */
  async step(account: Account, later: Pick<Asked, "ends" | "kind">): Promise<SecondStep | undefined> {
    const factors = this.factorsOf(account);
    if (factors.length === 0) return undefined;
    const { tickets, passkeys } = this.#parts;
    const asked: Asked = { user: account.id, stamp: stampOf(account), ...later };
    const given = tickets.give("secondFactor", asked);
    const passkey = factors.includes("passkey") ? await passkeys.request(given.ticket) : undefined;
    return { ...given, factors, passkey };
  }

  /** The user of a ticket for the second factor; `undefined` if it is no open one. */
  userIn(ticket: unknown): string | undefined {
    try {
      return this.#parts.tickets.open<Asked>("secondFactor", String(ticket)).user;
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  /** Begins the session of a sign-in that needed this. Throws SIGN_IN_FAILED and QUOTA_EXCEEDED. */
  async prove(proof: SecondProof, visitor: Visitor): Promise<SignedIn> {
    const { tickets, records, beginProven, untilCommitted, notice } = this.#parts;
    const asked = tickets.open<Asked>("secondFactor", proof.ticket);
    const find = async (): Promise<Versioned<Account>> => {
      const found = await records.account(asked.user);
      // A password or a factor that has changed since then proves nothing.
      if (found === undefined || found.value.disabled || stampOf(found.value) !== asked.stamp)
        throw signInFailed();
      return found;
    };
    const taken = await this.#takeTry((await find()).value, proof.device);
    const signedIn = await untilCommitted(async () => {
      const found = await find();
      const also = [await tickets.use("secondFactor", proof.ticket)];
      const set = await this.#proven(found.value, proof);
      if (set.recoveryCodes !== undefined)
        also.push(await notice(found.value, usedNotice(set.recoveryCodes.length)));
      const method = methodOf(proof);
      const { kind, ends } = asked;
      return beginProven(found, { visitor, kind, method, device: proof.device, ends, set, also });
    });
    await taken.giveBack();
    return signedIn;
  }

  /** Begins to set up an authenticator app. Throws CONFIRMATION_REQUIRED. */
  async beginTotp({ session, account }: Current): Promise<GivenTicket & { secret: string; uri: string }> {
    const { own, tickets, title } = this.#parts;
    own.requireConfirmed(session);
    const { Secret, TOTP } = await import("otpauth");
    const secret = new Secret({ size: 20 });
    const { base32 } = secret;
    const given = tickets.give("newTotp", { user: account.id, secret: base32 });
    return {
      ...given,
      secret: base32,
      uri: new TOTP({ issuer: title, label: account.email, secret }).toString(),
    };
  }

  /**
   * Sets up the authenticator app whose code is right, in place of the one before. All other sessions of the user end. Throws
   * CONFIRMATION_REQUIRED and SIGN_IN_FAILED.
   */
  async addTotp(
    current: Current,
    { ticket, totp: code, name }: { ticket: string; totp: string; name?: string | undefined },
  ): Promise<AddedFactor> {
    const { tickets, newUuid, vault, now } = this.#parts;
    const { user, secret } = tickets.open<{ user: string; secret: string }>("newTotp", ticket);
    const step = await this.#stepOf(secret, code);
    if (user !== current.account.id || step === undefined) throw signInFailed();
    const sealed = vault.seal("totp", placeOf(user), secret);
    const totp: Totp = { kind: "totp", id: newUuid(), name, sealed, createdAt: now(), usedAt: now(), step };
    const use = () => tickets.use("newTotp", ticket);
    return this.#add(current, { factor: totp, use, set: () => ({ totp }), endsOthers: true });
  }

  /** Begins to add a passkey. Throws CONFIRMATION_REQUIRED and FACTOR_UNAVAILABLE. */
  async beginPasskey({ session, account }: Current): Promise<GivenTicket & { options: CreationOptions }> {
    const { own, tickets, passkeys } = this.#parts;
    own.requireConfirmed(session);
    passkeys.requireRoom(account);
    const given = tickets.give("newPasskey", { user: account.id });
    return { ...given, options: await passkeys.creation(given.ticket, account) };
  }

  /** Adds a passkey. Throws CONFIRMATION_REQUIRED, FACTOR_UNAVAILABLE and SIGN_IN_FAILED. */
  async addPasskey(
    current: Current,
    { ticket, passkey, name }: { ticket: string; passkey: PasskeyResponse; name?: string | undefined },
  ): Promise<AddedFactor> {
    const { tickets, passkeys } = this.#parts;
    const { user } = tickets.open<{ user: string }>("newPasskey", ticket);
    if (user !== current.account.id) throw signInFailed();
    const made = await passkeys.made(passkey, { ticket, name });
    const set = (account: Account) => {
      passkeys.requireRoom(account);
      const others = account.passkeys ?? [];
      if (others.some(({ credential }) => credential === made.credential)) throw signInFailed();
      return { passkeys: [...others, made] };
    };
    return this.#add(current, { factor: made, use: () => tickets.use("newPasskey", ticket), set });
  }

  /**
   * Removes a factor. All other sessions and known devices of the user end. Returns whether there was one. Throws
   * CONFIRMATION_REQUIRED, and FACTOR_UNAVAILABLE if the user needs it.
   */
  async remove(current: Current, id: string): Promise<boolean> {
    return this.#change(current, async (account) => {
      const { totp, passkeys = [] } = account;
      if (totp?.id !== id && passkeys.every((each) => each.id !== id)) return { result: false };
      const left: Account = {
        ...account,
        totp: totp?.id === id ? undefined : totp,
        passkeys: passkeys.filter((each) => each.id !== id),
      };
      if (this.isMissing(left))
        throw unavailable(
          "The service requires a second factor of you, and this is the last one. Set up another one first.",
        );
      const identities = await this.#parts.records.identitiesOf(account.id);
      if (!this.#canSignIn(left) && !(this.#hasProviders && identities.length > 0))
        throw unavailable("This passkey is your only way to sign in. Set a password first.");
      const { length } = this.factorsOf(left);
      const set = { ...left, devices: [], ...(length === 0 && { recoveryCodes: undefined }) };
      return {
        result: true,
        set,
        kind: "factorRemoved",
        item: id,
        notice: notices.removed,
        endsOthers: true,
      };
    });
  }

  /** Makes new recovery codes in place of those before. Throws CONFIRMATION_REQUIRED, and FACTOR_UNAVAILABLE without a second factor. */
  async renewRecoveryCodes(current: Current): Promise<readonly string[]> {
    const { texts, hashes } = newRecoveryCodes();
    return this.#change(current, async (account) => {
      if (this.factorsOf(account).length === 0)
        throw unavailable("Recovery codes replace a second factor. Set one up first.");
      return {
        result: texts,
        set: { recoveryCodes: hashes },
        kind: "recoveryCodes",
        notice: notices.recoveryCodes,
      };
    });
  }

  get #hasProviders(): boolean {
    return this.#parts.settings.methods.includes("providers");
  }

  /** Whether the first factors of an account are enough to sign in again. */
  #canSignIn({ passkeys = [] }: Account): boolean {
    const { methods } = this.#parts.settings;
    // A password can be set by mail at any time.
    return methods.includes("email") || methods.includes("password") || passkeys.length > 0;
  }

  /** What changes in an account whose second factor is proven. Throws SIGN_IN_FAILED. */
  async #proven(
    account: Account,
    { ticket, totp, recoveryCode, passkey }: SecondProof,
  ): Promise<Partial<Account>> {
    const { vault, passkeys, now, warn } = this.#parts;
    const factors = this.factorsOf(account);
    if (passkey !== undefined && factors.includes("passkey"))
      return passkeys.proven(account, passkey, ticket);
    if (recoveryCode !== undefined && factors.includes("recoveryCode")) {
      const used = hashOfRecovery(recoveryCode);
      const { recoveryCodes = [] } = account;
      if (used === undefined || !recoveryCodes.includes(used)) throw signInFailed();
      return { recoveryCodes: recoveryCodes.filter((each) => each !== used) };
    }
    if (totp === undefined || account.totp === undefined) throw signInFailed();
    const place = placeOf(account.id);
    let secret: string;
    try {
      secret = vault.open("totp", place, account.totp.sealed);
    } catch (error) {
      warn(`an authenticator app does not work: ${(error as Error).message}`);
      throw signInFailed(); // a recovery code still works
    }
    const step = await this.#stepOf(secret, totp);
    if (step === undefined || step <= account.totp.step) throw signInFailed(); // each step works once
    // Sealed again, so that a secret of the service that was replaced can be removed one day.
    const sealed = vault.seal("totp", place, secret);
    return { totp: { ...account.totp, sealed, step, usedAt: now() } };
  }

  /** The step whose code this is: now, the one before, or the next one. */
  async #stepOf(secret: string, code: string): Promise<number | undefined> {
    const { Secret, TOTP } = await import("otpauth");
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const timestamp = this.#parts.now();
    const token = code.replaceAll(/\s/g, "");
    if (!/^[0-9]{6}$/.test(token)) return undefined; // the library throws for characters outside ASCII
    const delta = totp.validate({ token, timestamp, window: 1 });
    return delta === null ? undefined : totp.counter({ timestamp }) + delta;
  }

  /** Counts a wrong code before it is known to be wrong. Throws QUOTA_EXCEEDED. */
  async #takeTry(account: Account, device: string | undefined): Promise<Taken> {
    const { limits, now } = this.#parts;
    if (isKnownDevice(account, device, now()))
      return limits.take(
        [{ policy: guessPolicies.secondFactorOfDevice, subject: `${account.id} ${device}` }],
        now(),
      );
    try {
      return await limits.take([{ policy: guessPolicies.secondFactor, subject: account.id }], now());
    } catch (error) {
      if (error instanceof Problem && error.code === "QUOTA_EXCEEDED") await this.#warn(account);
      throw error;
    }
  }

  /** Tells the user that somebody has proven the first factor, once a day. */
  async #warn(account: Account): Promise<void> {
    const { limits, now, untilCommitted, notice } = this.#parts;
    try {
      await limits.take([{ policy: guessPolicies.secondFactorNotice, subject: account.id }], now());
    } catch (error) {
      if (error instanceof Problem && error.code === "QUOTA_EXCEEDED") return;
      throw error;
    }
    const change = await notice(account, notices.guessed);
    await untilCommitted(async () => ({ changes: [change], result: undefined }));
  }

  async #add(
    current: Current,
    {
      factor,
      use,
      set,
      endsOthers = false,
    }: {
      factor: Totp | Passkey;
      use: () => Promise<Change>;
      set: (account: Account) => Partial<Account>;
      endsOthers?: boolean;
    },
  ): Promise<AddedFactor> {
    const { texts, hashes } = newRecoveryCodes();
    return this.#change(current, async (account) => {
      const changed = { ...account, ...set(account) };
      const needsCodes = this.factorsOf(changed).length > 0 && (account.recoveryCodes ?? []).length === 0;
      return {
        result: { factor, recoveryCodes: needsCodes ? texts : undefined },
        set: needsCodes ? { ...changed, recoveryCodes: hashes } : changed,
        kind: "factorAdded",
        item: factor.id,
        notice: notices[factor.kind],
        endsOthers,
        also: [await use()],
      };
    });
  }

  /** Changes the factors of an account in a confirmed session. Throws CONFIRMATION_REQUIRED, and what `decide` throws. */
  #change<T>(
    { session, account, source = {} }: Current,
    decide: (account: Account) => Promise<FactorChange<T>>,
  ): Promise<T> {
    const { records, untilCommitted, notice, audit } = this.#parts;
    this.#parts.own.requireConfirmed(session);
    return untilCommitted(async () => {
      const found = await records.account(account.id);
      const sessions = await records.sessionsOf(account.id);
      // The session can have ended meanwhile, because the owner has signed out everywhere.
      const own = sessions.find(({ value }) => value.id === session.id);
      if (found === undefined || found.value.disabled || own === undefined) throw signInFailed();
      const {
        result,
        set,
        kind,
        item,
        notice: text,
        endsOthers = false,
        also = [],
      } = await decide(found.value);
      if (set === undefined) return { changes: [], result };
      const value: Account = { ...found.value, ...set };
      const others = endsOthers ? sessions.filter((each) => each !== own) : [];
      const mails = text === undefined ? [] : [await notice(value, text)];
      const changes = [
        put(accountsName, value.id, found.version, value),
        ...endingOf(others),
        ...also,
        ...mails,
        ...(kind === undefined ? [] : [audit.entry({ kind, item, subject: value.id }, source)]),
      ];
      return { changes, result };
    });
  }
}

/** What a change of factors writes. Without `set`, nothing. */
interface FactorChange<T> {
  result: T;
  set?: Partial<Account>;
  /** What the audit records, and the factor that it is about. */
  kind?: AuditKind;
  item?: string;
  notice?: string;
  /** Whether all other sessions of the user end. @default false */
  endsOthers?: boolean;
  also?: readonly Change[];
}

function placeOf(user: string): string {
  return `${accountsName}/${user}/totp`;
}

function newRecoveryCodes(): { texts: string[]; hashes: string[] } {
  const codeOf = () => Array.from({ length: recoveryParts }, newCode).join("-");
  const texts = Array.from({ length: recoveryCount }, codeOf);
  return { texts, hashes: texts.flatMap((each) => hashOfRecovery(each) ?? []) };
}

/** What the store keeps of a recovery code; `undefined` if the text cannot be one. */
function hashOfRecovery(typed: string): string | undefined {
  const plain = typed.replaceAll(/[-\s]/g, "");
  const each = plain.length / recoveryParts;
  const parts = Array.from({ length: recoveryParts }, (_, n) =>
    readCode(plain.slice(n * each, (n + 1) * each)),
  );
  return parts.includes(undefined) ? undefined : ticketId(parts.join(""));
}

function methodOf({ passkey, recoveryCode }: SecondProof): Beginning["method"] {
  if (passkey !== undefined) return "passkey";
  return recoveryCode === undefined ? "totp" : "recoveryCode";
}

function usedNotice(left: number): string {
  return `One of your recovery codes was used to sign in. ${left} of them are left.`;
}

/** A change of factors that is not possible. */
export function unavailable(detail: string): Problem {
  return new Problem("FACTOR_UNAVAILABLE", detail);
}
