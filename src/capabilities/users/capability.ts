/** Users: people who sign in, with profiles in a declared collection. */
import { define, type Surroundings } from "../../capability.ts";
import { StartError } from "../../errors.ts";
import { isObject } from "../../json/values.ts";
import { optional } from "../../option.ts";
import { commands } from "./command-rows.ts";
import { mailOption, shownMail } from "./mail/mail-options.ts";
import { type MailSettings, smtpPasswordVariable } from "./mail/mail-settings.ts";
import { isProviderVariable, providerSecretsIn, requireNoProviderSecrets } from "./provider-options.ts";
import { requireUsable, userSettings } from "./user-options.ts";
import type { PeopleSettings } from "./user-settings.ts";

export const users = define({
  name: "users",
  options: {
    "auth.users": optional({
      about: 'people who sign in: `{ collection: "users" }`, whose resources are their profiles, and more',
      read: userSettings,
    }),
    mail: optional({
      about:
        'how to send mail to users: `{ from, smtp }` and more. `"log"`: a local service writes each mail to its log',
      isPrivate: true,
      show: (value) => value && shownMail(value),
      read: mailOption,
    }),
  },
  secrets: { names: [smtpPasswordVariable], has: isProviderVariable },
  settings: (get, around): PeopleSettings | undefined => {
    const mail = get("mail");
    if (mail === "log") requireLocalLog(around);
    const people = get("auth.users");
    const providerSecrets = providerSecretsIn(around.env);
    if (people === undefined) {
      // In another application, the variables can be those of the application.
      if (!around.isEmbedded) requireNoProviderSecrets(providerSecrets);
      return undefined;
    }
    const hasServer = mail !== undefined && mail !== "log";
    return {
      ...people,
      mail: hasServer ? withPassword(mail, around.env) : undefined,
      keepsMails: !hasServer && around.isLocal(),
      logsMails: mail === "log",
      providerSecrets,
    };
  },
  check: (settings, rest) => settings && requireUsable(settings, rest),
  isCredential: (settings) => settings !== undefined,
  encryptsFor: (settings) => settings && "auth.users",
  forHttp: (settings) =>
    settings === undefined
      ? {}
      : {
          cookieOrigins: settings.origins,
          profiles: settings.collection,
          consoleTags: { users: settings.collection, ...(settings.keepsMails && { mails: "kept" }) },
        },
  // Without a mail server, the service keeps its mails. No other server is asked about passwords.
  forTests: ({ mail: _, ...content }) => {
    const users = isObject(content.auth) ? content.auth.users : undefined;
    if (!isObject(users) || !isObject(users.password)) return content;
    const password = { ...users.password, breached: false };
    return { ...content, auth: { ...(content.auth as object), users: { ...users, password } } };
  },
  commands,
  load: async () => (await import("./loaded.ts")).loaded,
});

function withPassword(mail: Omit<MailSettings, "password">, env: Surroundings["env"]): MailSettings {
  return { ...mail, password: env[smtpPasswordVariable] || undefined };
}

/** Throws StartError if the log of a service that others can reach would contain codes with which they sign in. */
function requireLocalLog({ isLocal, has }: Surroundings): void {
  if (isLocal()) return;
  const option = ["publicUrl", "tls", "trustProxy", "hosts"].find(has);
  const text = `mail: "log" is only for a service that only this machine can reach, because people sign in with the codes in the log. This service has ${option ?? "a host that is no loopback address"}. Name a mail server, such as { from: "shop@shop.example", smtp: "smtps://user@mail.shop.example" }.`;
  throw new StartError([{ path: ["mail"], text }]);
}
