/** What administrators do with accounts: they give roles and claims, disable, delete, reset and sign out. */
import { isAdministrator } from "../../access/roles.ts";
import { valueAt } from "../../collection/paths.ts";
import type { Reference } from "../../collection/references.ts";
import { Problem } from "../../errors.ts";
import type { Filter } from "../../query/filter.ts";
import { type Decided, isIn, put, remove, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { Key } from "../../store/port/stored.ts";
import type { AddressChanges } from "./address-changes.ts";
import type { AuditKind, AuditSource } from "./audit.ts";
import { inNewEpoch } from "./factors.ts";
import type { Flows } from "./flows.ts";
import { anyAddress, endInvitations, linkTo } from "./invitations.ts";
import { endIdentities } from "./providers.ts";
import { endingOf } from "./sessions.ts";
import { endTickets, newTicketText } from "./tickets.ts";
import { type Account, accountsName, type Invitation, invitationsName, principalOf } from "./user-records.ts";

/** How long the link for the first administrator can be used, in milliseconds. */
const firstMs = 600_000;

/** What administration depends on. */
export interface AdministrationParts extends Flows {
  addresses: AddressChanges;
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
   * Returns a link that invites the first administrator. Any person who opens it can use it, once, for ten minutes. It ends the link
   * before it. Returns `undefined` if an account administers already, or if no role administers.
   */
  async inviteFirst(): Promise<string | undefined> {
    const { records, newUuid, now, pagesUrl, administrators } = this.#parts;
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
      return { changes, result: linkTo(pagesUrl(), `invitation=${text}`) };
    });
  }

  /** Whether an account administers the service. */
  async isAdministered(): Promise<boolean> {
    for await (const _ of this.#allAdministrators()) return true;
    return false;
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
    const { records, audit, mirror, addresses, now } = this.#parts;
    return this.#untilCommitted(async () => {
      const found = await records.account(id);
      if (found === undefined) return undefined;
      const { email, ...others } = decide(found);
      const asked = email === undefined ? [] : await addresses.propose(found.value, email, source);
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
    const { records, audit, notice: mailed } = this.#parts;
    const done = await this.#untilCommitted(async () => {
      const found = await records.account(id);
      const all = identity === undefined ? [] : await records.identitiesOf(id);
      const identities = all.filter((each) => each.value.id === identity);
      if (found === undefined || (identity !== undefined && identities.length === 0)) return undefined;
      const value: Account = { ...inNewEpoch(found.value), ...set, devices: [] };
      const sessions = endingOf(await records.sessionsOf(id));
      const entry = audit.entry({ kind, subject: id, item: identity }, source);
      const mail = await mailed(found.value, notice, place);
      const written = [put(accountsName, id, found.version, value), mail, entry];
      return { changes: [...written, ...endIdentities(identities), ...sessions], result: true };
    });
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
    const { settings, records, audit } = this.#parts;
    const { collection } = settings;
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
    return this.#parts.untilCommitted(async () => (await decide()) ?? nothing);
  }
}

const resetNotice =
  "An administrator has ended all sessions of your account, and its password no longer works. Choose a new one.";

const factorsNotice =
  "An administrator has removed the second factor and the passkeys of your account, and has ended all its sessions. A password or a code by mail is enough to sign in now. Set up a second factor again.";

const identityNotice =
  "An administrator has removed an account at another service with which you could sign in, and has ended all your sessions.";

/** What the audit says of an account. */
function stateOf({ roles, claims, disabled }: Pick<Account, "roles" | "claims" | "disabled">): object {
  return { roles, claims, disabled };
}
