/** Finds the roles that a configuration names. */
import { isObject } from "../json/values.ts";
import type { AdministratorRule } from "./administrators.ts";

/** A role, and one place in the configuration that names it. */
export interface NamedRole {
  name: string;
  /** Such as `collections.topics.access.write[0].role`. */
  at: string;
}

/** All roles in the rules and attributes of declared collections, with each place. The declarations must be valid. */
export function rolesIn(declarations: Readonly<Record<string, unknown>>): NamedRole[] {
  return Object.entries(declarations).flatMap(([name, declaration]) => {
    const { access, attributes } = declaration as { access?: object; attributes?: object };
    const at = `collections.${name}`;
    return [
      ...Object.entries(access ?? {}).flatMap(([action, rule]) => rolesOf(rule, `${at}.access.${action}`)),
      ...Object.entries(attributes ?? {}).flatMap(([attribute, rule]) =>
        rolesOfAttribute(rule, `${at}.attributes.${attribute}.roles`),
      ),
    ];
  });
}

/** The roles in the rules for administrators. */
export function rolesOfAdministrators(rules: readonly AdministratorRule[]): NamedRole[] {
  return rules.flatMap((rule) => ("role" in rule ? [{ name: rule.role, at: "auth.administrators" }] : []));
}

/** The roles that keys made over HTTP can have, unless the configuration lists them. Administrators cannot make others like them. */
export function defaultKeyRoles(
  named: readonly NamedRole[],
  administrators: readonly AdministratorRule[],
): readonly string[] {
  const theirs = rolesOfAdministrators(administrators).map(({ name }) => name);
  return [...new Set(named.map(({ name }) => name))].filter((name) => !theirs.includes(name)).sort();
}

function rolesOf(rule: unknown, at: string): NamedRole[] {
  if (Array.isArray(rule)) return rule.flatMap((each: unknown, n) => rolesOf(each, `${at}[${n}]`));
  return isObject(rule) && typeof rule.role === "string" ? [{ name: rule.role, at: `${at}.role` }] : [];
}

function rolesOfAttribute({ roles = [] }: { roles?: readonly string[] }, at: string): NamedRole[] {
  return roles.map((name, n) => ({ name, at: `${at}[${n}]` }));
}
