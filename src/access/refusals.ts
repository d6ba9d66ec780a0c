/** The responses to callers that are unknown (401), or that do not have a permission (403) (RFC 6750 §3). */
import { Problem } from "../errors.ts";
import { type Action, scopeOf } from "./actions.ts";
import type { Principal } from "./principal.ts";

const realm = 'Bearer realm="api"';

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

/**
 * The caller does not have a permission. Without a credential, the response asks for one. With a credential, it names the
 * scope that the action needs. `advice` is added to the message.
 */
export function denied(
  principal: Principal | undefined,
  needed?: { collection: string; action: Action },
  advice?: string,
): Problem {
  if (principal === undefined) return unauthenticated();
  const scope = needed === undefined ? "" : `, scope="${needed.collection}:${scopeOf(needed.action)}"`;
  const headers = { "www-authenticate": `Bearer error="insufficient_scope"${scope}` };
  const detail =
    needed === undefined
      ? "The credential does not permit any writes."
      : `The credential does not permit the action "${needed.action}" in the collection "${needed.collection}".`;
  return new Problem("INSUFFICIENT_SCOPE", advice === undefined ? detail : `${detail} ${advice}`, {
    headers,
  });
}
