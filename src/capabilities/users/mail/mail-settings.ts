/** What a configuration says about mail (`mail`): the server that takes mails, the sender and the texts. */

import { StartError } from "../../../errors.ts";

/** The most mails that the service sends in an hour, unless the configuration says another number. */
export const usualMailsPerHour = 1_000;

/** The environment variable with the password of the user at the server. */
export const smtpPasswordVariable = "HOLDFAST_SMTP_PASSWORD";

/** The server that takes the mails of the service. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte, TLS by the command STARTTLS, or none, which only a server on this machine can have. */
  readonly encryption: "tls" | "starttls" | "none";
  /** @default the service does not sign in at the server */
  readonly user: string | undefined;
}

/** An address with the name that people see. */
export interface Sender {
  readonly name: string;
  readonly address: string;
}

/** The mails that the service sends. */
export const templateNames = [
  "signUp",
  "signIn",
  "reset",
  "email",
  "invitation",
  "newAddress",
  "exists",
  "notice",
] as const;

export type TemplateName = (typeof templateNames)[number];

/** The text of a mail, with names such as `{{code}}`. */
export interface Template {
  readonly subject: string;
  readonly text: string;
  /** @default made from the text */
  readonly html: string | undefined;
}

/** What a mail can be about, by the names in templates. The title of the service is always there. */
export type MailValues = Partial<Record<"code" | "link" | "minutes" | "notice", string>>;

/** A name in a template, such as `{{code}}`. */
export const placeholder = /\{\{([^{}]*)\}\}/g;

/** The names in a template. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name.trim());
}

/** The checked option `mail`. */
export interface MailSettings {
  readonly from: Sender;
  readonly smtp: SmtpServer;
  /** The templates that replace those of the service. */
  readonly templates: Readonly<Partial<Record<TemplateName, Template>>>;
  /** The most mails of the service in an hour. */
  readonly perHour: number;
  /** The password of `smtp.user`; `undefined` if the environment has none. */
  readonly password: string | undefined;
}

/** Throws StartError if the password of the mail server is missing, or belongs to nobody. */
export function requirePassword({ smtp, password }: MailSettings): void {
  if ((smtp.user === undefined) === (password === undefined)) return;
  throw new StartError(
    smtp.user === undefined
      ? `${smtpPasswordVariable} is set, but mail.smtp names no user. Add the user, or remove the variable.`
      : `${smtpPasswordVariable} is missing. mail.smtp names a user, so this environment variable must have the password.`,
  );
}
