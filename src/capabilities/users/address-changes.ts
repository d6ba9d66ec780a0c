/**
 * Another address for an account. Its user or an administrator asks for it, and it counts once a code from a mail to it proves it. A
 * proof ends the sessions, and what else the owner of the address before could still use.
 */
import type { Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { AuditSource } from "./audit.ts";
import { inNewEpoch } from "./factors.ts";
import type { Beginning, Current, Flows, SignedIn, Visitor } from "./flows.ts";
import { endInvitations, type Invitations, requireEnding, taken } from "./invitations.ts";
import { readAddress } from "./mail-address.ts";
import type { OwnAccount } from "./own-account.ts";
import { endIdentities } from "./providers.ts";
import { endingOfOther } from "./sessions.ts";
import { signInFailed } from "./sign-in-failed.ts";
import type { GivenTicket, TicketProof, Tickets } from "./tickets.ts";
import type { Account, Invitation, Ticket } from "./user-records.ts";

/** What mails say to the address that an account has. */
const proposedNotice =
  "An administrator has given your account another address. It counts when its owner has proven it. Until then, you sign in with this one.";
const changedNotice =
  "The address of your account was changed. No more mail comes to this one. All other devices were signed out.";

/** What changes of addresses depend on. */
export interface AddressChangeParts extends Flows {
  tickets: Tickets;
  invitations: Invitations;
  own: OwnAccount;
}

/** An address that an administrator proposes: the account that gets it, and the invitation that asks for its proof. */
export interface Proposal {
  account: Versioned<Account>;
  invitation: Invitation;
}

/** The changes of addresses in one service. */
export class AddressChanges {
  readonly #parts: AddressChangeParts;

  constructor(parts: AddressChangeParts) {
    this.#parts = parts;
  }

  /**
   * Mails a code to the address that a user asks for, in a confirmed session. The answer is the same if the address has an account.
   * Throws CONFIRMATION_REQUIRED, INVALID_PARAMETER, QUOTA_EXCEEDED and UNAVAILABLE.
   */
  async request({ session, account }: Current, email: string, visitor: Visitor): Promise<GivenTicket> {
    const { records, tickets, own } = this.#parts;
    own.requireConfirmed(session);
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
      isOwner: true,
    });
  }

  /** Sets the address that a ticket and its code prove. All other sessions of the user end. Throws as `signIn` does. */
  async change({ session, account }: Current, proof: TicketProof, visitor: Visitor): Promise<SignedIn> {
    const { tickets, own, beginProven, untilCommitted } = this.#parts;
    own.requireConfirmed(session);
    return untilCommitted(() =>
      tickets.redeem(proof, ["email"], async (found) => {
        const current = await own.requireOpen(account.id, session.id);
        if (found.value.user !== account.id) throw signInFailed();
        return beginProven(current, await this.#beginningWith(found, current.value, visitor));
      }),
    );
  }

  /**
   * What proposes another address for an account: a mail brings a link to it, and the old one gets a notice. The address that the
   * account has takes back what was proposed before. Throws INVALID_PARAMETER, UNIQUE_VIOLATION and UNAVAILABLE.
   */
  async propose(account: Account, email: string, source: AuditSource): Promise<Change[]> {
    const { records, audit, invitations, now, mail, notice } = this.#parts;
    const { id: user, roles, claims, address: replaces } = account;
    if (email === account.email) return invitations.withdrawals(await records.invitationsOf(user), source);
    const read = readAddress(email);
    const other = await records.accountOf(read.key);
    if (other !== undefined && other.value.id !== user)
      throw taken("email", "The address has an account already.");
    const { invitation, link, changes } = await invitations.make(read, { user, roles, claims, replaces });
    const { expiresAt } = invitation;
    const sent = { template: "newAddress", to: read.address, values: { link }, expiresAt, user } as const;
    const entry = audit.entry({ kind: "emailAsked", subject: user, email: read.address }, source);
    return [...changes, await mail.changeFor(sent, now()), await notice(account, proposedNotice), entry];
  }

  /** The proposal of an invitation; `undefined` if the invitation is for a new account. Throws SIGN_IN_FAILED if it is over. */
  async proposal(id: string | undefined): Promise<Proposal | undefined> {
    const { records, now, grantable } = this.#parts;
    const invitation = id === undefined ? undefined : (await records.invitation(id))?.value;
    if (invitation?.user === undefined || invitation.replaces === undefined) return undefined;
    const account = await records.account(invitation.user);
    const isOpen = now() < invitation.expiresAt && account?.value.address === invitation.replaces;
    if (account === undefined || !isOpen || account.value.disabled) throw signInFailed();
    // The account can have got a role since then that the administrator cannot give.
    const judged = [...invitation.roles, ...grantable];
    if (account.value.roles.some((role) => !judged.includes(role))) throw signInFailed();
    return { account, invitation };
  }

  /**
   * What begins a session of the account of a proposal whose address a ticket has proven. What signs in without the address ends too:
   * it can be that of the owner before. A password of the sign-up replaces that of the account, as after a reset: the administrator
   * has named the owner's address. `before` is the session of the client until now. Throws SIGN_IN_FAILED.
   */
  async accept(
    { account: { value: account }, invitation }: Proposal,
    found: Versioned<Ticket>,
    {
      visitor,
      password,
      before,
    }: { visitor: Visitor; password: string | undefined; before: string | undefined },
  ): Promise<Beginning> {
    const { records } = this.#parts;
    const { set, also = [], ...beginning } = await this.#beginningWith(found, account, visitor);
    requireEnding(invitation, also);
    const identities = endIdentities(await records.identitiesOf(account.id));
    const ofOther = await endingOfOther(records, before, account.id);
    const codes = account.totp === undefined && { recoveryCodes: undefined }; // they are for an app
    return {
      ...beginning,
      also: [...also, ...identities, ...ofOther],
      set: { ...set, passkeys: undefined, ...codes, ...(password !== undefined && { password }) },
    };
  }

  /** What begins a session of an account with the address that a ticket has proven. Throws SIGN_IN_FAILED if another account has it. */
  async #beginningWith(found: Versioned<Ticket>, account: Account, visitor: Visitor): Promise<Beginning> {
    const { records, tickets, mirror, notice, now } = this.#parts;
    const { email, address } = found.value;
    const other = await records.accountOf(address);
    if (other !== undefined && other.value.id !== account.id) throw signInFailed();
    const ofAddress = await records.invitationsFor(address);
    const also = [
      ...(await tickets.endingWith(found)),
      ...(await tickets.endingFor(account.address, address)),
      ...endInvitations([...ofAddress, ...(await records.invitationsOf(account.id))]),
      ...(await mirror.changesFor(account.id, { ...account, email }, now())),
      await notice(account, changedNotice),
    ];
    // Also ends a sign-in that waits for the second factor if only letters change.
    const set = { email, address, devices: [], epoch: inNewEpoch(account).epoch };
    return { visitor, kind: "email", method: "email", ends: "all", set, also };
  }
}
