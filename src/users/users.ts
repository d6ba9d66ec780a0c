/** Signing in and up: the flows that strangers start, and what a user changes about the own account. */
import type { Sessions } from "../access/authenticate.ts";
import { networkOf, shownNetwork } from "../access/networks.ts";
import type { AdministratorRule } from "../access/roles.ts";
import { Problem, type Violation } from "../errors.ts";
import { type Decided, isOvertaken, put, type Versioned } from "../records.ts";
import type { Change } from "../store/port/commit.ts";
import type { ServingStore } from "../store/port/store.ts";
import { Administration, endInvitations, requireInvitation } from "./administration.ts";
import { Cookies } from "./cookies.ts";
import { isKnownDevice, newDevice, withDevice, withoutDevice } from "./devices.ts";
import { type GuessLimits, guessPolicies, mailOfService, type Taken } from "./guess-limits.ts";
import type { MailQueue, MailToSend } from "./mail/mail-queue.ts";
import { readMailAddress } from "./mail-address.ts";
import { type PasskeyProof, Passkeys } from "./passkeys.ts";
import type { PasswordHasher } from "./password-hash.ts";
import { isBreached, refusedPassword } from "./password-rules.ts";
import type { Claims } from "./provider-client.ts";
import { type IdentityUse, identityId, newIdentity, Providers } from "./providers.ts";
import { type GivenTicket, SealedTickets, signInFailed } from "./sealed-tickets.ts";
import { SecondFactors, type SecondStep } from "./second-factor.ts";
import { confirmedMs, endingOf, endOf, maxSessions, newSession, openSessions, timesOf } from "./sessions.ts";
import {
  codeMac,
  countWrong,
  endTickets,
  isOpen,
  isRightCode,
  newCode,
  newTicketText,
  ticketId,
  ticketMs,
} from "./tickets.ts";
import {
  type Account,
  accountsName,
  type Invitation,
  type Session,
  type Ticket,
  type TicketKind,
  ticketsName,
  type UserRecords,
} from "./user-records.ts";
import type { UserSettings } from "./user-settings.ts";

/** What the flows depend on. */
export interface UserParts {
  store: ServingStore;
  records: UserRecords;
  settings: UserSettings;
  administrators: readonly AdministratorRule[];
  /** The roles that administrators can give over HTTP. */
  grantable: readonly string[];
  readOnly: boolean;
  /** The title of the service. */
  title: string;
  /** Where people find the service: an origin. */
  publicUrl: () => string;
  /** Whether only this machine reaches the service, without https. */
  isLocal: boolean;
  /** Six characters that name the store. */
  identity: () => string;
  vault: {
    seal(purpose: string, place: string, text: string): string;
    open(purpose: string, place: string, sealed: string): string;
    mac(purpose: string, text: string): string;
  };
  hasher: PasswordHasher;
  limits: GuessLimits;
  mail: Pick<MailQueue, "changeFor" | "wake">;
  /** The most mails with codes of the service in an hour. */
  mailsPerHour: number;
  profiles: Profiles;
  /** The secrets of the providers, by name. */
  providerSecrets: Readonly<Record<string, string>>;
  /** The path of the collections, such as `/api/v1`. */
  prefix: string;
  /** Writes a line for the operator into the log. */
  warn: (message: string) => void;
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  /** A clock in milliseconds that never goes back. */
  elapsed: () => number;
}

/** Judges profiles as a create by a caller without roles. */
export interface Profiles {
  /** The text of a new profile. Throws VALIDATION_FAILED. */
  textOf(profile: Readonly<Record<string, unknown>>, id: string, at: number): string;
}

/** Who asks, as far as a stranger can be known. */
export interface Visitor {
  /** The network that limits count. */
  network: string;
  /** The part of the network that lists of sessions show. */
  shownNetwork: string;
  agent: string | undefined;
}

/** A proof by a password. Programs send the `device` that their first sign-in gave them. */
export interface PasswordProof {
  email: string;
  password: string;
  device?: string | undefined;
}

/** A proof by a code that came in a mail. */
export interface TicketProof {
  ticket: string;
  code: string;
  device?: string | undefined;
}

/** What a sign-in proves. */
export type Proof = PasswordProof | TicketProof | PasskeyProof;

/** What a confirmation proves. The address is that of the account. */
export type Confirmation = Omit<PasswordProof, "email"> | TicketProof | PasskeyProof;

