/** How a request is refused whose sender is not known (RFC 6750 §3). */
import { Problem } from "../errors.ts";

const realm = 'Bearer realm="api"';

/** No usable credential where one is needed. Nothing is wrong with a token, so no error is named. */
export function unauthenticated(
  detail = "This request needs a credential. Send it as Authorization: Bearer <token>.",
): Problem {
  return new Problem("UNAUTHENTICATED", detail, { headers: { "www-authenticate": realm } });
}

/** A token that does not hold. `detail` is a sentence without quotes and backslashes. */
export function invalidToken(detail: string, cause?: unknown): Problem {
  return new Problem("INVALID_TOKEN", detail, {
    headers: { "www-authenticate": `${realm}, error="invalid_token", error_description="${detail}"` },
    cause,
  });
}
