/** Verifies tokens (RFC 7519, RFC 8725). Every fault of a token is INVALID_TOKEN. */
import type { KeyObject } from "node:crypto";
import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from "jose";
import { invalidToken } from "../../access/challenges.ts";
import { Problem } from "../../errors.ts";
import { type Algorithm, algorithmOf, findKey, type KeySet } from "./key-set.ts";
import type { JwtSettings } from "./settings.ts";

/** How much the clocks of the issuer and the service can differ. */
export const clockToleranceSeconds = 60;

/** The parts of a token's header that select the key. */
interface Header {
  algorithm: Algorithm;
  /** As the token spells it. */
  alg: string;
  kid: string | undefined;
}

/** What the verification depends on. */
export interface Verification {
  settings: JwtSettings;
  /** The keys in memory, and a function that reads them again if the key of the token is not among them. */
  keys: KeySet;
  renewed: () => Promise<KeySet>;
  /** Unix time in milliseconds. */
  now: number;
}

/** The claims of a valid token. Throws INVALID_TOKEN. */
export async function verifyToken(
  token: string,
  { settings, keys, renewed, now }: Verification,
): Promise<JWTPayload & { exp: number }> {
  const { algorithm, alg, kid } = readHeader(token, settings);
  const key = findKey(keys, algorithm, kid) ?? findKey(await renewed(), algorithm, kid);
  if (key === undefined) throw invalidToken("The token is signed with an unknown key.");
  const options = {
    algorithms: [alg],
    issuer: settings.issuer,
    audience: [...settings.audience],
    requiredClaims: ["exp"],
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(now),
  };
  try {
    const { payload } = await verifyByEither(token, key, options, async () =>
      findKey(await renewed(), algorithm, kid),
    );
    return { ...payload, exp: Number(payload.exp) };
  } catch (error) {
    throw error instanceof Problem ? error : refusalOf(error);
  }
}

/**
 * Verifies a token. An issuer can change a key and keep its id, so the key is read again if the signature does not
 * match.
 */
async function verifyByEither(
  token: string,
  key: KeyObject,
  options: JWTVerifyOptions,
  newer: () => Promise<KeyObject | undefined>,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, key, options);
  } catch (error) {
    if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    const next = await newer();
    if (next === undefined || next === key) throw error;
    return jwtVerify(token, next, options);
  }
}

/** Reads only the algorithm and the key id. Keys and addresses of keys in the header of a token must never be used. */
function readHeader(token: string, { algorithms, onlyAccessTokens }: JwtSettings): Header {
  const header = decodeHeader(token);
  const algorithm = algorithmOf(header.alg);
  if (algorithm === undefined || !algorithms.includes(algorithm)) {
    throw invalidToken("The token is signed with an algorithm that the service does not accept.");
  }
  const { kid, typ } = header;
  if (kid !== undefined && typeof kid !== "string") throw notAToken();
  if (!isTokenType(typ, onlyAccessTokens)) throw invalidToken("The token is not an access token.");
  return { algorithm, alg: String(header.alg), kid };
}

function decodeHeader(token: string): Readonly<Record<string, unknown>> {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    throw notAToken(error);
  }
}

/** Most issuers use the type `JWT`, or none, for access tokens. */
function isTokenType(typ: unknown, onlyAccessTokens: boolean): boolean {
  if (typ === undefined) return !onlyAccessTokens;
  if (typeof typ !== "string") return false;
  const type = typ.toLowerCase().replace(/^application\//, "");
  return type === "at+jwt" || (type === "jwt" && !onlyAccessTokens);
}

function refusalOf(error: unknown): Error {
  if (error instanceof errors.JWTExpired) return invalidToken("The token has expired.");
  if (error instanceof errors.JWTClaimValidationFailed) return wrongClaim(error.claim);
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return invalidToken("The signature of the token is invalid.");
  }
  return notAToken(error);
}

function wrongClaim(claim: string): Error {
  switch (claim) {
    case "iss":
      return invalidToken("The token is from another issuer.");
    case "aud":
      return invalidToken("The token is for another audience.");
    case "nbf":
      return invalidToken("The token is not valid yet.");
    case "exp":
      return invalidToken("The token has no exp claim, which says when it expires.");
    default:
      return invalidToken("The token has an invalid claim.");
  }
}

function notAToken(cause?: unknown): Error {
  return invalidToken("The token is not a valid JSON Web Token.", cause);
}
