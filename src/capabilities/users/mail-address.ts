/** Mail addresses of users: which ones the service accepts, and how it compares them. */
import { domainToASCII } from "node:url";
import { Problem } from "../../errors.ts";

/** An address that mail can be sent to. */
export interface MailAddress {
  /** As it was written, without blanks around it, and with a domain of A-labels (RFC 5890). */
  address: string;
  /** The form for comparison: two addresses with the same key are the same. */
  key: string;
  /** The domain in lower case. */
  domain: string;
}

/** The most bytes of an address, and of the part before the `@` (RFC 5321 §4.5.3.1). */
const most = { address: 254, localPart: 64, written: 1_000 };

const tooLong = { fault: `A mail address has at most ${most.address} characters.` };

const beyondAscii = /[^\0-\x7f]/;

const localPart = /^[\w.!#$%&'*+/=?^`{|}~-]+$/;

/** Two labels or more. The last one has a letter, because four numbers are an IP address. */
const domainName =
  /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?=[a-z\d-]*[a-z])[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;

/**
 * Reads an address: a local part of ASCII characters and a domain, without the blanks around it. A domain in other letters becomes its
 * A-labels (UTS 46, non-transitional). The address has no quotes, comments, lists, names or spaces, so every program that reads it finds
 * the same mailbox. `fault` is a sentence for the client, without the text itself.
 */
export function readMailAddress(written: string): MailAddress | { fault: string } {
  if (written.length > most.written) return tooLong;
  const text = written.trim();
  const [local = "", domainAsWritten, ...more] = text.split("@");
  if (domainAsWritten === undefined || more.length > 0)
    return { fault: "A mail address has one @, such as in ada@example.org." };
  if (beyondAscii.test(local))
    return {
      fault: "A mail address with letters beyond ASCII before the @ is not supported. Those after the @ are.",
    };
  if (!localPart.test(local))
    return {
      fault:
        "The part of a mail address before the @ has only the letters a to z, digits and .!#$%&'*+/=?^_`{|}~-, without spaces or quotes.",
    };
  if (local.length > most.localPart)
    return { fault: `The part of a mail address before the @ has at most ${most.localPart} characters.` };
  const domain = toDomain(domainAsWritten);
  if (domain === undefined)
    return { fault: "The part of a mail address after the @ is the name of a domain, such as example.org." };
  const address = beyondAscii.test(domainAsWritten) ? `${local}@${domain}` : text;
  if (address.length > most.address) return tooLong;
  return { address, key: `${toLowerCase(local)}@${domain}`, domain };
}

/** The A-labels of a domain in lower case; `undefined` if the text is not a domain. */
export function toDomain(written: string): string | undefined {
  const domain = toLowerCase(written);
  const inAscii = domainToASCII(domain); // of a number in any form, it makes an IPv4 address
  const isSame = inAscii === domain || beyondAscii.test(domain);
  return isSame && domainName.test(inAscii) ? inAscii : undefined;
}

/** The form for comparison of a text that names an account: that of an address, or the text itself if it is not an address. */
export function addressKey(text: string): string {
  const read = readMailAddress(text);
  return "fault" in read ? text : read.key;
}

/** Reads the address in the member `email` of a body. Throws INVALID_PARAMETER. */
export function readAddress(email: string): MailAddress {
  const read = readMailAddress(email);
  if (!("fault" in read)) return read;
  throw invalidEmail(read.fault);
}

/** The problem of an address that cannot be taken. */
export function invalidEmail(detail: string): Problem {
  const violation = { in: "body", pointer: "#/email", code: "email", detail } as const;
  return new Problem("INVALID_PARAMETER", detail, { violations: [violation] });
}

/** Whether a text is an address in the form that `readMailAddress` makes. */
export function isMailAddress(text: string): boolean {
  const read = readMailAddress(text);
  return !("fault" in read) && read.address === text;
}

/** Changes ASCII letters only. `toLowerCase` of a text also makes an ASCII letter of the Kelvin sign. */
function toLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
