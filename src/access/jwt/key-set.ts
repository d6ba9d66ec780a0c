/** An issuer's public keys (RFC 7517), each for one algorithm. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type Algorithm, algorithmOf, algorithms } from "./algorithms.ts";

/** A key that signatures are checked with. */
export interface VerificationKey {
  kid: string | undefined;
  /** The one algorithm that the key is for (RFC 8725 §3.1). */
  algorithm: Algorithm;
  key: KeyObject;
}

/** The keys of one issuer. */
export type KeySet = readonly VerificationKey[];

const oldestRsaBits = 2_048;

/** The public parts; whatever else a key holds is left where it is. */
const publicMembers = {
  EC: ["kty", "crv", "x", "y"],
  OKP: ["kty", "crv", "x"],
  RSA: ["kty", "n", "e"],
} as const;

/**
 * The keys of a JSON Web Key Set that signatures of these algorithms can be checked with; others are left out. Throws an
 * Error where it is no key set, or there is none.
 */
export function readKeySet(value: unknown, allowed: readonly Algorithm[]): KeySet {
  const listed = isObject(value) ? value.keys : undefined;
  if (!Array.isArray(listed))
    throw new Error('it is not a JSON Web Key Set, an object with a list of "keys"');
  const keys = listed.map((each) => readKey(each, allowed)).filter((key) => key !== undefined);
  if (keys.length > 0) return keys;
  throw new Error(`it has no public key for signatures of ${allowed.join(", ")}`);
}

/** Whether some key of the set gives away a secret. */
export function holdsSecrets(value: unknown): boolean {
  const listed = isObject(value) && Array.isArray(value.keys) ? value.keys : [];
  return listed.some((each) => isObject(each) && ("d" in each || "k" in each));
}

/** The key that a token's header names; one that names none can only mean the only one. */
export function findKey(keys: KeySet, algorithm: Algorithm, kid: string | undefined): KeyObject | undefined {
  const fitting = keys.filter((key) => key.algorithm === algorithm && (kid === undefined || key.kid === kid));
  return fitting.length === 1 ? fitting[0]?.key : undefined;
}

function readKey(jwk: unknown, allowed: readonly Algorithm[]): VerificationKey | undefined {
  if (!isObject(jwk) || !isForSignatures(jwk)) return undefined;
  const algorithm = algorithmFor(jwk, allowed);
  if (algorithm === undefined) return undefined;
  const key = toPublicKey(jwk, algorithms[algorithm].kty);
  if (key === undefined) return undefined;
  return { kid: typeof jwk.kid === "string" ? jwk.kid : undefined, algorithm, key };
}

function isForSignatures({ use, key_ops: operations }: Record<string, unknown>): boolean {
  if (use !== undefined && use !== "sig") return false;
  return !Array.isArray(operations) || operations.includes("verify");
}

/** What the key says that it is for, or else the first that its type can do. */
function algorithmFor(jwk: Record<string, unknown>, allowed: readonly Algorithm[]): Algorithm | undefined {
  const isOfType = (name: Algorithm) =>
    algorithms[name].kty === jwk.kty && algorithms[name].crv === (jwk.kty === "RSA" ? undefined : jwk.crv);
  if (jwk.alg === undefined) return allowed.find(isOfType);
  const named = algorithmOf(jwk.alg);
  return named !== undefined && allowed.includes(named) && isOfType(named) ? named : undefined;
}

function toPublicKey(jwk: Record<string, unknown>, kty: keyof typeof publicMembers): KeyObject | undefined {
  const members = Object.fromEntries(publicMembers[kty].map((name) => [name, jwk[name]]));
  try {
    const key = createPublicKey({ key: members, format: "jwk" });
    const bits = key.asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < oldestRsaBits ? undefined : key;
  } catch {
    return undefined; // a point that is not on its curve, for one
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
