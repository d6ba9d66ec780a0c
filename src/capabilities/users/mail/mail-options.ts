/** Reads the option `mail`. */

import { shortJson, withKnownMembers } from "../../../collection/messages.ts";
import { readMembers, StartFaults } from "../../../errors/start-faults.ts";
import { StartError } from "../../../errors.ts";
import { isLoopback } from "../../../http/protocol/hosts.ts";
import { isObject } from "../../../json/values.ts";
import type { Reader } from "../../../option.ts";
import { text, truth, wholeNumber } from "../../../readers.ts";
import { isMailAddress } from "../mail-address.ts";
import {
  type MailSettings,
  namesIn,
  placeholder,
  type Sender,
  type SmtpServer,
  smtpPasswordVariable,
  type Template,
  type TemplateName,
  templateNames,
  usualMailsPerHour,
} from "./mail-settings.ts";

/** How the service sends mail. */
export interface MailOptions {
  /** The sender: an address, or a name with one, such as `Shop <noreply@shop.example>`. */
  from: string;
  /**
   * The mail server: `smtps://user@mail.example` (TLS), `smtp://user@mail.example` (STARTTLS), or an object. The password of the
   * user is in the environment variable `HOLDFAST_SMTP_PASSWORD`.
   */
  smtp: string | SmtpOptions;
  /** Texts that replace those of the service. */
  templates?: Partial<Record<TemplateName, TemplateOptions>>;
  /** The most mails of the service in an hour, from 1 to 1,000,000. @default 1000 */
  perHour?: number;
}

/** A mail server, as nodemailer describes it. */
export interface SmtpOptions {
  host: string;
  /** @default 465, or 587 with `secure: false` */
  port?: number;
  /** Whether the connection begins with TLS. Otherwise STARTTLS follows, except on this machine. @default only without another port than 465 */
  secure?: boolean;
  user?: string;
}

/** A text with the names `{{title}}`, `{{code}}`, `{{link}}` and `{{minutes}}`, and `{{notice}}` in notices. */
export interface TemplateOptions {
  subject: string;
  text: string;
  /** @default made from the text */
  html?: string;
}

const at = "mail";

/** The settings without the password. Throws StartError with the faults of all members. */
export const mailSettings: Reader<Omit<MailSettings, "password">, MailOptions> = (value) => {
  const { member, required, faults } = membersOf(value, at, ["from", "smtp", "templates", "perHour"]);
  const from = required("from", sender);
  const smtp = required("smtp", smtpServer);
  const templates = member("templates", readTemplates);
  const perHour = member("perHour", wholeNumber(1, 1_000_000));
  faults.throwIfAny();
  return {
    from: from(),
    smtp: smtp(),
    templates: templates() ?? {},
    perHour: perHour() ?? usualMailsPerHour,
  };
};

/** The settings of a mail server, or `log`: a local service writes each mail to its log. */
export const mailOption: Reader<Omit<MailSettings, "password"> | "log", MailOptions | "log"> = (value) => {
  if (value === "log") return value;
  if (typeof value !== "string") return mailSettings(value);
  throw new StartError(`${at} must be an object with from and smtp, or "log".`); // the value can be a secret
};

/** The settings with the names of the templates only. */
export function shownMail(mail: Omit<MailSettings, "password"> | "log"): object | "log" {
  if (mail === "log") return mail;
  const { templates, ...settings } = mail;
  return { ...settings, templates: Object.keys(templates) };
}

type Read<Value> = (value: unknown, at: string) => Value;

/** Reads the members of an object. Unknown members are faults. */
function membersOf(value: unknown, at: string, names: readonly string[]) {
  if (!isObject(value)) throw new StartError(`${at} must be an object with ${names.join(", ")}.`); // the value can be a secret
  const faults = new StartFaults();
  if (Object.hasOwn(value, "pass") || Object.hasOwn(value, "password") || Object.hasOwn(value, "auth"))
    throw passwordElsewhere(at);
  const given = withKnownMembers(
    value,
    { names, refuse: (name) => `${at}.${name} is not an option.` },
    faults,
  );
  const member = <Value>(name: string, read: Read<Value>) =>
    faults.read([name], () => {
      const member = given[name];
      return member === undefined ? undefined : readMember(member, `${at}.${name}`, read);
    });
  const required = <Value>(name: string, read: Read<Value>) => {
    const value = member(name, read);
    return faults.read([name], () => {
      const member = value();
      if (member === undefined) throw new StartError(`${at}.${name} is missing.`);
      return member;
    });
  };
  return { member, required, faults };
}

