/** The accounts of the users of a service, and its invitations, for administrators. */
import type { Identity, UserSession } from "./auth.ts";
import { CollectionClient, type WriteOptions } from "./collection.ts";
import type { PageLimit } from "./list-types.ts";
import type { Call, CallOptions, Send } from "./transport.ts";

/** What administrators see of a user, beside the profile. */
export interface Account {
  /** The id of the profile. */
  readonly id: string;
  readonly email: string;
  readonly roles: readonly string[];
  /** What access rules read as `$claims`. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Whether the user cannot sign in. */
  readonly disabled: boolean;
  readonly createdAt: string;
}

/** What an administrator changes in an account. */
export interface AccountChange {
  /** Another address. It counts when its owner has proven it: until then, the account keeps the one that it has. */
  readonly email?: string;
  readonly roles?: readonly string[];
  /** A merge patch: `null` removes a claim, or all of them. */
  readonly claims?: Readonly<Record<string, unknown>> | null;
  readonly disabled?: boolean;
}

/** An invitation. Only the mail has its link. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  readonly profile?: Readonly<Record<string, unknown>>;
  /** The id of the profile without an account that gets one. */
  readonly user?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** An invitation to send. */
export type InvitationInput = Pick<Invitation, "email"> &
  Partial<Pick<Invitation, "roles" | "claims" | "profile" | "user">>;

/** Which page of a list to read. */
export interface PageOptions extends CallOptions {
  /** @default 100 */
  readonly limit?: PageLimit;
  /** The last id of the page before. */
  readonly after?: string | undefined;
}

/** Which accounts to read. */
export interface AccountsOptions extends PageOptions {
  /** Only the account with this address. */
  readonly email?: string | undefined;
  /** Only accounts with this role. */
  readonly role?: string | undefined;
  /** Only accounts that are disabled, or only the others. */
  readonly disabled?: boolean | undefined;
}

/** The client of the accounts. */
export class AccountsClient {
  readonly #send: Send;
  readonly #resources: CollectionClient<object>;

  constructor(send: Send) {
    this.#send = send;
    this.#resources = new CollectionClient(send, "_accounts");
  }

  /** A page of the accounts, in the order of their ids. `after` is there if there are more. */
  async list({ email, role, disabled, ...options }: AccountsOptions = {}): Promise<{
    accounts: readonly Account[];
    after?: string;
  }> {
    const { body } = await this.#send(pageCall("/_accounts", options, { email, role, disabled }));
    const { accounts, next } = body as { accounts: Account[]; next?: string };
    return { accounts, ...afterOf(accounts, next) };
  }

  /** An account by its id. Throws NotFoundError. */
  async get(id: string, options: CallOptions = {}): Promise<Account> {
    return (await this.#resources.get(id, options)) as unknown as Account;
  }

  /** Changes an account as it was read by `get`, or any version of it by its id. Throws NotFoundError and ConflictError. */
  async patch(target: string | Account, change: AccountChange, options: WriteOptions = {}): Promise<Account> {
    return (await this.#resources.patch(target, { ...change }, options)) as unknown as Account;
  }

  /** Deletes an account and ends its sessions. The profile stays. Throws NotFoundError and ConflictError. */
  async delete(target: string | Account, options: WriteOptions = {}): Promise<void> {
    await this.#resources.delete(target, options);
  }

  /** The sessions of a user, the latest used first. Throws NotFoundError. */
  async sessions(id: string, options: CallOptions = {}): Promise<readonly UserSession[]> {
    const path = `/_accounts/${encodeURIComponent(id)}/_sessions`;
    const { body } = await this.#send({ ...options, method: "GET", path, isRepeatable: true });
    return (body as { sessions: UserSession[] }).sessions;
  }

  /** Ends all sessions of a user. Throws NotFoundError. */
  signOut(id: string, options: CallOptions = {}): Promise<void> {
    return this.#do(id, "_sign-out", { ...options, isRepeatable: true });
  }

  /** Makes the password stop working, ends all sessions, and mails the user to choose another one. Throws NotFoundError. */
  reset(id: string, options: CallOptions = {}): Promise<void> {
    return this.#do(id, "_reset", { ...options, isRepeatable: false });
  }

  /** Removes the second factor, the recovery codes and the passkeys, ends all sessions, and mails the user. Throws NotFoundError. */
  resetFactors(id: string, options: CallOptions = {}): Promise<void> {
    return this.#do(id, "_reset-factors", { ...options, isRepeatable: false });
  }

  /** The identities at providers with which a user can sign in, the newest first. Throws NotFoundError. */
  async identities(id: string, options: CallOptions = {}): Promise<readonly Identity[]> {
    const path = `/_accounts/${encodeURIComponent(id)}/_identities`;
    const { body } = await this.#send({ ...options, method: "GET", path, isRepeatable: true });
    return (body as { identities: Identity[] }).identities;
  }

  /** Removes an identity, ends all sessions of the user, and mails the user. Throws NotFoundError. */
  async unlinkIdentity(id: string, identity: string, options: CallOptions = {}): Promise<void> {
    const path = `/_accounts/${encodeURIComponent(id)}/_identities/${encodeURIComponent(identity)}`;
    await this.#send({ ...options, method: "DELETE", path, isRepeatable: true });
  }

  async #do(id: string, action: string, options: Pick<Call, "isRepeatable"> & CallOptions): Promise<void> {
    await this.#send({ ...options, method: "POST", path: `/_accounts/${encodeURIComponent(id)}/${action}` });
  }
}

/** The client of the invitations. */
export class InvitationsClient {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** A page of the open invitations, the oldest first, also expired ones. `after` is there if there are more. */
  async list(options: PageOptions = {}): Promise<{ invitations: readonly Invitation[]; after?: string }> {
    const { body } = await this.#send(pageCall("/_invitations", options));
    const { invitations, next } = body as { invitations: Invitation[]; next?: string };
    return { invitations, ...afterOf(invitations, next) };
  }

  /** Mails a link, which works for 7 days. Earlier invitations of the address end. */
  async create(invitation: InvitationInput, options: CallOptions = {}): Promise<Invitation> {
    const call = { ...options, method: "POST", path: "/_invitations", content: invitation };
    return (await this.#send({ ...call, isRepeatable: false })).body as Invitation;
  }

  /** Withdraws an invitation. Its link stops working at once. Throws NotFoundError. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    const path = `/_invitations/${encodeURIComponent(id)}`;
    await this.#send({ ...options, method: "DELETE", path, isRepeatable: true });
  }
}

function pageCall(path: string, { limit, after, ...options }: PageOptions, filters: object = {}): Call {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ limit, after, ...filters }))
    if (value !== undefined) query.set(name, String(value));
  const asked = query.size === 0 ? path : `${path}?${query}`;
  return { ...options, method: "GET", path: asked, isRepeatable: true };
}

/** The place of the next page. */
function afterOf(shown: readonly { id: string }[], next: string | undefined): { after?: string } {
  const after = shown.at(-1)?.id;
  return next === undefined || after === undefined ? {} : { after };
}
