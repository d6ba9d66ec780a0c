/**
 * Tickets and codes. A ticket stays with the client that asked for it, and a mail brings the code. A code works only with its ticket,
 * so a stolen mail alone signs nobody in, and neither does a program that opens every link of a mail.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { Problem } from "../../errors.ts";
import { type Decided, isOvertaken, put, remove, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { Audit, AuditSource } from "./audit.ts";
import { type GuessLimits, guessPolicies, mailOfService } from "./guess-limits.ts";
import type { MailToSend } from "./mail/mail-queue.ts";
import type { MailAddress } from "./mail-address.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { type Ticket, type TicketKind, ticketsName, type UserRecords } from "./user-records.ts";

/** How long a ticket and its code work, in milliseconds. */
export const ticketMs = 600_000;

/** The most wrong codes for one ticket. */
export const maxWrong = 5;

/** The letters of Crockford's base32, which people cannot confuse. */
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The length of a code: 40 random bits. */
const codeLength = 8;

/** A new code, as a mail shows it: `K7QF-29MX`. */
export function newCode(): string {
  const code = Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join("");
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}

/** A code as somebody typed it, in the one form that is compared; `undefined` if it cannot be a code. */
export function readCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replaceAll(/[-\s]/g, "").replaceAll("O", "0").replaceAll(/[IL]/g, "1");
  const isCode = code.length === codeLength && [...code].every((letter) => letters.includes(letter));
  return isCode ? code : undefined;
}

/** A new ticket: its text, which nothing stores, and the id under which the store finds it. */
export function newTicketText(): { text: string; id: string } {
  const text = randomBytes(32).toString("base64url");
  return { text, id: ticketId(text) };
}

/** The id of a ticket in the store: its SHA-256. */
export function ticketId(text: string): string {
  return hash("sha256", text, "base64url");
}

/** Makes a text that only this service can make (`Vault.mac`). */
type Mac = (text: string) => string;

/** What the store keeps of a code. It depends on the address, so that a ticket can take the code of an earlier mail. */
export function codeMac(mac: Mac, address: string, code: string): string {
  return mac(`${address} ${readCode(code) ?? ""}`);
}

/** Whether a ticket is open, and a code belongs to it. */
export function isRightCode(ticket: Ticket, typed: string, { mac, now }: { mac: Mac; now: number }): boolean {
  const code = readCode(typed);
  const { code: kept = mac("no code"), address } = ticket;
  const given = Buffer.from(code === undefined ? mac("not a code") : codeMac(mac, address, code));
  const isEqual = timingSafeEqual(Buffer.from(kept), given);
  return isEqual && isOpen(ticket, now);
}

/** Whether a ticket still takes codes. */
export function isOpen({ code, wrong, expiresAt, mailedAt = 0 }: Ticket, now: number): boolean {
  return code !== undefined && wrong < maxWrong && now < expiresAt && now < mailedAt + ticketMs;
}

/** The change that counts a wrong code. */
export function countWrong({ value, version }: Versioned<Ticket>): Change {
  return put(ticketsName, value.id, version, { ...value, wrong: value.wrong + 1 });
}

/** The changes that end tickets. */
export function endTickets(tickets: readonly Versioned<Ticket>[]): Change[] {
  return tickets.map(({ value, version }) => remove(ticketsName, value.id, version));
}

/** A proof by a code that came in a mail. */
export interface TicketProof {
  ticket: string;
  code: string;
  device?: string | undefined;
}

/** A ticket for the client that asked. */
export interface GivenTicket {
  ticket: string;
  /** Unix time in milliseconds. */
  expiresAt: number;
}

/** Who asks for a ticket, and the network that limits count. */
export interface Asking extends AuditSource {
  network: string;
}

/** A ticket to make. */
export interface TicketAsked {
  kind: TicketKind;
  /** Where the code goes. */
  to: MailAddress;
  /** Without a template, nobody gets a mail. */
  template: MailToSend["template"];
  /** Who asks. */
  visitor: Asking;
  /** The user who asks, if the ticket changes an account. */
  user?: string | undefined;
  /** Whether the owner of the address asks: in a session, or on a known device. The limit of all mails is not for them. @default false */
  isOwner?: boolean;
  /** What the ticket keeps, encrypted. It must fit into JSON. */
  content?: object;
}

