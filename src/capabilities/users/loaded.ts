/** The code of users, as the core loads it. Without `auth.users`, only rows of tables are loaded, and nothing that works with them. */
import type { InStore, Loaded } from "../../capability.ts";
import { Records } from "../../records.ts";
import { auditEndpoint } from "./endpoints/audit-entries.ts";
import { pageEndpoints } from "./endpoints/pages.ts";
import { signInEndpoints } from "./endpoints/sign-in.ts";
import { factorEndpoints } from "./endpoints/sign-in-factors.ts";
import { providerEndpoints } from "./endpoints/sign-in-providers.ts";
import { userAdministrationEndpoints } from "./endpoints/user-administration.ts";
import { requirePassword } from "./mail/mail-settings.ts";
import { families } from "./metrics.ts";
import type { OpenUsers } from "./open-users.ts";
import type { ReplacedParts } from "./people.ts";
import { requireProviderSecrets } from "./provider-options.ts";
import type { Account } from "./user-records.ts";
import type { PeopleSettings } from "./user-settings.ts";

const inStore: InStore<PeopleSettings | undefined> = {
  // Tokens of the other store must not work in two places.
  quieten: async (store, { at }) => {
    const { endAllSessions } = await import("./user-records.ts");
    const count = await endAllSessions(store, at);
    return count === 0 ? [] : [{ did: "ended", count, what: "session" }];
  },
  replaceLost: async (store, { vault }) => {
    const { accountsWithLostApp } = await import("./user-records.ts");
    const lost = await accountsWithLostApp(store, vault);
    return {
      lost: lost.map(
        ({ email }) =>
          `the authenticator app of ${email} no longer works. Until it is set up again, a recovery code does. To remove it, run npx holdfast users reset-factors ${email}`,
      ),
    };
  },
  erase: async (store, id, at) => {
    if (!store.collections().has("_audit")) return undefined;
    const { eraseFromAudit } = await import("./audit.ts");
    const account = await new Records(store, []).read<Account>("_accounts", id);
    const count = await eraseFromAudit(store, { user: id, email: account?.value.email, at });
    return count === 0 ? undefined : `removed the address, network and browser from audit entries: ${count}`;
  },
  mirrored: async (store, collection, settings) => {
    if (settings?.collection !== collection.name) return undefined;
    const [{ Mirror }, { UserRecords }] = await Promise.all([
      import("./mirror.ts"),
      import("./user-records.ts"),
    ]);
    const records = new UserRecords(store, collection.name);
    return new Mirror({ store, records }, settings, () => collection).mirrored;
  },
  subjects: (settings) => settings && "_accounts",
};

const withoutMails = {
  mail: () => {
    throw new Error("The service sends no mails, because its configuration has no auth.users.");
  },
};

export const loaded: Loaded<PeopleSettings | undefined, OpenUsers, ReplacedParts> = {
  endpoints: [
    ...signInEndpoints,
    ...factorEndpoints,
    ...providerEndpoints,
    ...userAdministrationEndpoints,
    auditEndpoint,
    ...pageEndpoints,
  ],
  families,
  inStore,
  needs: [
    {
      at: ["auth", "users"],
      require: (settings) => {
        if (settings !== undefined) requireProviderSecrets(settings);
      },
    },
    {
      at: ["mail"],
      require: (settings) => {
        if (settings?.mail !== undefined) requirePassword(settings.mail);
      },
    },
  ],
  warnings: async (settings, checked) => (await import("./warnings.ts")).warningsAbout(settings, checked),
  open: async (core, settings, replaced) =>
    settings === undefined
      ? { inTests: withoutMails }
      : (await import("./people.ts")).openUsers(core, settings, replaced ?? {}),
};
