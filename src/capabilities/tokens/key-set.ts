/** The public keys of an issuer (RFC 7517), and the algorithms that they are for. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { isObject } from "../../json/values.ts";

/**
 * The kind of key for each algorithm (RFC 7518 §3.1, RFC 8037). All of them use public keys, so the service shares no
 * secret with the issuer. A key without `alg` is used with the first algorithm that fits.
 */
export const algorithms = {
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  ES512: { kty: "EC", crv: "P-521" },
  EdDSA: { kty: "OKP", crv: "Ed25519" },
  RS256: { kty: "RSA", crv: undefined },
  RS384: { kty: "RSA", crv: undefined },
  RS512: { kty: "RSA", crv: undefined },
  PS256: { kty: "RSA", crv: undefined },
  PS384: { kty: "RSA", crv: undefined },
  PS512: { kty: "RSA", crv: undefined },
} as const satisfies Record<string, { kty: string; crv: string | undefined }>;

/** The name of an algorithm. */
export type Algorithm = keyof typeof algorithms;

/** The names of all algorithms. */
export const allAlgorithms = Object.keys(algorithms) as readonly Algorithm[];

/** The algorithm with a name; `undefined` if it is not supported. Ed25519 is the newer name of EdDSA (RFC 9864). */
export function algorithmOf(name: unknown): Algorithm | undefined {
  if (name === "Ed25519") return "EdDSA";
  return typeof name === "string" && Object.hasOwn(algorithms, name) ? (name as Algorithm) : undefined;
}

/** A key that verifies signatures. */
export interface VerificationKey {
  kid: string | undefined;
  /** The one algorithm that the key is for (RFC 8725 §3.1). */
  algorithm: Algorithm;
  key: KeyObject;
}

/** The keys of one issuer. */
export type KeySet = readonly VerificationKey[];

const minRsaBits = 2_048;

/** The public members of a key. Other members are not read. */
const publicMembers = {
  EC: ["kty", "crv", "x", "y"],
  OKP: ["kty", "crv", "x"],
  RSA: ["kty", "n", "e"],
} as const;

/**
 * The keys of a JSON Web Key Set that can verify signatures of these algorithms. It skips other keys. Throws an Error if
 * the value is not a key set, or if no key is left.
 */
export function readKeySet(value: unknown, allowed: readonly Algorithm[]): KeySet {
  const listed = isObject(value) ? value.keys : undefined;
  if (!Array.isArray(listed))
    throw new Error('it is not a JSON Web Key Set, an object with a list of "keys"');
  const keys = listed.map((each) => readKey(each, allowed)).filter((key) => key !== undefined);
  if (keys.length > 0) return keys;
  throw new Error(`it has no public key for signatures of ${allowed.join(", ")}`);
}

/** Whether a key of the set contains a secret. */
export function holdsSecrets(value: unknown): boolean {
  const listed = isObject(value) && Array.isArray(value.keys) ? value.keys : [];
  return listed.some((each) => isObject(each) && ("d" in each || "k" in each));
}

/** The key that the header of a token names. If it names none, the set must have only one key for the algorithm. */
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

/** The algorithm that the key names, or the first one that fits its type. */
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
    return bits !== undefined && bits < minRsaBits ? undefined : key;
  } catch {
    return undefined; // for example, a point that is not on its curve
  }
}
