/** The rule for who administers the service over HTTP, `auth.administrators`: reads it and applies it to a caller. */
import { shortJson } from "../collection/messages.ts";
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
  throw new StartError(
    `${place} must be { role: "ops" }, { subject: "deploy" } or a list of these, not ${shortJson(declared)}.`,
  );
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
