/**
 * Tickets and codes. A ticket stays with the client that asked for it, and a mail brings the code. A code works only with its ticket,
 * so a stolen mail alone signs nobody in, and neither does a program that opens every link of a mail.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { put, remove, type Versioned } from "../records.ts";
import type { Change } from "../store/port/commit.ts";
import { type Ticket, ticketsName } from "./user-records.ts";

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