/** What tickets depend on. */
export interface TicketParts {
  records: UserRecords;
  limits: GuessLimits;
  audit: Pick<Audit, "count">;
  vault: {
    seal(purpose: string, place: string, text: string): string;
    open(purpose: string, place: string, sealed: string): string;
    mac(purpose: string, text: string): string;
  };
  /** The change that queues a mail. */
  mailChange: (mail: MailToSend, at: number) => Promise<Change>;
  /** Called after a commit with a mail. */
  onMail: () => void;
  /** The most mails with codes of the service in an hour. */
  mailsPerHour: number;
  /** Where people find the pages of the service: an origin, in an application with the prefix. */
  pagesUrl: () => string;
  /** Unix time in milliseconds. */
  now: () => number;
  /** The most tickets in the store. */
  most?: number;
}

/** The most tickets in the store. */
const maxTickets = 100_000;

/** The tickets that one request for a ticket removes: expired ones, and the oldest of its network if there are too many. */
const sweptTickets = 10;

/** The tickets of one store. */
export class Tickets {
  readonly #parts: TicketParts;

  constructor(parts: TicketParts) {
    this.#parts = parts;
  }

  /** Counts a ticket, and its mail if it has one, against the network. Throws QUOTA_EXCEEDED, and UNAVAILABLE if the store has too many tickets. */
  async count({ network }: Asking, { isMailed = true } = {}): Promise<void> {
    const { limits, now } = this.#parts;
    const { ticketOfNetwork, mailOfNetwork } = guessPolicies;
    const policies = isMailed ? [ticketOfNetwork, mailOfNetwork] : [ticketOfNetwork];
    await limits.take(
      policies.map((policy) => ({ policy, subject: network })),
      now(),
    );
    await this.#makeRoom(network);
  }