/** What somebody sends to sign up. */
export interface SignUpAsked {
  email: string;
  password?: string | undefined;
  profile?: Readonly<Record<string, unknown>> | undefined;
  /** The token of an invitation. */
  invitation?: string | undefined;
}

/** The part of a sign-up that the ticket keeps, encrypted. */
interface SignUpContent {
  /** A hash. */
  password?: string | undefined;
  profile: Readonly<Record<string, unknown>>;
  /** The id of the invitation. */
  invitation?: string | undefined;
}

/** An account to make, with its profile. */
type NewAccount = SignUpContent & Pick<Account, "email" | "address">;

type ReadAddress = Exclude<ReturnType<typeof readMailAddress>, { fault: string }>;

/** A ticket to make. Without a template, nobody gets a mail. */
interface TicketAsked {
  kind: TicketKind;
  read: ReadAddress;
  template: MailToSend["template"];
  visitor: Visitor;
  content?: SignUpContent;
}

/** A session with its account. */
export interface Current {
  session: Session;
  account: Account;
}

/** A session that has begun. */
export interface SignedIn {
  session: Session;
  /** When it ends if nothing uses it any more: Unix time in milliseconds. */
  expiresAt: number;
  account: Account;
  token: string;
  /** What this device shows at its next sign-in; `undefined` if it is known already. */
  device: string | undefined;
}

/** How a sign-in ends: with a session, or with the question for the second factor. */
export type Begun = SignedIn | SecondStep;

/** How far the clocks of two instances can differ, in milliseconds. */
const skewMs = 60_000;

/** The most tickets in the store. */
const maxTickets = 100_000;

/** The expired tickets that one request for a ticket removes. */
const sweptTickets = 10;

/** What a new session comes with. */
export interface Beginning {
  visitor: Visitor;
  /** What the device has shown. */
  device?: string | undefined;
  /** The sessions that end with it: one by its id, or all of the user. @default none */
  ends?: string | "all" | undefined;
  /** What changes in the account. */
  set?: Partial<Account>;
  /** What else is written. */
  also?: readonly Change[];
}

/** The users of one service. */
export class Users {
  readonly #parts: UserParts;
  readonly records: UserRecords;
  /** Checks the tokens of sessions. */
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly administration: Administration;
  readonly providers: Providers;
  readonly passkeys: Passkeys;
  readonly secondFactors: SecondFactors;

  constructor(parts: UserParts) {
    const { settings } = parts;
    this.#parts = parts;
    const sessionMs = settings.sessions.absolute;
    this.cookies = new Cookies({ ...parts, origins: settings.origins, sessionMs });
    this.records = parts.records;
    this.sessions = openSessions(parts);
    this.administration = new Administration({
      ...parts,
      collection: settings.collection,
      mailChange: (mail, at) => parts.mail.changeFor(mail, at),
      onMail: () => parts.mail.wake(),
    });
    this.providers = new Providers({
      ...parts,
      secrets: parts.providerSecrets,
      address: () => `${parts.publicUrl()}${parts.prefix}/_auth/providers`,
      makeRoom: () => this.#makeRoom(),
      begin: (claims, use) => this.#signInByIdentity(claims, use),
      requireConfirmed: (session) => this.requireConfirmed(session),
      notice: (account, text) => this.#notice(account, text),
      untilCommitted: (decide) => this.#untilCommitted(decide),
    });
    const tickets = new SealedTickets(parts);
    const flows = {
      ...parts,
      tickets,
      begin: (found: Versioned<Account>, beginning: Beginning) => this.#begin(found, beginning),
      untilCommitted: <T>(decide: () => Promise<Decided<T>>) => this.#untilCommitted(decide),
    };
    this.passkeys = new Passkeys(flows);
    this.secondFactors = new SecondFactors({
      ...flows,
      passkeys: this.passkeys,
      notice: (account, text) => this.#notice(account, text),
      requireConfirmed: (session) => this.requireConfirmed(session),
    });
  }

  get settings(): UserSettings {
    return this.#parts.settings;
  }

  /** Where people find the service: an origin. */
  get publicUrl(): string {
    return this.#parts.publicUrl();
  }

  /** The own address of the providers, if a browser has come to a local service by another name of this machine. */
  ownAddressFor(host: string | undefined): string | undefined {
    const { isLocal, prefix } = this.#parts;
    return isLocal && host !== new URL(this.publicUrl).host
      ? `${this.publicUrl}${prefix}/_auth/providers`
      : undefined;
  }