function readMember<Value>(value: unknown, at: string, read: Read<Value>): Value {
  try {
    return read(value, at);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${at} ${(error as Error).message}, not ${shortJson(value)}.`);
  }
}

function passwordElsewhere(at: string): StartError {
  return new StartError(
    `${at} contains a password. Remove it, name only the user, and set the environment variable ${smtpPasswordVariable} to the password.`,
  );
}

const sender = (value: unknown): Sender => {
  const [, name = "", address = ""] = /^(?:([^<>"\p{Cc}]{1,100}) )?<?([^<>]+)>?$/u.exec(text(value)) ?? [];
  const isNamed = String(value) === `${name} <${address}>`;
  if (isMailAddress(address) && (isNamed || value === address)) return { name: name.trim(), address };
  throw new Error(
    'must be an address such as "noreply@shop.example", or a name with one such as "Shop <noreply@shop.example>"',
  );
};

const smtpHint =
  'must be a URL such as "smtps://user@mail.example:465" or "smtp://user@mail.example:587", or an object with host, port, secure and user';

const smtpServer: Read<SmtpServer> = (value, at) => {
  if (typeof value !== "string") return smtpObject(value, at);
  // The value is in no message, because it can contain a password.
  const hint = new StartError(`${at} ${smtpHint}.`);
  if (!URL.canParse(value)) throw hint;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(value);
  if (password !== "") throw passwordElsewhere(at);
  const isPlain = ["", "/"].includes(pathname) && search === "" && hash === "";
  if (!["smtp:", "smtps:"].includes(protocol) || hostname === "" || !isPlain) throw hint;
  const isSecure = protocol === "smtps:";
  return serverOf({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? undefined : wholeNumber(1, 65_535)(port),
    isSecure,
    user: username === "" ? undefined : decodeURIComponent(username),
  });
};

function smtpObject(value: unknown, at: string): SmtpServer {
  const { member, required, faults } = membersOf(value, at, ["host", "port", "secure", "user"]);
  const host = required("host", hostName);
  const port = member("port", wholeNumber(1, 65_535));
  const secure = member("secure", truth);
  const user = member("user", text);
  faults.throwIfAny();
  return serverOf({
    host: host(),
    port: port(),
    isSecure: secure() ?? [undefined, 465].includes(port()),
    user: user(),
  });
}

const hostName = (value: unknown): string => {
  const host = text(value);
  if (/^[a-z0-9._-]+$/i.test(host) || /^[0-9a-f:]+$/i.test(host)) return host;
  throw new Error('must be the name or address of a host, such as "mail.example"');
};

function serverOf(given: {
  host: string;
  port: number | undefined;
  isSecure: boolean;
  user: string | undefined;
}): SmtpServer {
  const { host, isSecure, user } = given;
  const encryption = isSecure ? "tls" : isLoopback(host) ? "none" : "starttls";
  return { host, port: given.port ?? (isSecure ? 465 : 587), encryption, user };
}

/** The names that each text of a template must have: without them, the mail would be of no use. */
const needed: Readonly<Record<TemplateName, string | undefined>> = {
  signUp: "code",
  signIn: "code",
  reset: "code",
  email: "code",
  invitation: "link",
  newAddress: "link",
  exists: undefined,
  notice: "notice",
};

const readTemplates: Read<MailSettings["templates"]> = (value, at) => {
  if (!isObject(value))
    throw new StartError(`${at} must be an object such as { signIn: { subject, text, html } }.`);
  const faults = new StartFaults();
  const refuse = (name: string) => `${at}.${name} is not a mail of the service.`;
  const given = withKnownMembers(value, { names: templateNames, refuse }, faults);
  const known = templateNames.filter((name) => given[name] !== undefined);
  const all = faults.read([], () =>
    readMembers(Object.fromEntries(known.map((name) => [name, given[name]])), (template, name) =>
      readTemplate(template, `${at}.${name}`, name as TemplateName),
    ),
  );
  faults.throwIfAny();
  return Object.fromEntries(all());
};

function readTemplate(value: unknown, at: string, name: TemplateName): Template {
  const { member, required, faults } = membersOf(value, at, ["subject", "text", "html"]);
  const readText: Read<string> = (value, at) => templateText(value, at, { name, needed: needed[name] });
  const subject = required("subject", (value, at) => templateText(value, at, { name, needed: undefined }));
  const body = required("text", readText);
  const html = member("html", readText);
  faults.throwIfAny();
  return { subject: subject(), text: body(), html: html() };
}

/** Throws StartError for a name that no such mail has, and without the name that it needs. */
function templateText(
  value: unknown,
  at: string,
  { name, needed }: { name: TemplateName; needed: string | undefined },
): string {
  const template = text(value);
  const known = ["title", "code", "link", "minutes", ...(name === "notice" ? ["notice"] : [])];
  const names = namesIn(template);
  const unknown = names.find((each) => !known.includes(each));
  const shown = known.map((each) => `{{${each}}}`).join(", ");
  if (unknown !== undefined)
    throw new StartError(`${at} contains {{${unknown}}}, which this mail does not have. It has ${shown}.`);
  if (template.replaceAll(placeholder, "").includes("{{"))
    throw new StartError(`${at} contains {{ without a name and }}. This mail has ${shown}.`);
  if (needed === undefined || names.includes(needed)) return template;
  throw new StartError(`${at} must contain {{${needed}}}. Without it, the mail would be of no use.`);
}
