/** The token of a request, which is taken from its Authorization header alone (RFC 6750 §2.1, RFC 9700 §4.3.2). */
import { unauthenticated } from "./refusals.ts";

/** More is no token of ours, and no token of anybody's that should be looked at. */
const maxLength = 16_384;

const bearer = /^bearer(?: +|$)/i;
const tokenShape = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * The token in an Authorization header; `undefined` without one, or where the scheme is another, which is nothing that
 * could be used here. Throws UNAUTHENTICATED when what follows the scheme is no token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const scheme = bearer.exec(authorization);
  if (scheme === null) return undefined;
  const token = authorization.slice(scheme[0].length);
  if (token.length > maxLength || !tokenShape.test(token)) throw unauthenticated(notAToken(token.length));
  return token;
}

function notAToken(length: number): string {
  return length > maxLength
    ? `The token is longer than ${maxLength} octets.`
    : "What follows Bearer in the Authorization header is not a token.";
}
