/** The signatures that tokens may have (RFC 7518 §3.1, RFC 8037): public keys only, so that no secret is shared with the issuer. */

/** What kind of key each algorithm works with, in the order of preference where a key does not say which one it is for. */
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

/** All of them. */
export const allAlgorithms = Object.keys(algorithms) as readonly Algorithm[];

/** The algorithm of a name in a token or key; `undefined` for any that is not taken. Ed25519 is EdDSA's newer name (RFC 9864). */
export function algorithmOf(name: unknown): Algorithm | undefined {
  if (name === "Ed25519") return "EdDSA";
  return typeof name === "string" && Object.hasOwn(algorithms, name) ? (name as Algorithm) : undefined;
}
