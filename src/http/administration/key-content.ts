/** Reads the content of requests that create or replace API keys. */
import type { KeyProperties } from "../../access/api-key.ts";
import { isKeyName, isKeySubject } from "../../access/key-changes.ts";
import { parseScope } from "../../access/principal.ts";
import { timeOf } from "../../collection/dates.ts";
import { shortJson } from "../../collection/messages.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { inBody, inside, Violations } from "../../query/violations.ts";
import { jsonLimits } from "../protocol/content.ts";
import { findCollection, type KeyAdministration, type Service } from "../service.ts";

/** The most roles, and the most scopes, of a key. */
const maxNames = 100;

/** How long the old key can keep working, in seconds. */
export const overlap = { usual: 3_600, most: 2_592_000 } as const;

type Reading = Pick<Service, "settings" | "collections" | "openCollections" | "now"> & {
  keys: KeyAdministration;
};

/** The properties of a new key. Throws INVALID_PARAMETER with all violations, and the problems of reading JSON. */
export function parseNewKey(service: Service & Reading, bytes: Buffer): KeyProperties {
  const body = readObject(service, bytes, ["name", "subject", "roles", "scopes", "expiresAt"]);
  const { violations } = body;
  const { name, subject = name, roles = [], scopes, expiresAt } = body.given;
  if (typeof name !== "string" || !isKeyName(name))
    violations.add(inBody("name"), "name", `${printable}, and must not begin with "hf_"`);
  else if (typeof subject !== "string" || !isKeySubject(subject))
    violations.add(inBody("subject"), "subject", printable);
  else if (service.keys.reservedSubjects.includes(subject))
    violations.add(
      inBody(body.given.subject === undefined ? "name" : "subject"),
      "administrator",
      "is the subject of an administrator: choose another subject",
    );
  const read = {
    name: String(name),
    subject: String(subject),
    roles: readNames(roles, "roles", violations).filter((role, n) => isAllowed(service, role, n, violations)),
    scopes:
      scopes === undefined || scopes === null
        ? undefined
        : readNames(scopes, "scopes", violations).filter((scope, n) =>
            isScope(service, scope, n, violations),
          ),
    expiresAt: readExpiry(expiresAt, service.now(), violations),
  };
  violations.throwIfAny();
  return read;
}

/** How a key is replaced. `expiresAt` is `null` for a new key that never expires, and `undefined` for the same lifetime. */
export interface Replacement {
  overlapMs: number;
  expiresAt: number | null | undefined;
}

/** Reads how to replace a key. The content can be missing. Throws as `parseNewKey` does. */
export function parseReplacement(service: Service & Reading, bytes: Buffer): Replacement {
  if (bytes.length === 0) return { overlapMs: overlap.usual * 1_000, expiresAt: undefined };
  const { given, violations } = readObject(service, bytes, ["overlapSeconds", "expiresAt"]);
  const { overlapSeconds = overlap.usual } = given;
  if (
    !Number.isInteger(overlapSeconds) ||
    Number(overlapSeconds) < 0 ||
    Number(overlapSeconds) > overlap.most
  )
    violations.add(inBody("overlapSeconds"), "overlap", `must be a whole number from 0 to ${overlap.most}`);
  const expiresAt = given.expiresAt === null ? null : readExpiry(given.expiresAt, service.now(), violations);
  violations.throwIfAny();
  return { overlapMs: Number(overlapSeconds) * 1_000, expiresAt };
}

const printable = "must be 1 to 100 printable characters, without a space at either end";

function readObject(
  { settings }: Reading,
  bytes: Buffer,
  known: readonly string[],
): { given: Record<string, unknown>; violations: Violations } {
  const given = requireObject(parseJson(bytes, jsonLimits(settings.limits)), {
    insteadOfArray: 'send {"name":"deploy"}',
  });
  const violations = new Violations();
  for (const name of Object.keys(given))
    if (!known.includes(name))
      violations.add(inBody(name), "unknownMember", `is not understood. Known names: ${known.join(", ")}`);
  return { given, violations };
}

function readNames(value: unknown, member: "roles" | "scopes", violations: Violations): readonly string[] {
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (isList && value.length <= maxNames) return [...new Set(value as string[])];
  violations.add(inBody(member), "type", `must be an array of at most ${maxNames} strings`);
  return [];
}

function isAllowed({ keys }: Reading, role: string, n: number, violations: Violations): boolean {
  if (keys.roles.includes(role)) return true;
  const allowed =
    keys.roles.length === 0 ? "no role is allowed" : `the allowed roles are ${keys.roles.join(", ")}`;
  const detail = `cannot be ${shortJson(role)}: ${allowed}. The option "auth.keyRoles" changes this`;
  violations.add(inside(inBody("roles"), n), "role", detail);
  return false;
}

function isScope(service: Service, text: string, n: number, violations: Violations): boolean {
  const scope = parseScope(text);
  if (scope !== undefined && findCollection(service, scope.collection) !== undefined) return true;
  const detail = `must be <collection>:read or <collection>:write with a collection of the service, not ${shortJson(text)}`;
  violations.add(inside(inBody("scopes"), n), "scope", detail);
  return false;
}

function readExpiry(value: unknown, now: number, violations: Violations): number | undefined {
  if (value === undefined || value === null) return undefined;
  const time = typeof value === "string" ? timeOf(value) : undefined;
  if (time !== undefined && time > now) return time;
  const detail = 'must be a time in the future, such as "2031-01-31" or "2031-01-31T00:00:00.000Z"';
  violations.add(inBody("expiresAt"), "expiry", detail);
  return undefined;
}
