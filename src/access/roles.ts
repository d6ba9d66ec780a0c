/** Who administers the service over HTTP (`auth.administrators`), and the roles that a configuration names. */
import { mustBe } from "../collection/messages.ts";
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import type { Principal } from "./principal.ts";

/** A rule for administrators: every caller with a role, or one caller by its subject. */
export type AdministratorRule = { readonly role: string } | { readonly subject: string };

const at = "auth.administrators";

/** Reads the option. Throws StartError with every fault, each with its place below the option. */
export function readAdministrators(declared: unknown): readonly AdministratorRule[] {
  if (!Array.isArray(declared)) return [readRule(declared, at)];
  if (declared.length === 0)
    throw new StartError(`${at} is an empty list. Leave the option out if no caller administers over HTTP.`);
  return readEach(declared as unknown[], (each, n) => readRule(each, `${at}[${n}]`));
}

function readRule(declared: unknown, place: string): AdministratorRule {
  const [[name, value] = [], ...others] = isObject(declared) ? Object.entries(declared) : [];
  const isText = typeof value === "string" && value !== "";
  if (others.length === 0 && isText && name === "role") return { role: value };
  if (others.length === 0 && isText && name === "subject") return { subject: value };
  throw mustBe(place, '{ role: "ops" }, { subject: "deploy" } or a list of these', declared);
}

/** Whether a caller administers the service. A credential with scopes never does, because scopes only take rights away. */
export function isAdministrator(
  rules: readonly AdministratorRule[],
  principal: Principal | undefined,
): boolean {
  if (principal === undefined || principal.scopes !== undefined) return false;
  return rules.some((rule) =>
    "role" in rule ? principal.roles.includes(rule.role) : rule.subject === principal.subject,
  );
}

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
