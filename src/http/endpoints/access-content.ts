/** Reads the content of a question about access: the operation, the collection or resource, and the caller. */
import { type Action, actions } from "../../access/access-declaration.ts";
import { type Principal, parseScope, type Scope } from "../../access/principal.ts";
import { shortJson } from "../../collection/messages.ts";
import { parseJson, requireObject } from "../../json/parse.ts";
import { isObject } from "../../json/values.ts";
import { readWord } from "../../query/reading.ts";
import { inBody, inside, type Location, Violations } from "../../query/violations.ts";
import { jsonLimits } from "../protocol/content.ts";
import type { Limits } from "../settings.ts";

/** A question about access. */
export interface AccessQuestion {
  collection: string;
  operation: Action;
  /** `undefined`: any resource of the collection. */
  id: string | undefined;
  /**
   * The caller that an administrator asks about. `undefined`: the question is about the sender of the request. Without a principal: a caller
   * without a credential.
   */
  as: { principal: Principal | undefined } | undefined;
}

const members = ["collection", "operation", "id"];

/** The most roles, and the most scopes, that `as` can have. */
export const maxNames = 100;

/**
 * Reads the content. Throws INVALID_PARAMETER with all violations, BODY_NOT_OBJECT and the problems of `parseJson`. Only
 * administrators can use `as`.
 */
export function parseQuestion(
  bytes: Buffer,
  { isAdministrator, isKnown }: { isAdministrator: boolean; isKnown: (collection: string) => boolean },
  limits: Limits,
): AccessQuestion {
  const body = requireObject(parseJson(bytes, jsonLimits(limits)), {
    insteadOfArray: 'send {"collection":"articles","operation":"update"}',
  });
  const violations = new Violations();
  requireKnownMembers(body, isAdministrator ? [...members, "as"] : members, violations);
  const collection = readCollection(body.collection, isKnown, violations);
  if (body.operation === undefined) violations.add(inBody("operation"), "required", "is required");
  const operation = readWord(body.operation, inBody("operation"), { words: actions, violations }) ?? "read";
  const id = readId(body.id, operation, violations);
  const as = isAdministrator && Object.hasOwn(body, "as") ? readAs(body.as, violations) : undefined;
  violations.throwIfAny();
  return { collection, operation, id, as };
}

function requireKnownMembers(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
  violations: Violations,
  at: (name: string) => Location = inBody,
): void {
  for (const name of Object.keys(given))
    if (!known.includes(name))
      violations.add(at(name), "unknownMember", `is not understood. Known names: ${known.join(", ")}`);
}

function readCollection(value: unknown, isKnown: (name: string) => boolean, violations: Violations): string {
  if (typeof value === "string" && isKnown(value)) return value;
  if (value === undefined) violations.add(inBody("collection"), "required", "is required");
  else
    violations.add(
      inBody("collection"),
      "collection",
      `must be a collection, and ${shortJson(value)} is not`,
    );
  return "";
}

function readId(value: unknown, operation: Action, violations: Violations): string | undefined {
  if (value === undefined) return undefined;
  if (operation === "create")
    violations.add(inBody("id"), "id", 'cannot be used together with the operation "create"');
  if (typeof value === "string" && value !== "") return value;
  if (Number.isSafeInteger(value)) return String(value);
  violations.add(inBody("id"), "type", `must be the id of a resource, not ${shortJson(value)}`);
  return undefined;
}

function readAs(value: unknown, violations: Violations): AccessQuestion["as"] {
  const at = inBody("as");
  if (value === null) return { principal: undefined };
  if (!isObject(value)) {
    violations.add(at, "type", `must be an object such as {"roles":["editor"]}, not ${shortJson(value)}`);
    return undefined;
  }
  const names = ["subject", "roles", "claims", "scopes"];
  requireKnownMembers(value, names, violations, (name) => inside(at, name));
  const { subject = "", roles, claims = {}, scopes } = value;
  if (typeof subject !== "string") violations.add(inside(at, "subject"), "type", "must be a string");
  if (!isObject(claims)) violations.add(inside(at, "claims"), "type", "must be an object");
  return {
    principal: {
      subject: String(subject),
      roles: readNames(roles, inside(at, "roles"), violations) ?? [],
      claims: isObject(claims) ? claims : {},
      scopes: readScopes(scopes, inside(at, "scopes"), violations),
    },
  };
}

function readNames(value: unknown, at: Location, violations: Violations): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.length <= maxNames && value.every((each) => typeof each === "string"))
    return value as string[];
  violations.add(at, "type", `must be an array of at most ${maxNames} strings`);
  return undefined;
}

function readScopes(value: unknown, at: Location, violations: Violations): readonly Scope[] | undefined {
  return readNames(value, at, violations)?.flatMap((text, n) => {
    const scope = parseScope(text);
    if (scope !== undefined) return [scope];
    violations.add(
      inside(at, n),
      "scope",
      `must be <collection>:read or <collection>:write, not ${shortJson(text)}`,
    );
    return [];
  });
}
