/** The responses to callers that are unknown (401), or that do not have a permission (403) (RFC 6750 §3). */

import { formatPath, type Path } from "../collection/paths.ts";
import { Problem } from "../errors.ts";
import { leavesOf, namesRelated, ownPathsOf, relatedIn } from "../query/filter.ts";
import { type Action, scopeOf } from "./access-declaration.ts";
import type { Principal } from "./principal.ts";
import type { AllowedResources } from "./rules.ts";

/** The challenge to a caller without a valid credential. */
export const realm = 'Bearer realm="api"';

/** The credential is missing or malformed. RFC 6750 §3.1: the header then contains no error code. */
export function unauthenticated(
  detail = "This request needs a credential. Send it as Authorization: Bearer <token>.",
): Problem {
  return new Problem("UNAUTHENTICATED", detail, { headers: { "www-authenticate": realm } });
}

/** The token is not valid. `detail` is a sentence without quotation marks and backslashes. */
export function invalidToken(detail: string, cause?: unknown): Problem {
  return new Problem("INVALID_TOKEN", detail, {
    headers: { "www-authenticate": `${realm}, error="invalid_token", error_description="${detail}"` },
    cause,
  });
}

/** What a caller cannot do. */
interface Needed {
  collection: string;
  action: Action;
  /** The one resource with which the caller cannot do it. @default the collection */
  resource?: string;
}

/**
 * The caller does not have a permission. Without a credential, the response asks for one. With a credential, it names the
 * scope that the action needs. `advice` is added to the message.
 */
export function denied(principal: Principal | undefined, needed?: Needed, advice?: string): Problem {
  if (principal === undefined) return unauthenticated();
  const scope = needed === undefined ? "" : `, scope="${needed.collection}:${scopeOf(needed.action)}"`;
  const headers = { "www-authenticate": `Bearer error="insufficient_scope"${scope}` };
  const detail =
    needed === undefined
      ? "The credential does not permit any writes."
      : `The credential does not permit the action "${needed.action}" ${needed.resource === undefined ? "" : `with ${needed.resource} `}in the collection "${needed.collection}".`;
  return new Problem("INSUFFICIENT_SCOPE", advice === undefined ? detail : `${detail} ${advice}`, {
    headers,
  });
}

/** The caller cannot use a path. Without a credential, the response asks for one. */
export function deniedPath(principal: Principal | undefined): Problem {
  if (principal === undefined) return unauthenticated();
  const headers = { "www-authenticate": 'Bearer error="insufficient_scope"' };
  return new Problem("INSUFFICIENT_SCOPE", "The credential does not permit this request.", { headers });
}

/**
 * What a rule compares in a resource, as a sentence; `undefined` if it does not depend on the resource. It names only
 * attributes that the caller sees, and no value except the caller's own subject.
 */
export function comparedIn(
  allowed: AllowedResources,
  { subject }: Pick<Principal, "subject">,
  isVisible: (path: Path) => boolean,
): string | undefined {
  if (typeof allowed === "string") return undefined;
  const own = allowed.kind === "in" && allowed.values.length === 1 && allowed.values[0] === subject;
  if (own && isVisible(allowed.path))
    return `The attribute ${JSON.stringify(formatPath(allowed.path))} must be your subject, ${JSON.stringify(subject)}.`;
  // A message must not say where in related resources a rule looks.
  const paths = leavesOf(allowed).flatMap((leaf) => {
    if (leaf.kind === "compares")
      return [leaf.left, leaf.right].flatMap(({ path, through }) => (through === undefined ? [path] : []));
    return relatedIn(leaf).length > 0 ? [] : ownPathsOf(leaf);
  });
  const names = paths.flatMap((path) => (isVisible(path) ? [formatPath(path)] : []));
  const compared = [...new Set(names)].map((name) => JSON.stringify(name));
  if (namesRelated(allowed)) compared.push("related resources");
  const last = compared.pop();
  if (last === undefined) return undefined;
  return `The rule depends on ${compared.length === 0 ? last : `${compared.join(", ")} and ${last}`}.`;
}
