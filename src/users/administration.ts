/** What administrators do with accounts: they invite people, give roles and claims, disable, delete and sign out. */
import { type AdministratorRule, isAdministrator } from "../access/roles.ts";
import { valueAt } from "../collection/paths.ts";
import type { Reference } from "../collection/references.ts";
import { Problem, type Violation } from "../errors.ts";
import type { Filter } from "../query/filter.ts";
import { type Decided, isIn, put, remove, type Versioned } from "../records.ts";
import type { Change } from "../store/port/commit.ts";
import type { Key } from "../store/port/stored.ts";
import type { Audit, AuditKind, AuditSource } from "./audit.ts";
import { inNewEpoch } from "./factors.ts";
import type { MailToSend } from "./mail/mail-queue.ts";
import { type MailAddress, readAddress } from "./mail-address.ts";
import type { Mirror } from "./mirror.ts";
import { endIdentities } from "./providers.ts";
import { endingOf } from "./sessions.ts";
import { endTickets, newTicketText, ticketId } from "./tickets.ts";
import {
  type Account,
  accountsName,
  type Invitation,
  invitationsName,
  principalOf,
  type UserRecords,
} from "./user-records.ts";

/** How long an invitation can be used, in milliseconds. */
export const invitationMs = 7 * 24 * 3_600_000;

/** How long the link for the first administrator can be used, in milliseconds. */
const firstMs = 600_000;

/** The address of the invitation that anybody can use who has its link, while no account administers. */
export const anyAddress = "";

/** The most invitations in the store. */
const maxInvitations = 10_000;

/** The expired invitations that a new one removes. */
const sweptInvitations = 10;

/** How long the service tries to send a notice, in milliseconds. */
const noticeMs = 24 * 3_600_000;

/** What administration depends on. */
export interface AdministrationParts {
  records: UserRecords;
  audit: Pick<Audit, "entry">;
  /** The collection of the profiles. */
  collection: string;
  mirror: Mirror;
  administrators: readonly AdministratorRule[];
  /** Where people find the service: an origin. */
  publicUrl: () => string;
  newUuid: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  /** The change that queues a mail. */
  mailChange: (mail: MailToSend, at: number) => Promise<Change>;
  /** Called after a commit with a mail. */
  onMail: () => void;
}

/** What an administrator sends to invite a person. */
export interface InvitationAsked {
  email: string;
  roles: readonly string[];
  claims: Readonly<Record<string, unknown>>;
  /** The attributes of a new profile, which are judged already. */
  profile?: Readonly<Record<string, unknown>> | undefined;
  /** The id of an existing profile without an account, instead of `profile`. */
  user?: string | undefined;
}

/** An invitation with the link that opens it. Nothing stores the link. */
export interface MadeInvitation {
  invitation: Invitation;
  link: string;
}

/** What an administrator can change in an account. */
export type AccountChange = Partial<Pick<Account, "roles" | "claims" | "disabled">> & {
  /** Counts once it is proven. */
  email?: string | undefined;
};

/** The administration of the users of one store. */
export class Administration {
  readonly #parts: AdministrationParts;

  constructor(parts: AdministrationParts) {
    this.#parts = parts;
  }

