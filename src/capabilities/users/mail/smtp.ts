/** Gives one mail to the mail server of the configuration. This file alone knows nodemailer, which is loaded with the first mail. */
import type { NodemailerError } from "nodemailer";
import type { MailSettings } from "./mail-settings.ts";
import type { MailText } from "./mail-templates.ts";

/** A mail for one receiver. */
export interface OutgoingMail extends MailText {
  /** The id. The mail has the same one at each attempt, so that receivers can tell a repetition. */
  id: string;
  to: string;
  /** Unix time in milliseconds. */
  at: number;
}

/** How an attempt ended. `refused`: the server will never take this mail. `reason` has nothing of the mail and its receiver. */
export type SmtpResult = { kind: "sent" } | { kind: "refused" | "failed"; reason: string };

/** Sends a mail, or ends the attempt when the signal is aborted. */
export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<SmtpResult>;

/** The longest time for the steps of one attempt, in milliseconds, and the longest response of the server, in bytes. */
const limits = {
  connectionTimeout: 10_000,
  dnsTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
  maxResponseSize: 64 * 1024,
};

/** Sends through the server of the configuration, with a connection for each mail. */
export function smtpSender({ from, smtp, password }: MailSettings): SendMail {
  const { host, port, encryption, user } = smtp;
  const [, domain = ""] = from.address.split("@");
  const options = {
    ...limits,
    // A name server could give "localhost" another address, and this connection can be without encryption.
    host: host === "localhost" ? "127.0.0.1" : host,
    port,
    secure: encryption === "tls",
    requireTLS: encryption === "starttls",
    ignoreTLS: encryption === "none",
    tls: { minVersion: "TLSv1.2", ...(host === "localhost" && { servername: host }) },
    // Without `forceAuth`, a server that offers no sign-in would get the mail anyway.
    ...(user !== undefined && { auth: { user, pass: password ?? "" }, forceAuth: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const;
  return async ({ id, to, at, subject, text, html }, signal) => {
    const { createTransport } = await import("nodemailer");
    try {
      await createTransport(options).sendMail({
        // The envelope and the header name the same stored address. It is never made of a text that a request brought.
        envelope: { from: from.address, to: [to] },
        from,
        to: { name: "", address: to },
        messageId: `<${id}@${domain}>`,
        date: new Date(at),
        headers: { "Auto-Submitted": "auto-generated" },
        subject,
        text,
        html,
        signal,
      });
      return { kind: "sent" };
    } catch (error) {
      return resultOf(error as NodemailerError);
    }
  };
}

/** Commands that are about the receiver and the mail. If the server refuses another one, only its administrator can help. */
const commandsOfMail: readonly unknown[] = ["RCPT TO", "DATA"];

/** The texts of the server can name the receiver, so they are left out. Codes and numbers say enough. */
function resultOf({ command, responseCode, permanent, code, originalCode }: NodemailerError): SmtpResult {
  const isRefused = permanent === true && commandsOfMail.includes(command);
  const reason = [command, responseCode, originalCode ?? code].filter((part) => part !== undefined).join(" ");
  return { kind: isRefused ? "refused" : "failed", reason };
}