  /** The roles that administrators can give over HTTP. */
  get grantable(): readonly string[] {
    return this.#parts.grantable;
  }

  /**
   * Begins a sign-up: mails a code to the address. Nothing exists before the code comes back. Throws INVALID_PARAMETER,
   * PASSWORD_REFUSED, VALIDATION_FAILED, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async signUp(
    { email, password, profile = {}, invitation: token }: SignUpAsked,
    visitor: Visitor,
  ): Promise<GivenTicket> {
    const read = readAddress(email);
    const { settings, now, records } = this.#parts;
    if (token === undefined && !takesSignUp(settings, read.domain)) throw signUpRefused(settings);
    requireMethod(settings, password);
    const invitation =
      token === undefined
        ? undefined
        : await requireInvitation(records, { token, address: read.key, now: now() });
    if (invitation?.user === undefined) this.requireFitting({ ...profile, ...invitation?.profile });
    else if (Object.keys(profile).length > 0) throw profileExists();
    if (password !== undefined) this.#requireGoodPassword(password, read.address, profile);
    await this.#countTicket(visitor);
    const hashed = password === undefined ? undefined : await this.#hashNew(password, visitor.network);
    const account = await this.records.accountOf(read.key);
    const content = { password: hashed, profile, invitation: invitation?.id };
    const asked = { kind: "signUp", visitor, content } as const;
    if (account === undefined) return this.#giveTicket({ ...asked, read, template: "signUp" });
    return this.#giveTicket({ ...asked, read: provenFor(read, account.value), template: "exists" });
  }

  /**
   * Judges a profile as that of somebody who signs up. `isPart`: required attributes can be missing. Throws VALIDATION_FAILED.
   */
  requireFitting(profile: Readonly<Record<string, unknown>>, { isPart = false } = {}): void {
    const { profiles, newUuid, now } = this.#parts;
    try {
      profiles.textOf(profile, newUuid(), now()); // the profile gets another id when it is created
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const violations = error.violations.filter(({ code }) => !isPart || code !== "required");
      if (violations.length > 0) throw inProfile(error, violations);
    }
  }

  /**
   * Begins a sign-in or a reset by mail. The answer is the same whether the address has an account or not. Throws
   * INVALID_PARAMETER, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async requestCode(kind: "signIn" | "reset", email: string, visitor: Visitor): Promise<GivenTicket> {
    const read = readAddress(email);
    await this.#countTicket(visitor);
    const account = await this.records.accountOf(read.key);
    if (account === undefined || account.value.disabled)
      return this.#giveTicket({ kind, read, template: undefined, visitor });
    return this.#giveTicket({ kind, read: provenFor(read, account.value), template: kind, visitor });
  }

  /**
   * Begins a session. `before` is the session of the client until now, which ends. Throws SIGN_IN_FAILED for every wrong proof,
   * INVALID_PARAMETER, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async signIn(proof: Proof, visitor: Visitor, before?: string): Promise<Begun> {
    if ("passkey" in proof) return this.passkeys.signIn(proof, visitor, { before });
    if ("ticket" in proof) return this.#signInByCode(proof, visitor, { before });
    if (!this.settings.methods.includes("password")) throw signInFailed();
    const { account, rehashed } = await this.#requireOwner(proof, visitor);
    return this.#untilCommitted(async () => {
      const current = await this.records.account(account.id);
      // A password that was changed since it was compared proves nothing.
      if (current === undefined || current.value.disabled || current.value.password !== account.password)
        throw signInFailed();
      const set = rehashed === undefined ? {} : { password: rehashed };
      return this.begin(current, { visitor, device: proof.device, ends: before, set });
    });
  }

  /**
   * What begins a session of an account whose first factor is proven, or asks for the second one. Every way to sign in but a passkey
   * ends here, in a commit of its own.
   */
  async begin(found: Versioned<Account>, beginning: Beginning): Promise<Decided<Begun>> {
    const { ends, set, also = [] } = beginning;
    const account = { ...found.value, ...set };
    const step = await this.secondFactors.step(account, ends === "all" ? undefined : ends);
    if (step === undefined) return this.#begin(found, beginning);
    const sessions = ends === "all" ? await this.records.sessionsOf(account.id) : [];
    const changes = [put(accountsName, account.id, found.version, account), ...endingOf(sessions), ...also];
    return { changes, result: step };
  }