  /**
   * Invites somebody, in place of all earlier invitations of the address. `mails`: whether a mail brings the link. Throws
   * INVALID_PARAMETER, UNIQUE_VIOLATION and UNAVAILABLE.
   */
  async invite(
    asked: InvitationAsked,
    source: AuditSource,
    { mails }: { mails: boolean },
  ): Promise<MadeInvitation> {
    const { records, audit, collection, now, mailChange, onMail } = this.#parts;
    const read = readAddress(asked.email);
    const made = await this.#untilCommitted(async () => {
      const at = now();
      if ((await records.accountOf(read.key)) !== undefined)
        throw taken("email", "The address has an account already.");
      if (asked.user !== undefined) {
        if ((await records.account(asked.user)) !== undefined)
          throw taken("user", "The profile has an account already.");
        if (!(await records.exists(collection, asked.user)))
          throw invalid("user", "user", `There is no profile with the id "${asked.user}".`);
      }
      const { email: _, ...wanted } = asked;
      const { invitation, link, changes } = await this.#newInvitation(read, wanted);
      const expiresAt = invitation.expiresAt;
      const mail = { template: "invitation", to: read.address, values: { link }, expiresAt } as const;
      const entry = audit.entry({ kind: "invitation", ...aboutInvitation(invitation) }, source);
      const mailed = mails ? [await mailChange(mail, at)] : [];
      return { changes: [...changes, ...mailed, entry], result: { invitation, link } };
    });
    if (mails) onMail();
    return made as MadeInvitation;
  }

  /** An invitation in place of all earlier ones of the address and of the user, with its link. Throws UNAVAILABLE. */
  async #newInvitation(
    { address: email, key: address }: MailAddress,
    asked: Pick<Invitation, "roles" | "claims" | "profile" | "user" | "replaces">,
  ): Promise<MadeInvitation & { changes: Change[] }> {
    const { records, newUuid, now, publicUrl } = this.#parts;
    const at = now();
    const { text, id: hash } = newTicketText();
    const ofAddress = await records.invitationsFor(address);
    const ofUser = asked.user === undefined ? [] : await records.invitationsOf(asked.user);
    const expired = await records.expiredInvitations(at, sweptInvitations);
    const ended = new Map([...ofAddress, ...ofUser, ...expired].map((each) => [each.value.id, each]));
    if ((await records.count(invitationsName)) - ended.size >= maxInvitations)
      throw new Problem(
        "UNAVAILABLE",
        `The service has ${maxInvitations} invitations already. Delete some of them.`,
      );
    const times = { createdAt: at, expiresAt: at + invitationMs };
    const roles = [...new Set(asked.roles)];
    const invitation: Invitation = { id: newUuid(), hash, email, address, ...asked, roles, ...times };
    return {
      invitation,
      link: linkTo(publicUrl(), `invitation=${text}`),
      changes: [
        ...endInvitations([...ended.values()]),
        put(invitationsName, invitation.id, undefined, invitation),
      ],
    };
  }

  /**
   * Asks for the proof of another address of an account: a mail brings a link to it, and the old one gets a notice. The address that
   * the account has takes back what was asked before. Throws INVALID_PARAMETER, UNIQUE_VIOLATION and UNAVAILABLE.
   */
  async #addressChanges(account: Account, email: string, source: AuditSource): Promise<Change[]> {
    const { records, audit, now, mailChange } = this.#parts;
    const { id: user, roles, claims, address: replaces } = account;
    if (email === account.email) return this.#withdrawals(await records.invitationsOf(user), source);
    const read = readAddress(email);
    const other = await records.accountOf(read.key);
    if (other !== undefined && other.value.id !== user)
      throw taken("email", "The address has an account already.");
    const { invitation, link, changes } = await this.#newInvitation(read, { user, roles, claims, replaces });
    const { expiresAt } = invitation;
    const mail = { template: "newAddress", to: read.address, values: { link }, expiresAt, user } as const;
    const entry = audit.entry({ kind: "emailAsked", subject: user, email: read.address }, source);
    const notice = await this.#notice(account, { notice: addressNotice, place: "account" });
    return [...changes, await mailChange(mail, now()), notice, entry];
  }

  /** The change that tells a user something by mail, with a link to a place on the page for signing in. */
  #notice({ id, email }: Account, { notice, place }: { notice: string; place: string }): Promise<Change> {
    const { now, publicUrl, mailChange } = this.#parts;
    const values = { notice, link: linkTo(publicUrl(), place) };
    return mailChange(
      { template: "notice", to: email, values, expiresAt: now() + noticeMs, user: id },
      now(),
    );
  }

  /**
   * Returns a link that invites the first administrator. Any person who opens it can use it, once, for ten minutes. It ends the link
   * before it. Returns `undefined` if an account administers already, or if no role administers.
   */
  async inviteFirst(): Promise<string | undefined> {
    const { records, newUuid, now, publicUrl, administrators } = this.#parts;
    const [role] = administrators.flatMap((rule) => ("role" in rule ? [rule.role] : []));
    if (role === undefined) return undefined;
    const { text, id: hash } = newTicketText();
    return this.#untilCommitted(async () => {
      if (await this.isAdministered()) return undefined;
      const at = now();
      const id = newUuid();
      const who = { email: "", address: anyAddress, roles: [role], claims: {}, profile: undefined };
      const times = { createdAt: at, expiresAt: at + firstMs };
      const invitation: Invitation = { id, hash, ...who, user: undefined, ...times };
      const earlier = endInvitations(await records.invitationsFor(anyAddress));
      const changes = [...earlier, put(invitationsName, id, undefined, invitation)];
      return { changes, result: linkTo(publicUrl(), `invitation=${text}`) };
    });
  }

  /** Whether an account administers the service. */
  async isAdministered(): Promise<boolean> {
    for await (const _ of this.#allAdministrators()) return true;
    return false;
  }

  /** Ends an invitation. Returns whether there was one. */
  async withdraw(id: string, source: AuditSource): Promise<boolean> {
    const ended = await this.#untilCommitted(async () => {
      const found = await this.#parts.records.invitation(id);
      return found && { changes: this.#withdrawals([found], source), result: true };
    });
    return ended ?? false;
  }

  #withdrawals(found: readonly Versioned<Invitation>[], source: AuditSource): Change[] {
    const entries = found.map(({ value }) =>
      this.#parts.audit.entry({ kind: "invitationWithdrawn", ...aboutInvitation(value) }, source),
    );
    return [...endInvitations(found), ...entries];
  }

  /**
   * Changes an account; `undefined` if it does not exist. `decide` gets the account as it is, and can refuse. `isFree`: whether
   * nobody has to remain as an administrator. Throws LAST_ADMINISTRATOR, for an address INVALID_PARAMETER, UNIQUE_VIOLATION and
   * UNAVAILABLE, and what `decide` throws.
   */
  async change(
    id: string,
    decide: (account: Versioned<Account>) => AccountChange,
    source: AuditSource,
    { isFree = false }: { isFree?: boolean } = {},
  ): Promise<Versioned<Account> | undefined> {
    const { records, audit, mirror, now, onMail } = this.#parts;
    const changed = await this.#untilCommitted(async () => {
      const found = await records.account(id);
      if (found === undefined) return undefined;
      const { email, ...others } = decide(found);
      const asked = email === undefined ? [] : await this.#addressChanges(found.value, email, source);
      const changedTo: Account = { ...found.value, ...others };
      if (JSON.stringify(changedTo) === JSON.stringify(found.value)) return { changes: asked, result: found };
      const value = changedTo.disabled ? inNewEpoch(changedTo) : changedTo;
      const isKept = isFree || !this.#administers(found.value) || this.#administers(value);
      const witness = isKept ? [] : await this.#witness((each) => each.id === id);
      // A user who is enabled again has to sign in again.
      const ended = value.disabled ? endingOf(await records.sessionsOf(id)) : [];
      const states = { before: stateOf(found.value), after: stateOf(value) };
      const entry = audit.entry({ kind: "accountChanged", subject: id, ...states }, source);
      return {
        changes: [
          put(accountsName, id, found.version, value),
          ...(await mirror.changesFor(id, value, now())),
          ...ended,
          ...witness,
          ...asked,
          entry,
        ],
        result: { value, version: found.version + 1 },
      };
    });
    onMail();
    return changed;
  }

  /**
   * Deletes an account with its sessions and tickets. The profile stays. `requireFit` can refuse. Returns whether there was an
   * account. Throws LAST_ADMINISTRATOR, and what `requireFit` throws.
   */
  async delete(
    id: string,
    requireFit: (account: Versioned<Account>) => void,
    source: AuditSource,
  ): Promise<boolean> {
    const { records, audit, mirror, now } = this.#parts;
    const deleted = await this.#untilCommitted(async () => {
      const found = await records.account(id);
      if (found === undefined) return undefined;
      requireFit(found);
      const witness = this.#administers(found.value) ? await this.#witness((each) => each.id === id) : [];
      const sessions = endingOf(await records.sessionsOf(id));
      const tickets = endTickets(await records.ticketsFor(found.value.address));
      const { email } = found.value;
      const recorded = { kind: "accountDeleted", subject: id, email, before: stateOf(found.value) } as const;
      const identities = endIdentities(await records.identitiesOf(id));
      const invitations = endInvitations(await records.invitationsOf(id)); // an open change of the address
      const mails = await records.mailsTo(id);
      const ended = [...sessions, ...tickets, ...identities, ...invitations, ...mails];
      const entry = audit.entry(recorded, source);
      return {
        changes: [
          remove(accountsName, id, found.version),
          ...(await mirror.changesFor(id, undefined, now())),
          ...ended,
          ...witness,
          entry,
        ],
        result: true,
      };
    });
    return deleted ?? false;
  }

  /** Writes the mirrored attributes of all profiles, after the configuration has named others. Returns how many have changed. */
  async mirrorAll(): Promise<number> {
    const { records, mirror, now } = this.#parts;
    let changed = 0;
    for (let after: string | undefined; ; ) {
      const query = { collection: accountsName, limit: 200, ...(after && { after: [after] }) };
      const page = await records.list<Account>(query);
      for (const { id } of page.records.map(({ value }) => value))
        changed += await records.untilCommitted(async () => {
          const account = await records.account(id);
          const changes = account === undefined ? [] : await mirror.changesFor(id, account.value, now());
          return { changes, result: changes.length };
        }, now);
      if (!page.more) return changed;
      after = page.records.at(-1)?.value.id;
    }
  }

  /** Ends all sessions of a user. Returns whether there is an account. */
  async signOut(id: string, source: AuditSource): Promise<boolean> {
    const { records, audit } = this.#parts;
    const done = await this.#untilCommitted(async () => {
      const found = await records.account(id);
      if (found === undefined) return undefined;
      const entry = audit.entry({ kind: "signOut", subject: id }, source);
      const account = put(accountsName, id, found.version, inNewEpoch(found.value));
      return { changes: [account, ...endingOf(await records.sessionsOf(id)), entry], result: true };
    });
    return done ?? false;
  }

  /**
   * Starts a reset: the password stops working, all sessions end, and a mail tells the user to choose another password. Nobody but
   * the user sees a code. Returns whether there is an account. Throws UNAVAILABLE.
   */
  reset(id: string, source: AuditSource): Promise<boolean> {
    const set = { password: undefined };
    return this.#strip(id, { set, notice: resetNotice, place: "reset", kind: "accountReset", source });
  }

  /**
   * Removes the second factor and the passkeys of a user who has lost them. All sessions end, and a mail tells the user. Returns
   * whether there is an account. Throws UNAVAILABLE.
   */
  resetFactors(id: string, source: AuditSource): Promise<boolean> {
    const set = { totp: undefined, recoveryCodes: undefined, passkeys: undefined };
    return this.#strip(id, { set, notice: factorsNotice, place: "account", kind: "factorsReset", source });
  }

  /**
   * Removes an identity of a user, also if it is the only way to sign in. All sessions end, and a mail tells the user. Returns whether
   * there was one. Throws UNAVAILABLE.
   */
  unlinkIdentity(id: string, identity: string, source: AuditSource): Promise<boolean> {
    const about = { notice: identityNotice, place: "account", kind: "identityRemoved" } as const;
    return this.#strip(id, { ...about, identity, source });
  }

  /** Takes a way to sign in from a user. The link in the mail opens a place on the page for signing in. */
  async #strip(
    id: string,
    {
      set,
      identity,
      notice,
      place,
      kind,
      source,
    }: {
      set?: Partial<Account>;
      /** The id of an identity that goes. */
      identity?: string;
      notice: string;
      place: string;
      kind: AuditKind;
      source: AuditSource;
    },
  ): Promise<boolean> {
    const { records, audit, onMail } = this.#parts;
    const done = await this.#untilCommitted(async () => {
      const found = await records.account(id);
      const all = identity === undefined ? [] : await records.identitiesOf(id);
      const identities = all.filter((each) => each.value.id === identity);
      if (found === undefined || (identity !== undefined && identities.length === 0)) return undefined;
      const value: Account = { ...inNewEpoch(found.value), ...set, devices: [] };
      const sessions = endingOf(await records.sessionsOf(id));
      const entry = audit.entry({ kind, subject: id, item: identity }, source);
      const mail = await this.#notice(found.value, { notice, place });
      const written = [put(accountsName, id, found.version, value), mail, entry];
      return { changes: [...written, ...endIdentities(identities), ...sessions], result: true };
    });
    onMail();
    return done ?? false;
  }

  /**
   * What a commit that deletes resources has to contain besides: the entries of the audit for the accounts that go with their
   * profiles, and a witness. Throws LAST_ADMINISTRATOR.
   */
  async changesForDeletes(
    changes: readonly Change[],
    source: AuditSource,
    cascadesOf: (collection: string) => readonly Reference[],
  ): Promise<Change[]> {
    const { collection, records, audit } = this.#parts;
    const deleted = changes.flatMap(({ key, next }) => (next === undefined ? [key] : []));
    const ids = deleted.flatMap((key) => (key.collection === collection ? [key.id] : []));
    const isReached = cascadesOf(collection).length > 0;
    if (ids.length === 0 && !(isReached && deleted.length > 0)) return [];
    const gone = await records.accountsIn(ids);
    const entries = gone.map(({ id, email, ...others }) =>
      audit.entry({ kind: "accountDeleted", subject: id, email, before: stateOf(others) }, source),
    );
    if (!isReached && !gone.some((account) => this.#administers(account))) return entries;
    const keys = new Set(deleted.map((key) => `${key.collection}/${key.id}`));
    const isGone = ({ id }: Account) => this.#isDeleted({ collection, id }, { keys, cascadesOf });
    return [...entries, ...(await this.#witness(isGone))];
  }

  /** Whether a resource is deleted, or a resource that it refers to and that takes it along. */
  async #isDeleted(
    key: Key,
    context: { keys: Set<string>; cascadesOf: (collection: string) => readonly Reference[] },
    seen = new Set<string>(),
  ): Promise<boolean> {
    const name = `${key.collection}/${key.id}`;
    if (context.keys.has(name)) return true;
    const references = context.cascadesOf(key.collection);
    if (seen.has(name) || references.length === 0) return false;
    seen.add(name);
    const found = await this.#parts.records.read<Record<string, unknown>>(key.collection, key.id);
    if (found === undefined) return false;
    for (const { path, collection } of references)
      for (const id of [valueAt(found.value, path)].flat())
        if (await this.#isDeleted({ collection, id: String(id) }, context, seen)) return true;
    return false;
  }

  #administers(account: Account): boolean {
    return !account.disabled && isAdministrator(this.#parts.administrators, principalOf(account));
  }

  /**
   * What a commit has to contain so that somebody remains who administers. If two administrators take the role from each other at
   * the same time, each commit also writes the account of the other, so that one of them fails. Throws LAST_ADMINISTRATOR.
   */
  async #witness(isGone: (account: Account) => boolean | Promise<boolean>): Promise<Change[]> {
    let isAnyGone = false;
    let other: Versioned<Account> | undefined;
    for await (const account of this.#allAdministrators()) {
      if (await isGone(account.value)) isAnyGone = true;
      else other ??= account;
      if (isAnyGone && other !== undefined)
        return [put(accountsName, other.value.id, other.version, other.value)];
    }
    if (!isAnyGone) return [];
    throw new Problem(
      "LAST_ADMINISTRATOR",
      "This is the last account that administers the service. Give another account the role first.",
    );
  }

  /** The accounts that administer the service, in the order of their ids. */
  async *#allAdministrators(): AsyncGenerator<Versioned<Account>> {
    const { administrators, records } = this.#parts;
    const ruleFilters = administrators.map(
      (rule): Filter =>
        "role" in rule
          ? { kind: "contains", path: ["roles"], values: [rule.role] }
          : isIn("id", rule.subject),
    );
    const filter: Filter = { kind: "or", filters: ruleFilters };
    for (let after: string | undefined; ; ) {
      const query = { collection: accountsName, filter, limit: 200, ...(after && { after: [after] }) };
      const { records: accounts, more } = await records.list<Account>(query);
      yield* accounts.filter(({ value }) => this.#administers(value));
      if (!more) return;
      after = accounts.at(-1)?.value.id;
    }
  }

  #untilCommitted<T>(decide: () => Promise<Decided<T> | undefined>): Promise<T | undefined> {
    const nothing: Decided<T | undefined> = { changes: [], result: undefined };
    return this.#parts.records.untilCommitted(async () => (await decide()) ?? nothing, this.#parts.now);
  }
}

const addressNotice =
  "An administrator has given your account another address. It counts when its owner has proven it. Until then, you sign in with this one.";

const resetNotice =
  "An administrator has ended all sessions of your account, and its password no longer works. Choose a new one.";

const factorsNotice =
  "An administrator has removed the second factor and the passkeys of your account, and has ended all its sessions. A password or a code by mail is enough to sign in now. Set up a second factor again.";

const identityNotice =
  "An administrator has removed an account at another service with which you could sign in, and has ended all your sessions.";

/** A link to a place on the page for signing in. Its secrets are in the fragment, which no server gets. */
function linkTo(publicUrl: string, fragment: string): string {
  return `${publicUrl}/_sign-in#${fragment}`;
}

/** The changes that end invitations. */
export function endInvitations(invitations: readonly Versioned<Invitation>[]): Change[] {
  return invitations.map(({ value, version }) => remove(invitationsName, value.id, version));
}

/** The open invitation of a token, for an address if there is one. Throws INVALID_PARAMETER without saying what is wrong. */
export async function requireInvitation(
  records: UserRecords,
  { token, address, now }: { token: string; address?: string; now: number },
): Promise<Invitation> {
  const found = (await records.invitationWith(ticketId(token)))?.value;
  const fits = address === undefined || found?.address === address || found?.address === anyAddress;
  if (found !== undefined && fits && now < found.expiresAt) return found;
  throw invalid(
    "invitation",
    "invitation",
    "The invitation has expired, was withdrawn, or is for another address. Ask for a new one.",
  );
}

/** What the audit says of an account. */
function stateOf({ roles, claims, disabled }: Pick<Account, "roles" | "claims" | "disabled">): object {
  return { roles, claims, disabled };
}

/** What the audit says of an invitation. */
function aboutInvitation({ id, email, user, roles, claims }: Invitation) {
  return { item: id, email, subject: user, after: { roles, claims } };
}

function invalid(member: string, code: string, detail: string): Problem {
  return new Problem("INVALID_PARAMETER", detail, { violations: [violation(member, code, detail)] });
}

function taken(member: string, detail: string): Problem {
  return new Problem("UNIQUE_VIOLATION", detail, { violations: [violation(member, "unique", detail)] });
}

function violation(member: string, code: string, detail: string): Violation {
  return { in: "body", pointer: `#/${member}`, code, detail };
}
