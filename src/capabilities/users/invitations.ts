/** Invitations: a mail brings a link, with which a person gets an account, or proves another address for one. */
import { Problem } from "../../errors.ts";
import { put, remove, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { AuditSource } from "./audit.ts";
import type { Flows } from "./flows.ts";
import { type MailAddress, readAddress } from "./mail-address.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { newTicketText, ticketId } from "./tickets.ts";
import { type Invitation, invitationsName, type UserRecords } from "./user-records.ts";

/** How long an invitation can be used, in milliseconds. */
const invitationMs = 7 * 24 * 3_600_000;

/** The address of the invitation that anybody can use who has its link, while no account administers. */
export const anyAddress = "";

/** The most invitations in the store. */
const maxInvitations = 10_000;

/** The expired invitations that a new one removes. */
const sweptInvitations = 10;

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

/** The invitations of one service. */
export class Invitations {
  readonly #parts: Flows;

  constructor(parts: Flows) {
    this.#parts = parts;
  }

  /**
   * Invites somebody, in place of all earlier invitations of the address. `mails`: whether a mail brings the link. Throws
   * INVALID_PARAMETER, UNIQUE_VIOLATION and UNAVAILABLE.
   */
  invite(
    asked: InvitationAsked,
    source: AuditSource,
    { mails }: { mails: boolean },
  ): Promise<MadeInvitation> {
    const { records, audit, settings, now, mail, hasKey, untilCommitted } = this.#parts;
    const read = readAddress(asked.email);
    return untilCommitted(async () => {
      if ((await records.accountOf(read.key)) !== undefined)
        throw taken("email", "The address has an account already.");
      if (asked.user !== undefined) {
        if ((await records.account(asked.user)) !== undefined)
          throw taken("user", "The profile has an account already.");
        if (await hasKey(asked.user))
          throw taken(
            "user",
            "A valid API key has the id of the profile as its subject. Revoke the key first.",
          );
        if (!(await records.exists(settings.collection, asked.user)))
          throw invalidMember("user", "user", `There is no profile with the id "${asked.user}".`);
      }
      const { email: _, ...wanted } = asked;
      const { invitation, link, changes } = await this.make(read, wanted);
      const { expiresAt } = invitation;
      const sent = { template: "invitation", to: read.address, values: { link }, expiresAt } as const;
      const entry = audit.entry({ kind: "invitation", ...aboutInvitation(invitation) }, source);
      const mailed = mails ? [await mail.changeFor(sent, now())] : [];
      return { changes: [...changes, ...mailed, entry], result: { invitation, link } };
    });
  }

  /** An invitation in place of all earlier ones of the address and of the user, with its link. Throws UNAVAILABLE. */
  async make(
    { address: email, key: address }: MailAddress,
    asked: Pick<Invitation, "roles" | "claims" | "profile" | "user" | "replaces">,
  ): Promise<MadeInvitation & { changes: Change[] }> {
    const { records, newUuid, now, pagesUrl } = this.#parts;
    const at = now();
    const { text, id: hash } = newTicketText();
    const ofAddress = await records.invitationsFor(address);
    const ofUser = asked.user === undefined ? [] : await records.invitationsOf(asked.user);
    const expired = await records.expiredInvitations(at, sweptInvitations);
    const ended = endInvitations([...ofAddress, ...ofUser, ...expired]);
    if ((await records.count(invitationsName)) - ended.length >= maxInvitations)
      throw new Problem(
        "UNAVAILABLE",
        `The service has ${maxInvitations} invitations already. Delete some of them.`,
      );
    const times = { createdAt: at, expiresAt: at + invitationMs };
    const roles = [...new Set(asked.roles)];
    const invitation: Invitation = { id: newUuid(), hash, email, address, ...asked, roles, ...times };
    return {
      invitation,
      link: linkTo(pagesUrl(), `invitation=${text}`),
      changes: [...ended, put(invitationsName, invitation.id, undefined, invitation)],
    };
  }

  /** Ends an invitation. Returns whether there was one. */
  withdraw(id: string, source: AuditSource): Promise<boolean> {
    return this.#parts.untilCommitted(async () => {
      const found = await this.#parts.records.invitation(id);
      const changes = found === undefined ? [] : this.withdrawals([found], source);
      return { changes, result: found !== undefined };
    });
  }

  /** The changes that end invitations, and record that an administrator has ended them. */
  withdrawals(found: readonly Versioned<Invitation>[], source: AuditSource): Change[] {
    const entries = found.map(({ value }) =>
      this.#parts.audit.entry({ kind: "invitationWithdrawn", ...aboutInvitation(value) }, source),
    );
    return [...endInvitations(found), ...entries];
  }
}

/** The changes that end invitations. The same invitation can be among them several times. */
export function endInvitations(invitations: readonly Versioned<Invitation>[]): Change[] {
  const versions = new Map(invitations.map(({ value, version }) => [value.id, version]));
  return [...versions].map(([id, version]) => remove(invitationsName, id, version));
}

/** Throws SIGN_IN_FAILED unless the changes end an invitation that was read before: it can have been withdrawn meanwhile. */
export function requireEnding({ id }: Invitation, changes: readonly Change[]): void {
  if (!changes.some(({ key }) => key.collection === invitationsName && key.id === id)) throw signInFailed();
}

/** The open invitation of a token, for an address if there is one. Throws INVALID_PARAMETER without saying what is wrong. */
export async function requireInvitation(
  records: UserRecords,
  { token, address, now }: { token: string; address?: string; now: number },
): Promise<Invitation> {
  const found = (await records.invitationWith(ticketId(token)))?.value;
  const fits = address === undefined || found?.address === address || found?.address === anyAddress;
  if (found !== undefined && fits && now < found.expiresAt) return found;
  throw invalidMember(
    "invitation",
    "invitation",
    "The invitation has expired, was withdrawn, or is for another address. Ask for a new one.",
  );
}

/** A link to a place on the page for signing in. Its secrets are in the fragment, which no server gets. */
export function linkTo(pagesUrl: string, fragment: string): string {
  return `${pagesUrl}/_sign-in#${fragment}`;
}

/** What the audit says of an invitation. */
function aboutInvitation({ id, email, user, roles, claims }: Invitation) {
  return { item: id, email, subject: user, after: { roles, claims } };
}

/** The problem of a member of the body that cannot be taken. */
export function invalidMember(name: string, code: string, detail: string): Problem {
  const violation = { in: "body", pointer: `#/${name}`, code, detail } as const;
  return new Problem("INVALID_PARAMETER", detail, { violations: [violation] });
}

/** The problem of a member of the body whose value another one has. */
export function taken(name: string, detail: string): Problem {
  const violation = { in: "body", pointer: `#/${name}`, code: "unique", detail } as const;
  return new Problem("UNIQUE_VIOLATION", detail, { violations: [violation] });
}
