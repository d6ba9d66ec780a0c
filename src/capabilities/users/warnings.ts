/** What `holdfast check` warns of: settings of users that are valid, and perhaps a mistake. */
import { actions, scopeOf } from "../../access/access-declaration.ts";
import type { CheckedConfiguration } from "../../capability.ts";
import type { PeopleSettings } from "./user-settings.ts";

/** One sentence for each warning. */
export function warningsAbout(settings: PeopleSettings | undefined, checked: CheckedConfiguration): string[] {
  if (settings === undefined) return [];
  return [
    ...strangersWrites(settings, checked),
    ...singleFactorAdministrators(settings, checked),
    ...publicAddresses(settings, checked),
  ];
}

/** Rules for every caller with a credential, in a service where people can sign up. */
function strangersWrites(
  { signUp }: PeopleSettings,
  { access, collections }: CheckedConfiguration,
): string[] {
  if (access === undefined || signUp === "closed") return [];
  const rules = [...collections.keys()].flatMap((name) =>
    actions
      .filter((action) => scopeOf(action) === "write")
      .flatMap((action) => access.rulesOf(name)[action].alternatives ?? []),
  );
  const places = rules.filter(({ declared }) => declared === "authenticated").map(({ at }) => at);
  return [...new Set(places)].map(
    (at) => `${at}: everyone who signs up can write, because the rule is "authenticated"`,
  );
}

/** Administrators who need no second factor. */
function singleFactorAdministrators(
  { secondFactor }: PeopleSettings,
  { administrators }: CheckedConfiguration,
): string[] {
  if (secondFactor === "required") return [];
  const required = typeof secondFactor === "string" ? [] : secondFactor.roles;
  const roles = administrators.flatMap((rule) => ("role" in rule ? [rule.role] : []));
  return roles
    .filter((role) => !required.includes(role))
    .map(
      (role) =>
        `auth.users.secondFactor: users with the role "${role}" administer the service, and need no second factor. Set it to { roles: ["${role}"] }`,
    );
}

/** Addresses in profiles that everybody can read. */
function publicAddresses(
  { collection, mirror: { email } }: PeopleSettings,
  { access, collections }: CheckedConfiguration,
): string[] {
  const rule = collections.get(collection)?.attributeRules.find(({ name }) => name === email);
  if (email === undefined || rule?.roles !== undefined) return [];
  if (access?.permit(collection, undefined).may("read") === "nothing") return [];
  return [
    `auth.users.mirror.email: anyone can read the mail addresses in "${collection}" without a credential. Set "roles" for the attribute "${email}", or another "read"`,
  ];
}
