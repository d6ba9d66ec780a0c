/** Where credentials come from, as the configuration says it. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { allAlgorithms } from "../../src/capabilities/tokens/key-set.ts";
import { type Config, loadConfig } from "../../src/config.ts";
import { StartError } from "../../src/errors.ts";
import { defineConfig } from "../../src/index.ts";
import { createPair } from "../access/issuer.ts";
import { makeFolder } from "../folder.ts";

async function load(content: unknown, flags: Record<string, unknown> = {}): Promise<Config> {
  const cwd = makeFolder();
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  return loadConfig({ flags, env: {}, cwd });
}

const { jwk } = createPair("ES256");
const sound = { issuer: "https://id.example.org/", audience: "articles", jwks: { keys: [jwk] } };
const withJwt = (more: object) => ({ auth: { jwt: { ...sound, ...more } } });

test("the types of the file take what the reader takes", () => {
  defineConfig({
    auth: {
      keys: true,
      jwt: { ...sound, audience: ["a", "b"], algorithms: ["ES256"], rolesClaim: "realm_access.roles" },
      administrators: [{ role: "ops" }, { subject: "alice" }],
    },
  });
});

test("without auth nobody is asked who they are, and pages of this machine may call", async () => {
  const { auth, http } = await load({});
  assert.equal(auth, undefined);
  assert.deepEqual(http.corsOrigins, ["loopback"]);
});

test("with auth the service may listen anywhere, and no page may call that is not named", async () => {
  const { auth, http, host } = await load({ auth: { keys: true } }, { host: "0.0.0.0" });
  assert.deepEqual(auth, { keys: true });
  assert.deepEqual([host, http.corsOrigins], ["0.0.0.0", []]);
  const named = await load({ auth: { keys: true }, cors: { origins: ["loopback"] } });
  assert.deepEqual(named.http.corsOrigins, ["loopback"]);
});

test("administrators are read, and their roles count as named by the configuration", async () => {
  const { auth, access, roles } = await load({ auth: { keys: true, administrators: [{ role: "ops" }] } });
  assert.deepEqual(auth?.administrators, [{ role: "ops" }]);
  assert.equal(access?.hasAdministrators, true);
  assert.deepEqual(roles, [{ name: "ops", at: "auth.administrators" }]);
  const faulty = { auth: { keys: true, administrators: ["ops", { rol: "x" }] } };
  await assert.rejects(load(faulty), (error) => {
    assert.ok(error instanceof StartError, String(error));
    assert.deepEqual(error.faults.length, 2, error.message);
    return true;
  });
});

test("a fault of one capability hides no fault of another option", async () => {
  for (const allow of [["a b"], 3])
    await assert.rejects(load({ auth: {}, webhooks: { allow } }), (error) => {
      assert.ok(error instanceof StartError, String(error));
      const paths = error.faults.map(({ path }) => path.join("."));
      assert.deepEqual(paths, ["auth", "webhooks.allow"], error.message);
      return true;
    });
});

test("of a token everything has its default but issuer, audience and keys", async () => {
  const { tokens } = await load(withJwt({}));
  assert.deepEqual(tokens, {
    issuer: sound.issuer,
    audience: ["articles"],
    jwks: { kind: "inline", jwks: sound.jwks },
    algorithms: allAlgorithms,
    onlyAccessTokens: false,
    claims: { subject: "sub", roles: "roles", tenant: undefined, scope: undefined },
  });
});

test("what is said of a token is taken", async () => {
  const claims = { subjectClaim: "oid", rolesClaim: "groups", tenantClaim: "tid", scopeClaim: "scp" };
  const { tokens } = await load(
    withJwt({ audience: ["a", "b"], algorithms: ["EdDSA", "ES256"], onlyAccessTokens: true, ...claims }),
  );
  const { audience, algorithms, onlyAccessTokens } = tokens ?? {};
  assert.deepEqual([audience, algorithms, onlyAccessTokens], [["a", "b"], ["EdDSA", "ES256"], true]);
  assert.deepEqual(tokens?.claims, { subject: "oid", roles: "groups", tenant: "tid", scope: "scp" });
});

for (const url of [
  "https://id.example.org/jwks.json",
  "http://localhost:8080/jwks",
  "http://127.0.0.1/k",
  "http://[::1]:1/k",
]) {
  test(`keys may be at ${url}`, async () => {
    assert.deepEqual((await load(withJwt({ jwks: url }))).tokens?.jwks, { kind: "url", url });
  });
}

test("keys may be in a file, which is looked for from the working directory", async () => {
  const { tokens } = await load(withJwt({ jwks: "keys/jwks.json" }));
  assert.match(
    tokens?.jwks.kind === "file" ? tokens.jwks.path : "",
    /^\/.*\/holdfast-test-\w+\/keys\/jwks\.json$/,
  );
});

const { kty, crv, x, y } = jwk;
const secret = { kty: "oct", k: "c2VjcmV0", alg: "HS256" };
const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  [
    "no source of credentials",
    { auth: {} },
    /: auth names no source of credentials, so no caller could authenticate/,
  ],
  ["a source that is turned off", { auth: { keys: false } }, /: auth names no source/],
  ["an auth that is no object", { auth: true }, /: auth must be an object/],
  ["an auth that is null", { auth: null }, /: auth must be an object/],
  ["keys that are neither on nor off", { auth: { keys: "yes" } }, /: auth\.keys must be true or false\.$/],
  [
    "a misspelled source",
    { auth: { key: true } },
    /: auth\.key is not an option\. Did you mean "auth\.keys"\?/,
  ],
  [
    "a jwt that is no object",
    { auth: { jwt: "x" } },
    /: auth\.jwt must be an object with issuer, audience and jwks/,
  ],
  [
    "no issuer",
    withJwt({ issuer: undefined }),
    /: auth\.jwt\.issuer is missing\. Without it, the service would accept tokens of any issuer/,
  ],
  [
    "no audience",
    withJwt({ audience: undefined }),
    /: auth\.jwt\.audience is missing\. Without it, the service would accept tokens meant for other services/,
  ],
  [
    "no keys",
    withJwt({ jwks: undefined }),
    /: auth\.jwt\.jwks is missing\. Without it, the service could not verify any token/,
  ],
  [
    "an issuer that is empty",
    withJwt({ issuer: "" }),
    /: auth\.jwt\.issuer must be a non-empty string, not ""/,
  ],
  ["several issuers", withJwt({ issuer: ["a"] }), /: auth\.jwt\.issuer must be a non-empty string/],
  [
    "no audience in a list",
    withJwt({ audience: [] }),
    /: auth\.jwt\.audience must be a non-empty string or a list of non-empty strings/,
  ],
  [
    "a misspelled member",
    withJwt({ audiense: "a" }),
    /: auth\.jwt\.audiense is not an option\. Did you mean "audience"/,
  ],
  [
    "HMAC",
    withJwt({ algorithms: ["HS256"] }),
    /: auth\.jwt\.algorithms must be a list of some of ES256.*HMAC/,
  ],
  ["no signature at all", withJwt({ algorithms: ["none"] }), /: auth\.jwt\.algorithms must be/],
  ["no algorithms", withJwt({ algorithms: [] }), /: auth\.jwt\.algorithms must be/],
  [
    "keys over a network in the clear",
    withJwt({ jwks: "http://id.example.org/jwks" }),
    /: auth\.jwt\.jwks must be an https URL/,
  ],
  [
    "keys over something else",
    withJwt({ jwks: "ftp://127.0.0.1/jwks" }),
    /: auth\.jwt\.jwks must be an https URL/,
  ],
  [
    "an address with a password",
    withJwt({ jwks: "https://a:b@id.example.org/jwks" }),
    /jwks must be a URL without a user name and a password\.$/,
  ],
  ["an address that is none", withJwt({ jwks: "https://" }), /: auth\.jwt\.jwks must be an https URL/],
  ["a list of keys", withJwt({ jwks: [jwk] }), /: auth\.jwt\.jwks: it is not a JSON Web Key Set/],
  ["null for keys", withJwt({ jwks: null }), /: auth\.jwt\.jwks: it is not a JSON Web Key Set/],
  ["no key in a set", withJwt({ jwks: { keys: [] } }), /: auth\.jwt\.jwks: it has no public key/],
  ["a shared secret", withJwt({ jwks: { keys: [jwk, secret] } }), /: auth\.jwt\.jwks contains a secret key/],
  [
    "a private key",
    withJwt({ jwks: { keys: [{ kty, crv, x, y, d: x }] } }),
    /: auth\.jwt\.jwks contains a secret key/,
  ],
  [
    "a key for what is not taken",
    withJwt({ algorithms: ["RS256"] }),
    /it has no public key for signatures of RS256/,
  ],
  [
    "a type that is no truth",
    withJwt({ onlyAccessTokens: "at+jwt" }),
    /: auth\.jwt\.onlyAccessTokens must be true or false/,
  ],
];

for (const [what, content, says] of wrong) {
  test(`the program does not start with ${what}`, async () => {
    await assert.rejects(load(content), (error) => {
      assert.ok(error instanceof StartError, String(error));
      assert.match(error.message, says);
      assert.match(error.message, /^holdfast\.config\.json: [^\n]+[.?]$/);
      assert.equal(error.message.split("holdfast.config.json").length, 2, "the file is named once");
      return true;
    });
  });
}

const privateKey = "-----BEGIN PRIVATE KEY-----\ncanary";
const secrets: readonly (readonly [string, unknown])[] = [
  ["a store in an object", { store: { url: "postgres://a:canary@127.0.0.1/b" } }],
  ["stores in a list", { store: ["postgres://a:canary@127.0.0.1/b"] }],
  ["a store of an unknown scheme", { store: "postgress://a:canary@127.0.0.1/b" }],
  ["a store without a database", { store: "postgres://a:canary@127.0.0.1" }],
  ["API keys in the place of true", { auth: { keys: ["hf_canary"] } }],
  ["a token in the place of its issuer", { auth: { jwt: "canary" } }],
  ["a shared secret", { auth: { jwt: { secret: "canary" } } }],
  ["keys at an address that is none", withJwt({ jwks: "https://a:canary@b:99999999/" })],
  ["keys at an address without a scheme", withJwt({ jwks: "//a:canary@b/" })],
  ["keys at an address in the clear", withJwt({ jwks: "http://b/?key=canary" })],
  ["one private key", withJwt({ jwks: { ...jwk, d: "canary" } })],
  ["a private key in the place of its file", { tls: { cert: "server.pem", key: privateKey } }],
  ["a private key alone", { tls: privateKey }],
  ["a passphrase", { tls: { cert: "server.pem", key: "server.key", passphrase: "canary" } }],
];

for (const [what, content] of secrets) {
  test(`${what} is refused without being shown`, async () => {
    await assert.rejects(load(content), (error) => {
      assert.ok(error instanceof StartError, String(error));
      assert.doesNotMatch(error.message, /canary/);
      return true;
    });
  });
}