  /**
   * Removes some expired tickets, and the oldest ones of a network if the store has too many. Throws UNAVAILABLE if the network has
   * none.
   */
  async #makeRoom(network: string): Promise<void> {
    const { records, now, most = maxTickets } = this.#parts;
    await this.#remove(await records.expiredTickets(now(), sweptTickets));
    if ((await records.count(ticketsName)) < most) return;
    const oldest = await records.ticketsOfNetwork(network, sweptTickets);
    await this.#remove(oldest);
    if (oldest.length > 0) return;
    throw new Problem(
      "UNAVAILABLE",
      "Too many people are signing in at this moment. Try again in a few minutes.",
      { headers: { "retry-after": "60" } },
    );
  }

  async #remove(tickets: readonly Versioned<Ticket>[]): Promise<void> {
    const { records, now } = this.#parts;
    await records.commit(endTickets(tickets), now()).catch((error: unknown) => {
      if (!isOvertaken(error)) throw error; // another request has removed them
    });
  }

  /** Stores a ticket together with the mail that has its code. Throws UNAVAILABLE if the service sends too many mails. */
  async give({
    kind,
    to,
    template,
    visitor,
    user,
    content,
    isOwner = false,
  }: TicketAsked): Promise<GivenTicket> {
    const { records, vault, mailChange, onMail, pagesUrl, now } = this.#parts;
    const { text, id } = newTicketText();
    const code = newCode();
    const at = now();
    const isMailed = await this.#takeMail({ kind, to, isOwner }, visitor);
    const ticket = await records.untilCommitted(async (): Promise<Decided<Ticket>> => {
      const earlier = isMailed ? undefined : await this.#lastMailed({ kind, to });
      const made: Ticket = {
        id,
        kind,
        // The code proves the mailbox that it was mailed to. Another one can differ in letters alone.
        email: earlier?.email ?? to.address,
        address: to.key,
        user,
        code: isMailed ? codeMac(this.#mac, to.key, code) : earlier?.code,
        mailedAt: isMailed ? at : earlier?.mailedAt,
        wrong: 0,
        network: visitor.network,
        createdAt: at,
        expiresAt: at + ticketMs,
        sealed: content && vault.seal("ticket", placeOf(id), JSON.stringify(content)),
      };
      const sent: MailToSend = {
        template,
        to: to.address,
        values: { code, link: `${pagesUrl()}/_sign-in#code=${code}`, minutes: String(ticketMs / 60_000) },
        expiresAt: made.expiresAt,
      };
      const mails = isMailed ? [await mailChange(sent, at)] : [];
      return { changes: [put(ticketsName, id, undefined, made), ...mails], result: made };
    }, now);
    onMail();
    return { ticket: text, expiresAt: ticket.expiresAt };
  }

  /** What a ticket keeps. */
  contentOf<T>({ id, sealed = "" }: Ticket): T {
    return JSON.parse(this.#parts.vault.open("ticket", placeOf(id), sealed)) as T;
  }

  /** What a ticket with its code does. A wrong code is counted before anybody learns that it is wrong. Throws SIGN_IN_FAILED. */
  async redeem<T>(
    { ticket, code }: TicketProof,
    kinds: readonly TicketKind[],
    decide: (found: Versioned<Ticket>) => Promise<Decided<T>>,
  ): Promise<Decided<T | Problem>> {
    const { records, now } = this.#parts;
    const found = await records.ticket(ticketId(ticket));
    if (found === undefined || !kinds.includes(found.value.kind)) throw signInFailed();
    if (isRightCode(found.value, code, { mac: this.#mac, now: now() })) return decide(found);
    if (!isOpen(found.value, now())) throw signInFailed();
    return { changes: [countWrong(found)], result: signInFailed() };
  }

  /** Once an address is proven, all tickets for it end, with the passwords in them. */
  async endingWith(found: Versioned<Ticket>): Promise<Change[]> {
    const all = await this.#parts.records.ticketsFor(found.value.address);
    return endTickets([found, ...all.filter(({ value }) => value.id !== found.value.id)]);
  }

  /** The changes that end the tickets for an address that an account no longer has, unless it is the proven one. */
  async endingFor(address: string, proven: string): Promise<Change[]> {
    return address === proven ? [] : endTickets(await this.#parts.records.ticketsFor(address));
  }

  /** Whether a mail to the address is allowed now. Throws UNAVAILABLE if the service sends too many. */
  async #takeMail(
    { kind, to: { key: address }, isOwner }: Pick<TicketAsked, "kind" | "to" | "isOwner">,
    visitor: Asking,
  ): Promise<boolean> {
    const { limits, mailsPerHour, now, audit } = this.#parts;
    const toAddress = { policy: guessPolicies.mailToAddress, subject: `${kind} ${address}` };
    try {
      const ofService = { policy: mailOfService(mailsPerHour), subject: "" };
      await limits.take(isOwner === true ? [toAddress] : [toAddress, ofService], now());
    } catch (error) {
      if (!(error instanceof Problem && error.code === "QUOTA_EXCEEDED")) throw error;
      const { policy } = error;
      await audit.count({ kind: "refusal", result: "refused", policy }, visitor, address);
      return false;
    }
    return true;
  }

  /**
   * The ticket of the same kind whose code was mailed last to an address. In a flood, later tickets take its code. Mails are counted for
   * each kind, so a flood of one kind leaves the codes of the others.
   */
  async #lastMailed({ kind, to }: Pick<TicketAsked, "kind" | "to">): Promise<Ticket | undefined> {
    const all = await this.#parts.records.ticketsFor(to.key);
    const mailed = all.flatMap(({ value }) =>
      value.code === undefined || value.kind !== kind ? [] : [value],
    );
    return mailed.toSorted((a, b) => (b.mailedAt ?? 0) - (a.mailedAt ?? 0))[0];
  }

  readonly #mac: Mac = (text) => this.#parts.vault.mac("code", text);
}

function placeOf(ticket: string): string {
  return `${ticketsName}/${ticket}`;
}
