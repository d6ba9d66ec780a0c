/** The texts of the mails, and how a mail is made of a template and its values. No link in a mail signs in by itself. */
import { type MailValues, namesIn, placeholder, type Template, type TemplateName } from "./mail-settings.ts";

/** A mail as its receiver sees it. */
export interface MailText {
  subject: string;
  text: string;
  html: string;
}

const codeAndLink = `{{code}}

Type this code on the page where you asked for it. In the browser in which you asked, you can also open this link:
{{link}}

The code works once, for {{minutes}} minutes. Keep it to yourself: {{title}} never asks you for it on the telephone or by mail.`;

/** The templates that a service has without any in its configuration. Their HTML is made from the text. */
const usualTemplates: Readonly<Record<TemplateName, Omit<Template, "html">>> = {
  signUp: {
    subject: "Your code for {{title}}",
    text: `There was a request to create an account at {{title}} with this address. The code for it is:

${codeAndLink}

If it was not you, ignore this mail. Without the code, there will be no account.`,
  },
  signIn: {
    subject: "Your code for {{title}}",
    text: `There was a request to sign in to {{title}} with this address. The code for it is:

${codeAndLink}

If it was not you, ignore this mail. Your account cannot be used without the code.`,
  },
  reset: {
    subject: "A new password for {{title}}",
    text: `There was a request to set a new password for your account at {{title}}. The code for it is:

${codeAndLink}

If it was not you, ignore this mail. Without the code, your password does not change.`,
  },
  email: {
    subject: "Confirm your address for {{title}}",
    text: `There was a request to use this address for an account at {{title}}. The code for it is:

${codeAndLink}

If it was not you, ignore this mail. Without the code, no account gets this address.`,
  },
  invitation: {
    subject: "An invitation to {{title}}",
    text: `You are invited to {{title}}. To create your account, open this link within 7 days:
{{link}}

The page then sends a code to this address. If you do not want an account, ignore this mail.`,
  },
  newAddress: {
    subject: "Confirm your address for {{title}}",
    text: `An administrator of {{title}} has given your account this address. To confirm it, open this link within 7 days:
{{link}}

The page then sends a code to this address. If you have no account there, ignore this mail.`,
  },
  exists: {
    subject: "You already have an account at {{title}}",
    text: `There was a request to create an account at {{title}} with this address. You already have one, so there is no new account.

To sign in to your account, use this code. It works once, for {{minutes}} minutes:
{{code}}

In the browser in which you asked, you can also open this link:
{{link}}

If it was not you, ignore this mail.`,
  },
  notice: {
    subject: "A change of your account at {{title}}",
    text: `{{notice}}

If it was you, you have nothing to do. If it was not, set a new password, and end the sessions that you do not know.

You can do both here:
{{link}}`,
  },
};

/** Makes a mail. A paragraph with a name that has no value here is left out. */
export function renderMail(name: TemplateName, given: Template | undefined, values: RenderValues): MailText {
  const { subject, text, html }: Template = given ?? { ...usualTemplates[name], html: undefined };
  const title = oneLine(values.title);
  return {
    subject: oneLine(fill(subject, values, String)) || title,
    text: `${fill(text, values, String).trim()}\n`,
    html: fill(html ?? htmlOf(text), values, escapeHtml),
  };
}

type RenderValues = MailValues & { title: string };

/** A header has one line, whatever the values contain. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

function fill(template: string, values: RenderValues, toText: (value: string) => string): string {
  const find = (name: string) => values[name as keyof RenderValues];
  const paragraphs = paragraphsOf(template).filter((paragraph) =>
    namesIn(paragraph).every((name) => find(name) !== undefined),
  );
  return paragraphs
    .join("\n\n")
    .replaceAll(placeholder, (_, name: string) => toText(find(name.trim()) as string));
}

function paragraphsOf(text: string): string[] {
  return text.split(/\r?\n[ \t]*\r?\n/);
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] as string);
}

/** A simple page with the paragraphs of a text. A link can be followed, and a code is easy to read. */
function htmlOf(text: string): string {
  const paragraphs = paragraphsOf(text).map((paragraph) => {
    const content = escapeHtml(paragraph.trim())
      .replaceAll("\n", "<br>\n")
      .replaceAll(/\{\{\s*link\s*\}\}/g, '<a href="{{link}}">{{link}}</a>')
      .replaceAll(/\{\{\s*code\s*\}\}/g, `<strong style="${codeStyle}">{{code}}</strong>`);
    return `<p>${content}</p>`;
  });
  return ['<!doctype html>\n<html lang="en">\n<body>', ...paragraphs, "</body>\n</html>\n"].join("\n\n");
}

const codeStyle = "font: bold 24px monospace; letter-spacing: 2px";
