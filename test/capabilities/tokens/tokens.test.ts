/** Valid tokens, and attacks with invalid ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allAlgorithms } from "../../../src/capabilities/tokens/key-set.ts";
import type { JwtSettings } from "../../../src/capabilities/tokens/settings.ts";
import { Tokens } from "../../../src/capabilities/tokens/tokens.ts";
import { refuses } from "../../access/check.ts";
import {
  claimsAt,
  createPair,
  hmacTokenOf,
  type Pair,
  settingsFor,
  tokenOf,
  unsignedToken,
} from "../../access/issuer.ts";

const now = Date.UTC(2026, 10, 21, 9);
const pairs = Object.fromEntries(allAlgorithms.map((alg) => [alg, createPair(alg)])) as Record<string, Pair>;
const pair = (alg: string) => pairs[alg] as Pair;
const stranger = createPair("ES256", "ES256 key");

function open(settings: JwtSettings = settingsFor(Object.values(pairs))): Promise<Tokens> {
  return Tokens.open({ settings, now: () => now, elapsed: () => performance.now(), warn: assert.fail });
}

const claims = (more?: Record<string, unknown>) => claimsAt(now, more);
const sound = () => tokenOf(pair("ES256"), claims());
const hmacHeader = { kid: "RS256 key" };
const publicPem = () => pair("RS256").publicKey.export({ format: "pem", type: "spki" });

describe("a token that holds", () => {
  for (const alg of allAlgorithms) {
    test(`may be signed with ${alg}`, async () => {
      const tokens = await open();
      const principal = await tokens.principalOf(tokenOf(pair(alg), claims()));
      assert.equal(principal.subject, "kim");
      await refuses("INVALID_TOKEN", () =>
        tokens.principalOf(`${tokenOf(pair(alg), claims()).slice(0, -8)}AAAAAAAA`),
      );
    });
  }

  test("may be signed with EdDSA under its newer name, for a key of the older", async () => {
    const token = tokenOf(pair("EdDSA"), claims(), { alg: "Ed25519" });
    assert.equal((await (await open()).principalOf(token)).subject, "kim");
  });

  for (const typ of ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", undefined]) {
    test(`may say ${JSON.stringify(typ)} of its type`, async () => {
      assert.equal(
        (await (await open()).principalOf(tokenOf(pair("ES256"), claims(), { typ }))).subject,
        "kim",
      );
    });
  }

  test("may name no key where only one can be meant", async () => {
    const token = tokenOf(pair("ES256"), claims(), { kid: undefined });
    assert.equal((await (await open()).principalOf(token)).subject, "kim");
    const twins = settingsFor([pair("ES256"), createPair("ES256", "another")]);
    await refuses(
      "INVALID_TOKEN",
      async () => (await open(twins)).principalOf(token),
      /signed with an unknown key/,
    );
  });

  test("may be for several audiences, and be up to a minute early or late", async () => {
    const seconds = now / 1_000;
    const edge = { aud: ["others", "articles"], nbf: seconds + 59, exp: seconds - 59 };
    assert.equal((await (await open()).principalOf(tokenOf(pair("ES256"), claims(edge)))).subject, "kim");
  });
});

const seconds = now / 1_000;
const attacks: Record<string, () => string> = {
  "no signature, alg none": () => unsignedToken(claims(), { alg: "none", typ: "JWT" }),
  "no signature, alg nOnE": () => unsignedToken(claims(), { alg: "nOnE", kid: "ES256 key" }),
  "alg none with a signature of another token": () =>
    unsignedToken(claims(), { alg: "none" }, sound().split(".")[2]),
  "no alg": () => unsignedToken(claims(), { typ: "JWT", kid: "ES256 key" }, sound().split(".")[2]),
  "an alg that is no text": () => tokenOf(pair("ES256"), claims(), { alg: ["ES256"] }),
  "an alg that every object has": () => tokenOf(pair("ES256"), claims(), { alg: "toString" }),
  "an empty signature": () => unsignedToken(claims(), { alg: "ES256", kid: "ES256 key" }),
  "HS256 with the RSA public key as PEM": () => hmacTokenOf(publicPem(), claims(), hmacHeader),
  "HS256 with the RSA public key as its JWK": () =>
    hmacTokenOf(JSON.stringify(pair("RS256").jwk), claims(), hmacHeader),
  "HS256 with the modulus": () =>
    hmacTokenOf(Buffer.from(String(pair("RS256").jwk.n), "base64url"), claims(), hmacHeader),
  "HS256 with an empty secret": () => hmacTokenOf("", claims(), hmacHeader),
  "a key of ES256 where RS256 is said": () => tokenOf(pair("ES256"), claims(), { alg: "RS256" }),
  "a key of RS256 where ES256 is said": () => tokenOf(pair("RS256"), claims(), { alg: "ES256" }),
  "a key of RS256 where PS256 is said": () => tokenOf(pair("RS256"), claims(), { alg: "PS256" }),
  "a key of RS256 used for RS512": () => tokenOf({ ...pair("RS256"), alg: "RS512" }, claims()),
  "crit with an extension": () => tokenOf(pair("ES256"), claims(), { crit: ["exp"], exp: seconds + 9 }),
  "crit that is empty": () => tokenOf(pair("ES256"), claims(), { crit: [] }),
  "crit with b64 false": () => tokenOf(pair("ES256"), claims(), { crit: ["b64"], b64: false }),
  "a key of its own in jwk": () => tokenOf(stranger, claims(), { jwk: stranger.jwk }),
  "a key of its own in jwk, and no kid": () =>
    tokenOf(stranger, claims(), { jwk: stranger.jwk, kid: undefined }),
  "a key of its own by jku": () => tokenOf(stranger, claims(), { jku: "http://127.0.0.1:1/jwks.json" }),
  "a key of its own by x5u": () => tokenOf(stranger, claims(), { x5u: "http://127.0.0.1:1/key.pem" }),
  "a key of its own in x5c": () => tokenOf(stranger, claims(), { x5c: ["MIIB"] }),
  "a kid with a path": () => tokenOf(stranger, claims(), { kid: "../../../../dev/null" }),
  "a kid with SQL": () => tokenOf(stranger, claims(), { kid: "x' union select 'key' --" }),
  "a kid of 10 kB": () => tokenOf(stranger, claims(), { kid: "k".repeat(10_000) }),
  "a kid that is a number": () => tokenOf(pair("ES256"), claims(), { kid: 1 }),
  "a kid that is null": () => tokenOf(pair("ES256"), claims(), { kid: null }),
  "a kid that is an object": () => tokenOf(pair("ES256"), claims(), { kid: { toString: "ES256 key" } }),
  "another key's signature": () => tokenOf(stranger, claims()),
  "one part": () => "abc",
  "two parts": () => sound().split(".").slice(0, 2).join("."),
  "four parts": () => `${sound()}.AAAA`,
  "five parts": () => `${sound()}.AAAA.AAAA`,
  "three empty parts": () => "..",
  "a header that is no JSON": () => `AAAA.${sound().split(".").slice(1).join(".")}`,
  "a header that is a list": () => unsignedToken(claims(), [] as never, "AAAA"),
  "a header that is null": () => unsignedToken(claims(), null as never, "AAAA"),
  "claims that are a list": () => tokenOf(pair("ES256"), [claims()]),
  "claims that are null": () => tokenOf(pair("ES256"), null),
  "claims that are a text": () => tokenOf(pair("ES256"), "kim"),
  "claims changed after the signature": () => {
    const [header, , signature] = sound().split(".");
    return `${header}.${sound()
      .split(".")[1]
      ?.replace(/^.{20}/, "e".repeat(20))}.${signature}`;
  },
  "expired more than a minute ago": () => tokenOf(pair("ES256"), claims({ exp: seconds - 60 })),
  "valid only in more than a minute": () => tokenOf(pair("ES256"), claims({ nbf: seconds + 61 })),
  "another audience": () => tokenOf(pair("ES256"), claims({ aud: "others" })),
  "an audience that only begins alike": () =>
    tokenOf(pair("ES256"), claims({ aud: ["articles2", "article"] })),
  "no audience": () => tokenOf(pair("ES256"), claims({ aud: undefined })),
  "an audience that is an object": () => tokenOf(pair("ES256"), claims({ aud: { articles: true } })),
  "another issuer": () => tokenOf(pair("ES256"), claims({ iss: "https://evil.example.org/" })),
  "the issuer without its slash": () => tokenOf(pair("ES256"), claims({ iss: "https://id.example.org" })),
  "several issuers": () => tokenOf(pair("ES256"), claims({ iss: ["https://id.example.org/"] })),
  "no issuer": () => tokenOf(pair("ES256"), claims({ iss: undefined })),
  "no expiry": () => tokenOf(pair("ES256"), claims({ exp: undefined })),
  "an expiry that is a text": () => tokenOf(pair("ES256"), claims({ exp: "9999999999" })),
  "an expiry that is null": () => tokenOf(pair("ES256"), claims({ exp: null })),
  "no subject": () => tokenOf(pair("ES256"), claims({ sub: undefined })),
  "an empty subject": () => tokenOf(pair("ES256"), claims({ sub: "" })),
  "a subject that is a number": () => tokenOf(pair("ES256"), claims({ sub: 7 })),
  "a subject with a null character": () => tokenOf(pair("ES256"), claims({ sub: "kim\0" })),
  "a subject with half a character": () => tokenOf(pair("ES256"), claims({ sub: "kim\ud800" })),
  "the type of a logout token": () => tokenOf(pair("ES256"), claims(), { typ: "logout+jwt" }),
  "a type that is no text": () => tokenOf(pair("ES256"), claims(), { typ: ["JWT"] }),
};

describe("a token is refused, and nothing breaks, with", () => {
  for (const [what, make] of Object.entries(attacks)) {
    test(what, async () => {
      const tokens = await open();
      await refuses("INVALID_TOKEN", () => tokens.principalOf(make()));
      await refuses("INVALID_TOKEN", () => tokens.principalOf(make()));
    });
  }

  test("an algorithm that the configuration leaves out", async () => {
    const tokens = await open(settingsFor(Object.values(pairs), { algorithms: ["EdDSA", "RS256"] }));
    await refuses(
      "INVALID_TOKEN",
      () => tokens.principalOf(sound()),
      /signed with an algorithm that the service does not accept/,
    );
    assert.equal((await tokens.principalOf(tokenOf(pair("RS256"), claims()))).subject, "kim");
  });

  for (const typ of ["JWT", undefined, "id+jwt"]) {
    test(`the type ${JSON.stringify(typ)} where only access tokens are taken`, async () => {
      const tokens = await open(settingsFor(Object.values(pairs), { onlyAccessTokens: true }));
      const token = tokenOf(pair("ES256"), claims(), { typ });
      await refuses("INVALID_TOKEN", () => tokens.principalOf(token), /not an access token/);
      assert.equal((await tokens.principalOf(sound())).subject, "kim");
    });
  }
});

describe("what a token says of its holder", () => {
  const said = async (more: Record<string, unknown>, names: Partial<JwtSettings["claims"]> = {}) => {
    const settings = settingsFor([pair("ES256")]);
    const tokens = await open({ ...settings, claims: { ...settings.claims, ...names } });
    return tokens.principalOf(tokenOf(pair("ES256"), claims(more)));
  };

  test("is its claims, and its roles as a list or with spaces between", async () => {
    const principal = await said({ roles: ["editor", "admin", 7, null], team: { name: "a" } });
    assert.deepEqual(principal.roles, ["editor", "admin"]);
    assert.deepEqual(principal.claims.team, { name: "a" });
    assert.deepEqual((await said({ roles: "editor  admin" })).roles, ["editor", "admin"]);
    for (const roles of [undefined, null, 7, { editor: true }])
      assert.deepEqual((await said({ roles })).roles, []);
  });

  test("may stand in claims of other names, and in claims within claims", async () => {
    const more = { realm_access: { roles: ["editor"] }, org: { id: "acme" }, oid: "k1", tenant: "forged" };
    const names = { roles: "realm_access.roles", tenant: "org.id", subject: "oid" };
    const principal = await said(more, names);
    assert.deepEqual(
      [principal.subject, principal.roles, principal.claims.tenant],
      ["k1", ["editor"], "acme"],
    );
    const dotted = await said({ "https://example.org/roles": ["a"] }, { roles: "https://example.org/roles" });
    assert.deepEqual(dotted.roles, ["a"]);
    assert.equal((await said({ tenant: "forged" }, { tenant: "org.id" })).claims.tenant, undefined);
  });

  test("cannot come from what every object has", async () => {
    assert.deepEqual((await said({}, { roles: "constructor.name" })).roles, []);
    await refuses("INVALID_TOKEN", () => said({}, { subject: "constructor.name" }));
  });

  const read = { collection: "articles", action: "read" };
  const write = { collection: "articles", action: "write" };
  for (const [scope, named, expected] of [
    [undefined, undefined, undefined],
    ["openid profile", undefined, undefined],
    ["openid articles:read", undefined, [read]],
    [["articles:write", "articles:read"], undefined, [write, read]],
    ["articles:delete :read a:b:write", undefined, undefined],
    ["openid", "scope", []],
    [undefined, "scope", []],
  ] as const) {
    test(`of the scopes ${JSON.stringify(scope)} ${named === undefined ? "" : "in a claim that is named "}is narrowed to ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual((await said({ scope }, { scope: named })).scopes, expected);
    });
  }
});

describe("a token that was checked once", () => {
  test("is not checked again, and holds for no longer than it says", async () => {
    let time = now;
    const settings = settingsFor([pair("ES256")]);
    const tokens = await Tokens.open({ settings, now: () => time, elapsed: () => 0, warn: assert.fail });
    const token = sound();
    const first = await tokens.principalOf(token);
    assert.equal(tokens.known(token), first);
    assert.equal(tokens.known(tokenOf(pair("ES256"), claims({ sub: "max" }))), undefined);
    time = now + 659_000;
    assert.equal(tokens.known(token), first);
    time = now + 660_000;
    assert.equal(tokens.known(token), undefined);
    await refuses("INVALID_TOKEN", () => tokens.principalOf(token), /has expired/);
  });

  test("is forgotten again where many come after it, the oldest first", async () => {
    const { TokenCache } = await import("../../../src/capabilities/tokens/tokens.ts");
    const cache = new TokenCache();
    const principal = { subject: "kim", roles: [], claims: {}, scopes: undefined };
    cache.get("0", [], 0);
    const keys = [] as const;
    cache.get("0", keys, 0);
    for (let n = 0; n <= 10_000; n++) cache.set(String(n), keys, { principal, validUntil: 1 });
    assert.equal(cache.get("0", keys, 0), undefined);
    assert.equal(cache.get("1", keys, 0), principal);
    assert.equal(cache.get("10000", keys, 0), principal);
    assert.equal(cache.get("1", [], 0), undefined, "other keys, other tokens");
  });

  test("is removed when the tokens in the cache are too long together, the oldest first", async () => {
    const { TokenCache } = await import("../../../src/capabilities/tokens/tokens.ts");
    const cache = new TokenCache();
    const keys = [] as const;
    const known = { principal: { subject: "kim", roles: [], claims: {}, scopes: undefined }, validUntil: 1 };
    const tokenOfLength = (n: number) => String(n).padEnd(16 * 1024, "x");
    for (let n = 0; n < 512; n++) cache.set(tokenOfLength(n), keys, known);
    for (let again = 0; again < 10; again++) cache.set(tokenOfLength(511), keys, known);
    assert.equal(cache.get(tokenOfLength(0), keys, 0), known.principal, "512 tokens of 16 KiB are 8 MiB");
    cache.set("short", keys, known);
    assert.equal(cache.get(tokenOfLength(0), keys, 0), undefined);
    assert.equal(cache.get(tokenOfLength(1), keys, 0), known.principal);
    assert.equal(cache.get("short", keys, 0), known.principal);
  });
});
