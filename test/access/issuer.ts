/** An issuer of tokens, as tests need one: sound tokens, and every other kind. */
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Algorithm, allAlgorithms } from "../../src/capabilities/tokens/key-set.ts";
import type { JwksPlace, JwtSettings } from "../../src/capabilities/tokens/settings.ts";

export const issuer = "https://id.example.org/";
export const audience = "articles";

/** A pair of keys, of which the public one can be shown. */
export interface Pair {
  kid: string;
  alg: Algorithm;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: Record<string, unknown>;
}

const curves: Readonly<Record<string, string>> = { ES256: "P-256", ES384: "P-384", ES512: "P-521" };

function generate(alg: Algorithm): { privateKey: KeyObject; publicKey: KeyObject } {
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  const namedCurve = curves[alg];
  if (namedCurve !== undefined) return generateKeyPairSync("ec", { namedCurve });
  return generateKeyPairSync("rsa", { modulusLength: 2_048 });
}

export function createPair(alg: Algorithm, kid = `${alg} key`): Pair {
  const { privateKey, publicKey } = generate(alg);
  return {
    kid,
    alg,
    privateKey,
    publicKey,
    jwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" },
  };
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Claims of a sound token at a time. */
export function claimsAt(now: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  const seconds = Math.floor(now / 1_000);
  return { iss: issuer, aud: audience, sub: "kim", iat: seconds, exp: seconds + 600, ...more };
}

/** A token signed by a pair, or with a given header instead of the pair's. */
export function tokenOf(pair: Pair, claims: unknown, header: Record<string, unknown> = {}): string {
  const signed = `${base64({ alg: pair.alg, kid: pair.kid, typ: "at+jwt", ...header })}.${base64(claims)}`;
  return `${signed}.${signatureOf(pair, signed)}`;
}

/** A token whose signature is an HMAC with a secret of whatever kind. */
export function hmacTokenOf(
  secret: string | Buffer,
  claims: unknown,
  header: Record<string, unknown>,
): string {
  const signed = `${base64({ alg: "HS256", typ: "JWT", ...header })}.${base64(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** A token with an invalid signature. */
export function unsignedToken(claims: unknown, header: Record<string, unknown>, signature = ""): string {
  return `${base64(header)}.${base64(claims)}.${signature}`;
}

function signatureOf({ alg, privateKey }: Pair, text: string): string {
  if (alg === "EdDSA") return sign(null, Buffer.from(text), privateKey).toString("base64url");
  const padding = alg.startsWith("PS") ? { padding: 6, saltLength: Number(alg.slice(2)) / 8 } : {};
  const key = { key: createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" })), ...padding };
  return sign(`sha${alg.slice(2)}`, Buffer.from(text), { ...key, dsaEncoding: "ieee-p1363" }).toString(
    "base64url",
  );
}

/** The settings for an issuer with these keys. */
export function settingsFor(jwks: JwksPlace | readonly Pair[], more: Partial<JwtSettings> = {}): JwtSettings {
  return {
    issuer,
    audience: [audience],
    jwks: "kind" in jwks ? jwks : { kind: "inline", jwks: { keys: jwks.map(({ jwk }) => jwk) } },
    algorithms: allAlgorithms,
    onlyAccessTokens: false,
    claims: { subject: "sub", roles: "roles", tenant: undefined, scope: undefined },
    ...more,
  };
}

/** A server of keys that counts how often it is asked. */
export interface KeyServer {
  url: string;
  asked(): number;
  /** The response from now on. */
  answer: {
    status: number;
    body: string | Buffer;
    headers?: Record<string, string>;
    /** It never comes. */
    isMissing?: boolean;
    isCut?: boolean;
  };
  stop(): Promise<void>;
}

export async function serveKeys(pairs: readonly Pair[]): Promise<KeyServer> {
  let asked = 0;
  const server: Server = createServer((_request, response) => {
    asked++;
    const { status, body, headers = {}, isMissing = false, isCut = false } = keyServer.answer;
    if (isMissing) return;
    response.writeHead(status, headers);
    if (isCut) response.write(body, () => response.destroy());
    else response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const keyServer: KeyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    asked: () => asked,
    answer: { status: 200, body: keySetText(pairs) },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return keyServer;
}

export function keySetText(pairs: readonly Pair[]): string {
  return JSON.stringify({ keys: pairs.map(({ jwk }) => jwk) });
}
