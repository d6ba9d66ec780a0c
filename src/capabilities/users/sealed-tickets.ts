/**
 * Tickets for the second request of a sign-in, such as the one with the second factor. A ticket is the encrypted state of the first
 * request, so the store keeps nothing for clients that never come back. It keeps used tickets until they expire, so each works once.
 */
import { randomBytes } from "node:crypto";
import { isOvertaken, put, remove } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import { signInFailed } from "./sign-in-failed.ts";
import { type GivenTicket, ticketId } from "./tickets.ts";
import { type Ticket, ticketsName, type UserRecords } from "./user-records.ts";

/** What a ticket continues: a sign-in with a passkey or a second factor, or the setting up of a factor. */
export type StepKind = "passkey" | "secondFactor" | "newTotp" | "newPasskey";

/** How long each kind of ticket works, in milliseconds. */
const stepMs = { passkey: 300_000, secondFactor: 600_000, newTotp: 600_000, newPasskey: 300_000 } as const;

/** What sealed tickets depend on. */
export interface SealedTicketParts {
  records: UserRecords;
  vault: {
    seal(purpose: string, place: string, text: string): string;
    open(purpose: string, place: string, sealed: string): string;
  };
  /** Unix time in milliseconds. */
  now: () => number;
}

/** The expired tickets that one used ticket removes. */
const sweptTickets = 10;

/** Makes and opens the tickets of one service. */
export class SealedTickets {
  readonly #parts: SealedTicketParts;

  constructor(parts: SealedTicketParts) {
    this.#parts = parts;
  }

  /** A new ticket. Nobody but the service can read its content. */
  give(kind: StepKind, content: object = {}): GivenTicket {
    const { vault, now } = this.#parts;
    const expiresAt = now() + stepMs[kind];
    const sealed = { ...content, expiresAt, nonce: randomBytes(16).toString("base64url") };
    return { ticket: vault.seal("step", kind, JSON.stringify(sealed)), expiresAt };
  }

  /** The content of a ticket. Throws SIGN_IN_FAILED if it is not a ticket of this kind, or has expired. */
  open<Content extends object>(kind: StepKind, ticket: string): Content {
    const { vault, now } = this.#parts;
    let text: string;
    try {
      text = vault.open("step", kind, ticket);
    } catch {
      throw signInFailed();
    }
    const content = JSON.parse(text) as Content & { expiresAt: number };
    if (content.expiresAt <= now()) throw signInFailed();
    return content;
  }

  /** The change that uses a ticket up, for the commit of what it does. Throws SIGN_IN_FAILED if it is used already. */
  async use(kind: StepKind, ticket: string): Promise<Change> {
    const { records, now } = this.#parts;
    const { expiresAt, nonce } = this.open<{ expiresAt: number; nonce: string }>(kind, ticket);
    const id = ticketId(nonce); // used is what the ticket contains, however it was written
    if ((await records.ticket(id)) !== undefined) throw signInFailed();
    await this.#sweep();
    const used: Ticket = {
      id,
      kind: "used",
      email: "",
      address: "",
      wrong: 0,
      network: "",
      createdAt: now(),
      expiresAt,
    };
    return put(ticketsName, id, undefined, used);
  }

  async #sweep(): Promise<void> {
    const { records, now } = this.#parts;
    const expired = await records.expiredTickets(now(), sweptTickets);
    const changes = expired.map(({ value, version }) => remove(ticketsName, value.id, version));
    await records.commit(changes, now()).catch((error: unknown) => {
      if (!isOvertaken(error)) throw error; // another request has removed them
    });
  }
}
