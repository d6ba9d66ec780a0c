/** Signing in and up: the flows that strangers start. */
import type { Authenticator } from "../../access/authenticate.ts";
import { networkOf, shownNetwork } from "../../access/networks.ts";
import { Problem, type Violation } from "../../errors.ts";
import { parseFragment } from "../../json/pointer.ts";
import { type Decided, put, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import { AddressChanges } from "./address-changes.ts";
import { Administration } from "./administration.ts";
import type { Audit, AuditKind } from "./audit.ts";
import { createAuthenticator } from "./callers.ts";
import { Cookies } from "./cookies.ts";
import { isKnownDevice, newDevice, withDevice, withoutDevice } from "./devices.ts";
import { type FailedRequest, methodOf, noteFailure } from "./failed-proofs.ts";
import type {
  Beginning,
  Current,
  Flows,
  PasswordProof,
  SignedIn,
  UserParts,
  Visitor,
  VisitorRequest,
} from "./flows.ts";
import { guessPolicies, type Taken } from "./guess-limits.ts";
import {
  anyAddress,
  endInvitations,
  Invitations,
  invalidMember,
  linkTo,
  requireEnding,
  requireInvitation,
} from "./invitations.ts";
import { invalidEmail, type MailAddress, readAddress, readMailAddress } from "./mail-address.ts";
import type { Mirror } from "./mirror.ts";
import { NewPasswords } from "./new-passwords.ts";
import { notices, OwnAccount } from "./own-account.ts";
import { type PasskeyProof, Passkeys } from "./passkeys.ts";
import type { Claims } from "./provider-client.ts";
import { type IdentityUse, identityId, newIdentity, Providers } from "./providers.ts";
import { SealedTickets } from "./sealed-tickets.ts";
import { type Begun, SecondFactors } from "./second-factor.ts";
import {
  confirmedMs,
  endingOf,
  endingOfOther,
  endOf,
  isKey,
  maxSessions,
  newSession,
  timesOf,
} from "./sessions.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { endTickets, type GivenTicket, type TicketProof, Tickets } from "./tickets.ts";
import {
  type Account,
  accountsName,
  type Invitation,
  type Session,
  type Ticket,
  type TicketKind,
  type UserRecords,
} from "./user-records.ts";
import type { UserSettings } from "./user-settings.ts";

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

/** The users of one service. */
export class Users {
  readonly #parts: UserParts;
  readonly records: UserRecords;
  /** People as callers: their sessions, also those in cookies. */
  readonly authenticator: Authenticator;
  readonly cookies: Cookies;
  readonly administration: Administration;
  readonly invitations: Invitations;
  readonly addresses: AddressChanges;
  /** What users change about their own accounts. */
  readonly own: OwnAccount;
  readonly providers: Providers;
  readonly #tickets: Tickets;
  readonly #passwords: NewPasswords;
  readonly passkeys: Passkeys;
  readonly secondFactors: SecondFactors;

  constructor(parts: UserParts) {
    const { settings } = parts;
    this.#parts = parts;
    const sessionMs = settings.sessions.absolute;
    this.cookies = new Cookies({ ...parts, origins: settings.origins, sessionMs });
    this.records = parts.records;
    const flows: Flows = {
      ...parts,
      beginProven: (found, beginning) => this.#beginProven(found, beginning),
      notice: (account, text, place) => this.#notice(account, text, place),
      untilCommitted: (decide) => this.#untilCommitted(decide),
    };
    this.#tickets = new Tickets({
      ...parts,
      mailChange: (mail, at) => parts.mail.changeFor(mail, at),
      onMail: () => parts.mail.wake(),
    });
    this.#passwords = new NewPasswords(parts);
    this.own = new OwnAccount({ ...flows, passwords: this.#passwords });
    this.invitations = new Invitations(flows);
    const { invitations, own } = this;
    this.addresses = new AddressChanges({ ...flows, tickets: this.#tickets, invitations, own });
    this.administration = new Administration({ ...flows, addresses: this.addresses });
    this.providers = new Providers({
      ...flows,
      tickets: this.#tickets,
      signIn: (claims, use) => this.#signInByIdentity(claims, use),
      own,
    });
    const tickets = new SealedTickets(parts);
    this.passkeys = new Passkeys({ ...flows, tickets });
    this.secondFactors = new SecondFactors({ ...flows, tickets, passkeys: this.passkeys, own });
    this.authenticator = createAuthenticator({
      ...parts,
      sessions: parts,
      cookies: this.cookies,
      accountOf: async (session) => (await this.current(session))?.account,
      lacksFactor: (account) => this.secondFactors.isMissing(account),
    });
  }

  get audit(): Audit {
    return this.#parts.audit;
  }

  /** Records why a request has failed, if it is a wrong proof or a limit that was reached. */
  noteFailure(problem: unknown, failed: FailedRequest): Promise<void> {
    const { kind, given } = failed;
    const proving = kind === "secondFactor" ? this.secondFactors.userIn(given.ticket) : undefined;
    return noteFailure(problem, { ...failed, subject: proving ?? failed.subject }, this.#parts);
  }

  /** Counts a session that has begun, by the members of the body that proved it. */
  noteSession(given: Readonly<Record<string, unknown>>): void {
    this.#parts.meter?.onSignIn(methodOf(given), "done");
  }

  /** Counts and records how a sign-in at a provider has ended. */
  async noteReturn(result: "done" | "failed", visitor: Visitor): Promise<void> {
    this.#parts.meter?.onSignIn("providers", result);
    if (result === "done") return; // the entry is in the commit of the session
    await this.#parts.audit.count({ kind: "signIn", result, method: "providers" }, visitor, visitor.network);
  }

  /** The attributes of the profiles that show what the accounts have. */
  get mirror(): Mirror {
    return this.#parts.mirror;
  }

  get settings(): UserSettings {
    return this.#parts.settings;
  }

  /** Where people find the service: an origin. */
  get publicUrl(): string {
    return this.#parts.publicUrl();
  }

  /** Where people find its pages. */
  get pagesUrl(): string {
    return this.#parts.pagesUrl();
  }

  /** The own address of the providers, if a browser has come to a local service by another name of this machine. */
  ownAddressFor(host: string | undefined): string | undefined {
    const isOther = this.#parts.isLocal && host !== new URL(this.publicUrl).host;
    return isOther ? this.providers.address : undefined;
  }

  /** The roles that administrators can give over HTTP. */
  get grantable(): readonly string[] {
    return this.#parts.grantable;
  }

  /**
   * Begins a sign-up: mails a code to the address. Nothing exists before the code comes back. Throws INVALID_PARAMETER,
   * PASSWORD_REFUSED, VALIDATION_FAILED, QUOTA_EXCEEDED, UNAVAILABLE, and what the hooks of the profiles throw.
   */
  async signUp(
    { email, password, profile = {}, invitation: token }: SignUpAsked,
    visitor: Visitor,
  ): Promise<GivenTicket> {
    const read = readAddress(email);
    const { settings, now, records } = this.#parts;
    if (token === undefined && !takesSignUp(settings, read.domain)) throw signUpRefused(settings);
    const invitation =
      token === undefined
        ? undefined
        : await requireInvitation(records, { token, address: read.key, now: now() });
    // An account that gets another address keeps how its user signs in.
    if (invitation?.replaces === undefined || password !== undefined) requireMethod(settings, password);
    if (invitation?.user === undefined) await this.requireFitting({ ...profile, ...invitation?.profile });
    else if (Object.keys(profile).length > 0) throw profileExists();
    const { user } = invitation ?? {};
    const known =
      user === undefined ? { ...profile, ...invitation?.profile } : await this.#passwords.profileOf(user);
    if (password !== undefined) this.#passwords.requireGood(password, read.address, known);
    await this.#tickets.count(visitor);
    const hashed = password === undefined ? undefined : await this.#passwords.hash(password, visitor);
    const account = await this.records.accountOf(read.key);
    const content = { password: hashed, profile, invitation: invitation?.id };
    const asked = { kind: "signUp", visitor, content } as const;
    const isOwn = account === undefined || account.value.id === invitation?.user;
    if (invitation?.replaces !== undefined && isOwn)
      return this.#tickets.give({ ...asked, to: read, template: "email" });
    if (account === undefined) return this.#tickets.give({ ...asked, to: read, template: "signUp" });
    return this.#tickets.give({ ...asked, to: provenFor(read, account.value), template: "exists" });
  }

  /**
   * What a sign-up with an invitation still needs: the address that was invited, which is empty if any can be used, and the names of
   * the attributes that are required. `hasAccount`: it gives an account this address. Throws INVALID_PARAMETER.
   */
  async invited(token: string): Promise<{ email: string; required: string[]; hasAccount: boolean }> {
    const { records, now } = this.#parts;
    const { email, profile, user, replaces } = await requireInvitation(records, { token, now: now() });
    // A profile that exists is not judged again.
    const violations = user === undefined ? ((await this.#misfit(profile ?? {}))?.violations ?? []) : [];
    const missing = violations.filter(isRequired).map(({ pointer = "#" }) => parseFragment(pointer));
    return {
      email,
      hasAccount: replaces !== undefined,
      required: missing.flatMap(([name = "", ...inside]) => (inside.length === 0 ? [name] : [])),
    };
  }

  /**
   * Judges a profile as that of somebody who signs up. `isPart`: required attributes can be missing. Throws VALIDATION_FAILED, and
   * without `isPart` what the hooks of the collection throw.
   */
  async requireFitting(profile: Readonly<Record<string, unknown>>, { isPart = false } = {}): Promise<void> {
    const misfit = await this.#misfit(profile);
    if (misfit === undefined) return;
    const violations = misfit.violations.filter((each) => !isPart || !isRequired(each));
    if (violations.length > 0) throw inProfile(misfit, violations);
    if (!isPart) throw misfit; // code of the configuration has failed or forbids it
  }

  /** Why a profile does not fit; `undefined` if it does. */
  async #misfit(profile: Readonly<Record<string, unknown>>): Promise<Problem | undefined> {
    const { profiles, newUuid, now } = this.#parts;
    try {
      await profiles.textOf(profile, newUuid(), now()); // the profile gets another id when it is created
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  /**
   * Begins a sign-in or a reset by mail. The answer is the same whether the address has an account or not. Throws
   * INVALID_PARAMETER, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async requestCode(
    kind: "signIn" | "reset",
    { email, device }: { email: string; device?: string | undefined },
    visitor: Visitor,
  ): Promise<GivenTicket> {
    const read = readAddress(email);
    await this.#tickets.count(visitor);
    const account = await this.records.accountOf(read.key);
    const isOwner = account !== undefined && isKnownDevice(account.value, device, this.#parts.now());
    const asked = { kind, visitor, isOwner } as const;
    if (account === undefined || account.value.disabled)
      return this.#tickets.give({ ...asked, to: read, template: undefined });
    return this.#tickets.give({ ...asked, to: provenFor(read, account.value), template: kind });
  }

  /**
   * Begins a session. `before` is the session of the client until now, which ends. Throws SIGN_IN_FAILED for every wrong proof,
   * INVALID_PARAMETER, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async signIn(proof: Proof, visitor: Visitor, before?: string, kind: AuditKind = "signIn"): Promise<Begun> {
    if ("passkey" in proof) return this.passkeys.signIn(proof, visitor, { before, kind });
    if ("ticket" in proof) return this.#signInByCode(proof, visitor, { before });
    if (!this.settings.methods.includes("password")) throw signInFailed();
    const { account, rehashed } = await this.#requireOwner(proof, visitor);
    return this.#untilCommitted(async () => {
      const current = await this.records.account(account.id);
      // A password that was changed since it was compared proves nothing.
      if (current === undefined || current.value.disabled || current.value.password !== account.password)
        throw signInFailed();
      const set = rehashed === undefined ? {} : { password: rehashed };
      const beginning = { visitor, kind, method: "password", ends: before, set } as const;
      return this.beginOrAskFactor(current, { ...beginning, device: proof.device });
    });
  }

  /**
   * What begins a session of an account whose first factor is proven, or asks for the second one. Every way to sign in but a passkey
   * ends here, in a commit of its own.
   */
  async beginOrAskFactor(found: Versioned<Account>, beginning: Beginning): Promise<Decided<Begun>> {
    const { ends, set, also = [], kind = "signIn", method, visitor } = beginning;
    const account = { ...found.value, ...set };
    const isProof = kind === "signIn" || kind === "confirmation";
    const later = { ends: ends === "all" ? undefined : ends, kind: isProof ? kind : undefined };
    const step = await this.secondFactors.step(account, later);
    if (step === undefined) return this.#beginProven(found, beginning);
    const sessions = ends === "all" ? await this.records.sessionsOf(account.id) : [];
    const changes = [put(accountsName, account.id, found.version, account), ...endingOf(sessions), ...also];
    // A proof is recorded with its second step, and what has changed already is recorded now.
    const recorded = { kind, subject: account.id, method };
    const entries = isProof ? [] : [this.#parts.audit.entry(recorded, visitor)];
    return { changes: [...changes, ...entries], result: step };
  }

  /** Confirms a session: a new one takes its place. Throws as `signIn` does. */
  async confirm({ session, account }: Current, proof: Confirmation, visitor: Visitor): Promise<Begun> {
    if ("passkey" in proof)
      return this.passkeys.signIn(proof, visitor, {
        before: session.id,
        user: account.id,
        kind: "confirmation",
      });
    if ("ticket" in proof)
      return this.#signInByCode(proof, visitor, { before: session.id, user: account.id });
    return this.signIn({ email: account.email, ...proof }, visitor, session.id, "confirmation");
  }

  /**
   * Sets a password by the code of a reset. All sessions of the user end, and so does `before`, the session of the client until now.
   * Throws as `signIn` does, and PASSWORD_REFUSED.
   */
  async resetPassword(
    asked: TicketProof & { password: string },
    visitor: Visitor,
    before: string | undefined,
  ): Promise<Begun> {
    const reset = (decide: (found: Versioned<Ticket>) => Promise<Decided<Begun>>) =>
      this.#untilCommitted(() => this.#tickets.redeem(asked, ["reset"], decide));
    const { password } = asked;
    const proven = await this.records.accountOf(await this.#provenAddress(asked));
    if (proven === undefined || proven.value.disabled) throw signInFailed();
    const hashed = await this.#passwords.hashFor(proven.value, password, visitor);
    return reset(async (found) => {
      const account = await this.records.accountOf(found.value.address);
      if (account === undefined || account.value.disabled) throw signInFailed();
      const also = [
        ...(await this.#tickets.endingWith(found)),
        ...(await endingOfOther(this.records, before, account.value.id)),
        await this.#notice(account.value, notices.password),
      ];
      const set = { password: hashed, devices: [] };
      return this.beginOrAskFactor(account, {
        visitor,
        kind: "password",
        method: "email",
        ends: "all",
        set,
        also,
      });
    });
  }

  /** A session with its account; `undefined` if it has just ended. */
  async current(id: string): Promise<Current | undefined> {
    const session = await this.records.session(id);
    const account = session && (await this.records.account(session.value.user));
    return account && { session: session.value, account: account.value };
  }

  /** Who sends a request. */
  visitor({ id, client: { ip = "" }, headers }: VisitorRequest): Visitor {
    return {
      network: networkOf(ip),
      shownNetwork: shownNetwork(ip),
      agent: headers["user-agent"],
      request: id,
    };
  }

  /** Until when a session can change the account: Unix time in milliseconds. */
  confirmedUntil({ confirmedAt }: Session): number {
    return confirmedAt + confirmedMs;
  }

  /** When a session of an account ends if nothing uses it any more: Unix time in milliseconds. */
  endOf(session: Session, account: Account): number {
    return endOf(session, timesOf(this.#parts, account));
  }

  /** The account whose password this is. Throws SIGN_IN_FAILED, QUOTA_EXCEEDED and UNAVAILABLE. */
  async #requireOwner(
    { email, password, device }: PasswordProof,
    { network, gone }: Visitor,
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
    const { isRight, isOutdated } = await hasher
      .verify(password, account?.password, network, gone)
      .catch(async (error: unknown) => {
        await taken.giveBack(); // nothing was guessed
        throw error;
      });
    if (!isRight || account === undefined || account.disabled) throw signInFailed();
    await taken.giveBack();
    return { account, rehashed: isOutdated ? await hasher.hash(password, network, gone) : undefined };
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
    const kind: AuditKind = user === undefined ? "signIn" : "confirmation";
    const beginning = { visitor, kind, method: "email", device, ends: before } as const;
    const redeem = () =>
      this.#tickets.redeem(proof, kinds, async (found): Promise<Decided<Begun>> => {
        const account = await this.records.accountOf(found.value.address);
        const also = await this.#tickets.endingWith(found);
        if (found.value.kind === "signUp") {
          const asked = this.#signUpIn(found.value);
          const proposal = await this.addresses.proposal(asked.invitation);
          if (proposal !== undefined) {
            const { password } = asked;
            const accepted = await this.addresses.accept(proposal, found, { visitor, password, before });
            return this.beginOrAskFactor(proposal.account, accepted);
          }
          if (account === undefined)
            return this.#createAccount(asked, { ...beginning, kind: "signUp", also });
        }
        const isUsable =
          account !== undefined &&
          !account.value.disabled &&
          account.value.email === found.value.email && // another mailbox can differ in letters alone
          (user ?? account.value.id) === account.value.id;
        if (!isUsable || !this.settings.methods.includes("email")) throw signInFailed();
        return this.beginOrAskFactor(account, { ...beginning, also });
      });
    return this.#untilCommitted(redeem);
  }

  /** The address of an open ticket with its code. Spends nothing. Throws SIGN_IN_FAILED. */
  async #provenAddress(proof: TicketProof): Promise<string> {
    const look = () =>
      this.#tickets.redeem(proof, ["reset"], async ({ value }) => ({
        changes: [],
        result: value.address,
      }));
    return this.#untilCommitted(look);
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
        return this.beginOrAskFactor(account, { visitor, device, ends, method: "providers" });
      }
      const read = readMailAddress(claims.email ?? "");
      const proves = provider.trustEmail && claims.isVerified && !("fault" in read);
      const fits = async (each: object) => (await this.#misfit({ ...each })) === undefined;
      const named = { name: claims.name };
      const profile = (await fits({})) ? {} : (await fits(named)) ? named : undefined;
      if (!proves || profile === undefined || !takesSignUp(settings, domainOf(read.key)))
        return { changes: [], result: undefined };
      if ((await records.accountOf(read.key)) !== undefined) return { changes: [], result: undefined };
      const tickets = endTickets(await records.ticketsFor(read.key));
      return this.#createAccount(
        { email: read.address, address: read.key, profile },
        { visitor, kind: "signUp", method: "providers", device, ends, also: tickets },
        (user) => [newIdentity(claims, { user, provider: provider.name, createdAt: now() })],
      );
    });
  }

  /** The profile, the account and the session of a sign-up, in one commit. `more` is what else the id of the account is in. */
  async #createAccount(
    { email, address, password, profile, invitation: invitationId }: NewAccount,
    beginning: Beginning,
    more: (id: string) => Change[] = () => [],
  ): Promise<Decided<SignedIn>> {
    const { settings, newUuid, profiles, mirror, now, records } = this.#parts;
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
    const next = async () =>
      mirror.textWith(await profiles.textOf({ ...profile, ...invitation?.profile }, id, now()), account);
    const key = { collection: settings.collection, id };
    const create: Change[] =
      invitation?.user === undefined
        ? [{ key, expect: "absent", next: await next() }]
        : await mirror.changesFor(id, account, now(), { isNew: true });
    const ofAddress = await records.invitationsFor(address);
    const ofAny = invitation === undefined ? [] : await records.invitationsFor(invitation.address);
    const ended = endInvitations([...ofAddress, ...ofAny]);
    if (invitation !== undefined) requireEnding(invitation, ended);
    const also = [...create, ...ended, ...more(id), ...(beginning.also ?? [])];
    const begun = await this.#beginProven({ value: account, version: undefined }, { ...beginning, also });
    return { ...begun, principal: id };
  }

  #signUpIn(ticket: Ticket): NewAccount {
    const { email, address } = ticket;
    return { email, address, ...this.#tickets.contentOf<SignUpContent>(ticket) };
  }

  /** The invitation of a sign-up, if it had one. Throws SIGN_IN_FAILED if it can no longer be used. */
  async #openInvitation(id: string | undefined): Promise<Invitation | undefined> {
    if (id === undefined) return undefined;
    const { records, now } = this.#parts;
    const invitation = (await records.invitation(id))?.value;
    if (invitation === undefined || invitation.expiresAt <= now()) throw signInFailed();
    if (invitation.replaces !== undefined) throw signInFailed(); // it is for an account that exists
    if (invitation.address === anyAddress && (await this.administration.isAdministered()))
      throw signInFailed();
    const { user } = invitation;
    if (user !== undefined && (await records.account(user)) !== undefined) throw signInFailed();
    if (user !== undefined && (await this.#parts.hasKey(user)))
      throw new Problem(
        "KEY_UNAVAILABLE",
        "A valid API key acts as the profile of this invitation. An administrator must revoke the key first.",
      );
    return invitation;
  }

  /** What begins a session of an account. An account without a version is new. */
  async #beginProven(
    { value, version }: { value: Account; version: number | undefined },
    { visitor, kind = "signIn", method, device, ends, set = {}, also = [] }: Beginning,
  ): Promise<Decided<SignedIn>> {
    const now = this.#parts.now();
    const { session, token, change } = newSession(
      value.id,
      { network: visitor.shownNetwork, agent: visitor.agent },
      now,
    );
    const others = version === undefined ? [] : await this.records.sessionsOf(value.id);
    const unused = others.filter((each) => !isKey(each)).slice(maxSessions - 1);
    const ended = others.filter(
      (each) => ends === "all" || (each.value.id === ends && !isKey(each)) || unused.includes(each),
    );
    const ofOther = await endingOfOther(this.records, ends === "all" ? undefined : ends, value.id);
    const shown = isKnownDevice({ ...value, ...set }, device, now) ? device : undefined;
    const made = shown === undefined ? newDevice() : undefined;
    const account = withDevice({ ...value, ...set }, shown ?? made ?? "", now);
    const email = version === undefined ? value.email : undefined;
    const recorded = { kind, method, subject: value.id, item: session.id, email };
    return {
      changes: [
        // Also if nothing in it changes: a session begins only with the account that was judged.
        put(accountsName, account.id, version, account),
        change,
        ...endingOf(ended),
        ...ofOther,
        this.#parts.audit.entry(recorded, visitor),
        ...also,
      ],
      result: { session, expiresAt: this.endOf(session, account), account, token, device: made },
    };
  }

  /** The change that tells a user by mail what has changed in the account. */
  #notice({ email, id }: Account, notice: string, place = "account"): Promise<Change> {
    const at = this.#parts.now();
    const mail = {
      template: "notice",
      to: email,
      values: { notice, link: linkTo(this.#parts.pagesUrl(), place) },
      expiresAt: at + noticeMs,
      user: id,
    } as const;
    return this.#parts.mail.changeFor(mail, at);
  }

  async #untilCommitted<T>(decide: () => Promise<Decided<T | Problem>>): Promise<T> {
    const result = await this.records.untilCommitted(decide, this.#parts.now);
    this.#parts.mail.wake();
    return result;
  }
}

/** How long the service tries to send a notice, in milliseconds. */
const noticeMs = 24 * 3_600_000;

function isRequired({ code }: Violation): boolean {
  return code === "required";
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function takesSignUp({ signUp }: UserSettings, domain: string): boolean {
  return signUp === "open" || (typeof signUp === "object" && signUp.domains.includes(domain));
}

/** Mail goes to the address that was proven, in its own letters: another mailbox can differ in them alone. */
function provenFor(read: MailAddress, { email }: Account): MailAddress {
  return { ...read, address: email };
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