  /** Confirms a session: a new one takes its place. Throws as `signIn` does. */
  async confirm({ session, account }: Current, proof: Confirmation, visitor: Visitor): Promise<Begun> {
    if ("passkey" in proof)
      return this.passkeys.signIn(proof, visitor, { before: session.id, user: account.id });
    if ("ticket" in proof)
      return this.#signInByCode(proof, visitor, { before: session.id, user: account.id });
    return this.signIn({ email: account.email, ...proof }, visitor, session.id);
  }

  /** Sets a password by the code of a reset. All sessions of the user end. Throws as `signIn` does, and PASSWORD_REFUSED. */
  async resetPassword(asked: TicketProof & { password: string }, visitor: Visitor): Promise<Begun> {
    const reset = (decide: (found: Versioned<Ticket>) => Promise<Decided<Begun>>) =>
      this.#untilCommitted(() => this.#redeem(asked, ["reset"], decide));
    const { password } = asked;
    const address = await this.#provenAddress(asked);
    this.#requireGoodPassword(password, address);
    const hashed = await this.#hashNew(password, visitor.network);
    return reset(async (found) => {
      const account = await this.records.accountOf(found.value.address);
      if (account === undefined || account.value.disabled) throw signInFailed();
      const also = [
        ...(await this.#endTicketsOf(found)),
        await this.#notice(account.value, notices.password),
      ];
      return this.begin(account, { visitor, ends: "all", set: { password: hashed, devices: [] }, also });
    });
  }

  /** Sets a password in a confirmed session. All sessions of the user end. Throws CONFIRMATION_REQUIRED and PASSWORD_REFUSED. */
  async changePassword({ session, account }: Current, password: string, visitor: Visitor): Promise<SignedIn> {
    this.requireConfirmed(session);
    this.#requireGoodPassword(password, account.email);
    const hashed = await this.#hashNew(password, visitor.network);
    return this.#untilCommitted(async () => {
      const current = await this.records.account(account.id);
      // The session can have ended while the password was hashed, because the owner has set another one.
      const isOpen = (await this.records.session(session.id)) !== undefined;
      if (!isOpen || current === undefined || current.value.disabled) throw signInFailed();
      const also = [await this.#notice(current.value, notices.password)];
      return this.#begin(current, { visitor, ends: "all", set: { password: hashed, devices: [] }, also });
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

  /** A session with its account; `undefined` if it has just ended. */
  async current(id: string): Promise<Current | undefined> {
    const session = await this.records.session(id);
    const account = session && (await this.records.account(session.value.user));
    return account && { session: session.value, account: account.value };
  }

  /** Whether the user of a session must set up a second factor before anything else. An ended session can do nothing. */
  async mustAddFactor(id: string): Promise<boolean> {
    const current = await this.current(id);
    return current === undefined || this.secondFactors.isMissing(current.account);
  }

  /** Somebody with this address and this header `User-Agent`. */
  visitor(ip: string, agent: string | undefined): Visitor {
    return { network: networkOf(ip), shownNetwork: shownNetwork(ip), agent };
  }

  /** Until when a session can change the account: Unix time in milliseconds. */
  confirmedUntil({ confirmedAt }: Session): number {
    return confirmedAt + confirmedMs;
  }

  /** When a session of an account ends if nothing uses it any more: Unix time in milliseconds. */
  endOf(session: Session, account: Account): number {
    return endOf(session, timesOf(this.#parts, account));
  }

  /** Ends sessions of a user: one, or all. Returns whether there was one. */
  async end(user: string, which: string | "all"): Promise<boolean> {
    return this.#untilCommitted(async () => {
      const all = await this.records.sessionsOf(user);
      const ended = all.filter(({ value }) => which === "all" || value.id === which);
      return { changes: endingOf(ended), result: ended.length > 0 };
    });
  }

  /** The account whose password this is. Throws SIGN_IN_FAILED, QUOTA_EXCEEDED and UNAVAILABLE. */
  async #requireOwner(
    { email, password, device }: PasswordProof,
    { network }: Visitor,
  ): Promise<{ account: Account; rehashed: string | undefined }> {
    const { hasher, limits, now } = this.#parts;
    const { key } = readAddress(email);
    const account = (await this.records.accountOf(key))?.value;
    const ofNetwork = { policy: guessPolicies.passwordOfNetwork, subject: network };
    const takeFor = async (known: string | undefined): Promise<Taken> => {
      if (known === undefined)
        return limits.take([{ policy: guessPolicies.passwordOfAddress, subject: key }, ofNetwork], now());
      const policy = guessPolicies.passwordOfDevice;
      try {
        return await limits.take([{ policy, subject: `${key} ${known}` }, ofNetwork], now());
      } catch (error) {
        if (!(error instanceof Problem && error.policy === policy.name)) throw error;
        if (account !== undefined) await this.#forgetDevice(account.id, known);
        return takeFor(undefined);
      }
    };
    const isKnown = account !== undefined && isKnownDevice(account, device, now());
    const taken = await takeFor(isKnown ? device : undefined);
    const { isRight, isOutdated } = await hasher.verify(password, account?.password, network);
    if (!isRight || account === undefined || account.disabled) throw signInFailed();
    await taken.giveBack();
    return { account, rehashed: isOutdated ? await hasher.hash(password, network) : undefined };
  }

  /** A device with too many wrong passwords is no longer known. */
  async #forgetDevice(user: string, device: string): Promise<void> {
    await this.#untilCommitted(async () => {
      const current = await this.records.account(user);
      if (current === undefined) return { changes: [], result: undefined };
      const account = withoutDevice(current.value, device);
      return { changes: [put(accountsName, user, current.version, account)], result: undefined };
    });
  }

  async #signInByCode(
    proof: TicketProof,
    visitor: Visitor,
    { before, user }: { before?: string | undefined; user?: string },
  ): Promise<Begun> {
    const { device } = proof;
    const kinds: TicketKind[] = user === undefined ? ["signUp", "signIn"] : ["signIn"];
    const redeem = () =>
      this.#redeem(proof, kinds, async (found): Promise<Decided<Begun>> => {
        const account = await this.records.accountOf(found.value.address);
        const also = await this.#endTicketsOf(found);
        if (account === undefined && found.value.kind === "signUp")
          return this.#createAccount(this.#signUpIn(found.value), { visitor, device, ends: before, also });
        const isUsable =
          account !== undefined && !account.value.disabled && (user ?? account.value.id) === account.value.id;
        if (!isUsable || !this.settings.methods.includes("email")) throw signInFailed();
        return this.begin(account, { visitor, device, ends: before, also });
      });
    return this.#untilCommitted(redeem);
  }

  /** The address of an open ticket with its code. Spends nothing. Throws SIGN_IN_FAILED. */
  async #provenAddress(proof: TicketProof): Promise<string> {
    const look = () =>
      this.#redeem(proof, ["reset"], async ({ value }) => ({ changes: [], result: value.email }));
    return this.#untilCommitted(look);
  }

  /** What a ticket with its code does. A wrong code is counted before anybody learns that it is wrong. */
  async #redeem<T>(
    { ticket, code }: TicketProof,
    kinds: readonly TicketKind[],
    decide: (found: Versioned<Ticket>) => Promise<Decided<T>>,
  ): Promise<Decided<T | Problem>> {
    const found = await this.records.ticket(ticketId(ticket));
    if (found === undefined || !kinds.includes(found.value.kind)) throw signInFailed();
    const { now, vault } = this.#parts;
    if (isRightCode(found.value, code, { mac: codeMacOf(vault), now: now() })) return decide(found);
    if (!isOpen(found.value, now())) throw signInFailed();
    return { changes: [countWrong(found)], result: signInFailed() };
  }

  /** Once an address is proven, all tickets for it end, with the passwords in them. */
  async #endTicketsOf(found: Versioned<Ticket>): Promise<Change[]> {
    const all = await this.records.ticketsFor(found.value.address);
    return endTickets([found, ...all.filter(({ value }) => value.id !== found.value.id)]);
  }

  /**
   * Begins a session by an identity: of its account, or of a new one if the provider proves an address that has no account. Otherwise
   * `undefined`. Throws SIGN_IN_FAILED if the account is disabled.
   */
  async #signInByIdentity(
    claims: Claims,
    { provider, visitor, device, before: ends }: IdentityUse,
  ): Promise<Begun | undefined> {
    const { records, now, settings } = this.#parts;
    return this.#untilCommitted<Begun | undefined>(async () => {
      const identity = await records.identity(identityId(claims.issuer, claims.subject));
      if (identity !== undefined) {
        const account = await records.account(identity.value.user);
        if (account === undefined || account.value.disabled) throw signInFailed();
        return this.begin(account, { visitor, device, ends });
      }
      const read = readMailAddress(claims.email ?? "");
      const proves = provider.trustEmail && claims.isVerified && !("fault" in read);
      const profile = [{}, { name: claims.name }].find((each) => this.#fits(each));
      if (!proves || profile === undefined || !takesSignUp(settings, domainOf(read.key)))
        return { changes: [], result: undefined };
      if ((await records.accountOf(read.key)) !== undefined) return { changes: [], result: undefined };
      const tickets = endTickets(await records.ticketsFor(read.key));
      return this.#createAccount(
        { email: read.address, address: read.key, profile },
        { visitor, device, ends, also: tickets },
        (user) => [newIdentity(claims, { user, provider: provider.name, createdAt: now() })],
      );
    });
  }

  #fits(profile: Readonly<Record<string, unknown>>): boolean {
    try {
      this.requireFitting(profile);
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  /** The profile, the account and the session of a sign-up, in one commit. `more` is what else the id of the account is in. */
  async #createAccount(
    { email, address, password, profile, invitation: invitationId }: NewAccount,
    beginning: Beginning,
    more: (id: string) => Change[] = () => [],
  ): Promise<Decided<SignedIn>> {
    const { settings, newUuid, profiles, now, records } = this.#parts;
    const invitation = await this.#openInvitation(invitationId);
    // The configuration can have changed since the mail was sent.
    if (invitation === undefined && !takesSignUp(settings, domainOf(address))) throw signInFailed();
    const id = invitation?.user ?? newUuid();
    const usual = typeof settings.signUp === "object" ? settings.signUp.roles : [];
    const account: Account = {
      id,
      user: id,
      email,
      address,
      roles: invitation?.roles ?? usual,
      claims: invitation?.claims ?? {},
      disabled: false,
      createdAt: now(),
      password,
      devices: [],
    };
    const next = () => profiles.textOf({ ...profile, ...invitation?.profile }, id, now());
    const key = { collection: settings.collection, id };
    const create: Change[] = invitation?.user === undefined ? [{ key, expect: "absent", next: next() }] : [];
    const addresses = new Set([address, invitation?.address ?? address]);
    const invitations = await Promise.all([...addresses].map((each) => records.invitationsFor(each)));
    const ended = endInvitations(invitations.flat());
    const also = [...create, ...ended, ...more(id), ...(beginning.also ?? [])];
    const begun = await this.#begin({ value: account, version: undefined }, { ...beginning, also });
    return { ...begun, principal: id };
  }

  #signUpIn({ id, email, address, sealed = "" }: Ticket): NewAccount {
    const content = this.#parts.vault.open("ticket", placeOf(id), sealed);
    return { email, address, ...(JSON.parse(content) as SignUpContent) };
  }

  /** The invitation of a sign-up, if it had one. Throws SIGN_IN_FAILED if it can no longer be used. */
  async #openInvitation(id: string | undefined): Promise<Invitation | undefined> {
    if (id === undefined) return undefined;
    const { records, now } = this.#parts;
    const invitation = (await records.invitation(id))?.value;
    if (invitation === undefined || invitation.expiresAt <= now()) throw signInFailed();
    const { user } = invitation;
    if (user !== undefined && (await records.account(user)) !== undefined) throw signInFailed();
    return invitation;
  }

  /** What begins a session of an account. An account without a version is new. */
  async #begin(
    { value, version }: { value: Account; version: number | undefined },
    { visitor, device, ends, set = {}, also = [] }: Beginning,
  ): Promise<Decided<SignedIn>> {
    const now = this.#parts.now();
    const { session, token, change } = newSession(
      value.id,
      { network: visitor.shownNetwork, agent: visitor.agent },
      now,
    );
    const others = version === undefined ? [] : await this.records.sessionsOf(value.id);
    const ended = others.filter(
      ({ value: { id } }, n) => ends === "all" || id === ends || n >= maxSessions - 1,
    );
    // The session of the client until now can be that of another user.
    const former =
      ends === undefined || ends === "all" || ended.some((each) => each.value.id === ends)
        ? undefined
        : await this.records.session(ends);
    const shown = isKnownDevice({ ...value, ...set }, device, now) ? device : undefined;
    const made = shown === undefined ? newDevice() : undefined;
    const account = withDevice({ ...value, ...set }, shown ?? made ?? "", now);
    return {
      changes: [
        // Also if nothing in it changes: a session begins only with the account that was judged.
        put(accountsName, account.id, version, account),
        change,
        ...endingOf(former === undefined ? ended : [...ended, former]),
        ...also,
      ],
      result: { session, expiresAt: this.endOf(session, account), account, token, device: made },
    };
  }

  /** Counts a ticket and its mail against the network. Throws QUOTA_EXCEEDED, and UNAVAILABLE if the store has too many tickets. */
  async #countTicket({ network }: Visitor): Promise<void> {
    const { limits, now } = this.#parts;
    const policiesOf = [guessPolicies.ticketOfNetwork, guessPolicies.mailOfNetwork];
    await limits.take(
      policiesOf.map((policy) => ({ policy, subject: network })),
      now(),
    );
    await this.#makeRoom();
  }

  /** Removes some expired tickets. Throws UNAVAILABLE if the store has too many tickets. */
  async #makeRoom(): Promise<void> {
    const { now, store } = this.#parts;
    const expired = await this.records.expiredTickets(now(), sweptTickets);
    await this.records.commit(endTickets(expired), now()).catch((error: unknown) => {
      if (!isOvertaken(error)) throw error; // another request has removed them
    });
    if ((await store.count(ticketsName)) < maxTickets) return;
    throw new Problem(
      "UNAVAILABLE",
      "Too many people are signing in at this moment. Try again in a few minutes.",
      {
        headers: { "retry-after": "60" },
      },
    );
  }

  /** Stores a ticket together with the mail that has its code. */
  async #giveTicket({ kind, read, template, visitor, content }: TicketAsked): Promise<GivenTicket> {
    const { vault, mail, publicUrl, now } = this.#parts;
    const { text, id } = newTicketText();
    const code = newCode();
    const at = now();
    const isMailed = await this.#takeMail(read.key);
    const ticket = await this.#untilCommitted(async (): Promise<Decided<Ticket>> => {
      const earlier = isMailed ? undefined : await this.#lastMailed(read.key);
      const made: Ticket = {
        id,
        kind,
        email: read.address,
        address: read.key,
        code: isMailed ? codeMac(codeMacOf(vault), read.key, code) : earlier?.code,
        mailedAt: isMailed ? at : earlier?.mailedAt,
        wrong: 0,
        network: visitor.network,
        createdAt: at,
        expiresAt: at + ticketMs,
        sealed: content && vault.seal("ticket", placeOf(id), JSON.stringify(content)),
      };
      const sent: MailToSend = {
        template,
        to: read.address,
        values: { code, link: `${publicUrl()}/_sign-in#code=${code}`, minutes: String(ticketMs / 60_000) },
        expiresAt: made.expiresAt,
      };
      const mails = isMailed ? [await mail.changeFor(sent, at)] : [];
      return { changes: [put(ticketsName, id, undefined, made), ...mails], result: made };
    });
    mail.wake();
    return { ticket: text, expiresAt: ticket.expiresAt };
  }

  /** Whether a mail to the address is allowed now. Throws UNAVAILABLE if the service sends too many. */
  async #takeMail(address: string): Promise<boolean> {
    const { limits, mailsPerHour, now } = this.#parts;
    try {
      const ofService = { policy: mailOfService(mailsPerHour), subject: "" };
      await limits.take([{ policy: guessPolicies.mailToAddress, subject: address }, ofService], now());
    } catch (error) {
      if (error instanceof Problem && error.code === "QUOTA_EXCEEDED") return false;
      throw error;
    }
    return true;
  }

  /** The ticket whose code was mailed last to an address. In a flood, later tickets take its code. */
  async #lastMailed(address: string): Promise<Ticket | undefined> {
    const all = await this.records.ticketsFor(address);
    const mailed = all.flatMap(({ value }) => (value.code === undefined ? [] : [value]));
    return mailed.toSorted((a, b) => (b.mailedAt ?? 0) - (a.mailedAt ?? 0))[0];
  }

  /** The change that tells a user by mail what has changed in the account. */
  #notice({ email, id }: Account, notice: string): Promise<Change> {
    const at = this.#parts.now();
    const mail = {
      template: "notice",
      to: email,
      values: { notice, link: `${this.#parts.publicUrl()}/_sign-in#account` },
      expiresAt: at + noticeMs,
      user: id,
    } as const;
    return this.#parts.mail.changeFor(mail, at);
  }

  /** Throws PASSWORD_REFUSED if others can guess the password. */
  #requireGoodPassword(
    password: string,
    address: string,
    profile: Readonly<Record<string, unknown>> = {},
  ): void {
    const { settings, title } = this.#parts;
    const texts = Object.values(profile).filter((value) => typeof value === "string");
    const fault = refusedPassword(password, { title, address, texts, words: settings.password.words });
    if (fault !== undefined) throw passwordRefused(fault);
  }

  /** The hash of a new password. Throws PASSWORD_REFUSED if it is known from a breach, QUOTA_EXCEEDED and UNAVAILABLE. */
  async #hashNew(password: string, network: string): Promise<string> {
    const { settings, hasher } = this.#parts;
    if (settings.password.breached && (await isBreached(password, fetch)))
      throw passwordRefused({ code: "breached", detail: "This password is on a list of stolen passwords." });
    return hasher.hash(password, network);
  }

  async #untilCommitted<T>(decide: () => Promise<Decided<T | Problem>>): Promise<T> {
    const result = await this.records.untilCommitted(decide, this.#parts.now);
    this.#parts.mail.wake();
    return result;
  }
}

