/** The token of a request, which is taken from its Authorization header alone (RFC 6750 §2.1, RFC 9700 §4.3.2). */
import { unauthenticated } from "./refusals.ts";

/** More is no token of ours, and no token of anybody's that should be looked at. */
const maxLength = 16_384;

const bearer = /^bearer(?: +|$)/i;

/** As nearly everybody writes it. */
const usual = "Bearer ";
const tokenShape = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * The token in an Authorization header; `undefined` without one, or where the scheme is another, which is nothing that
 * could be used here. Throws UNAUTHENTICATED when it is longer than any token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const isUsual = authorization.startsWith(usual) && authorization[usual.length] !== " ";
  const length = isUsual ? usual.length : bearer.exec(authorization)?.[0].length;
  if (length === undefined) return undefined;
  const token = authorization.slice(length);
  if (token.length > maxLength)
    throw unauthenticated(`The token is longer than the limit of ${maxLength} bytes.`);
  return token;
}

/** Throws UNAUTHENTICATED when what follows the scheme cannot be a token. One that is known already need not be looked at. */
export function requireTokenShape(token: string): void {
  if (tokenShape.test(token)) return;
  throw unauthenticated("The text after Bearer in the Authorization header is not a valid token.");
}