/** What mails say about a change. */
const notices = {
  password: "The password of your account was changed. All other devices were signed out.",
};

/** How long the service tries to send a notice, in milliseconds. */
const noticeMs = 24 * 3_600_000;

function placeOf(ticket: string): string {
  return `${ticketsName}/${ticket}`;
}

function codeMacOf(vault: UserParts["vault"]): (text: string) => string {
  return (text) => vault.mac("code", text);
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function takesSignUp({ signUp }: UserSettings, domain: string): boolean {
  return signUp === "open" || (typeof signUp === "object" && signUp.domains.includes(domain));
}

/** Mail goes to the address that was proven, in its own letters: another mailbox can differ in them alone. */
function provenFor(read: ReadAddress, { email }: Account): ReadAddress {
  return { ...read, address: email };
}

/** Throws INVALID_PARAMETER. */
function readAddress(email: string): ReadAddress {
  const read = readMailAddress(email);
  if (!("fault" in read)) return read;
  throw invalidEmail(read.fault);
}

/** Throws INVALID_PARAMETER unless the user could sign in with what is sent. */
function requireMethod({ methods }: UserSettings, password: string | undefined): void {
  const detail =
    password === undefined
      ? !methods.includes("email") && "The password is missing."
      : !methods.includes("password") && "The service has no passwords. Users sign in with a code by mail.";
  if (detail === false) return;
  const violation = { in: "body", pointer: "#/password", code: "method", detail } as const;
  throw new Problem("INVALID_PARAMETER", detail, { violations: [violation] });
}

/** The same problem, with the places of its violations in the member `profile` of the body. */
function inProfile({ code, message }: Problem, violations: readonly Violation[]): Problem {
  const moved = violations.map((each) => ({ ...each, pointer: `#/profile${each.pointer?.slice(1) ?? ""}` }));
  return new Problem(code, message, { violations: moved });
}

function passwordRefused(fault: { code: string; detail: string }): Problem {
  return new Problem("PASSWORD_REFUSED", fault.detail, {
    violations: [{ in: "body", pointer: "#/password", ...fault }],
  });
}

function signUpRefused({ signUp }: UserSettings): Error {
  const detail = "You cannot sign up here without an invitation. Open the link in yours.";
  if (typeof signUp !== "object") return invalidMember("invitation", "required", detail);
  const { domains } = signUp;
  return invalidEmail(`The mail address must be one of ${domains.join(" or ")}.`);
}

function profileExists(): Error {
  const detail = "The invitation is for a profile that exists already. Sign up without attributes.";
  return invalidMember("profile", "excess", detail);
}

function invalidEmail(detail: string): Error {
  return invalidMember("email", "email", detail);
}

function invalidMember(name: string, code: string, detail: string): Error {
  const violation = { in: "body", pointer: `#/${name}`, code, detail } as const;
  return new Problem("INVALID_PARAMETER", detail, { violations: [violation] });
}
