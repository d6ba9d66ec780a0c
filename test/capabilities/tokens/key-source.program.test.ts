/** Where keys come from, and what becomes of tokens when they do not come. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { JwksPlace } from "../../../src/capabilities/tokens/settings.ts";
import { Tokens } from "../../../src/capabilities/tokens/tokens.ts";
import { StartError } from "../../../src/errors.ts";
import { refuses } from "../../access/check.ts";
import {
  claimsAt,
  createPair,
  type KeyServer,
  keySetText,
  type Pair,
  serveKeys,
  settingsFor,
  tokenOf,
} from "../../access/issuer.ts";
import { makeFolder } from "../../folder.ts";
import { ceilingMs, until } from "../../until.ts";

const now = Date.UTC(2026, 10, 21, 9);
const [old, young] = [createPair("ES256", "old"), createPair("ES256", "young")];
const minute = 60_000;

interface Opened {
  tokens: Tokens;
  /** Lets time go by. */
  wait(ms: number): void;
  warnings: string[];
  subjectOf(pair: Pair, more?: object): Promise<string>;
}

async function open(jwks: JwksPlace): Promise<Opened> {
  let elapsed = 0;
  const warnings: string[] = [];
  const tokens = await Tokens.open({
    settings: settingsFor(jwks),
    now: () => now,
    elapsed: () => elapsed,
    warn: (message) => warnings.push(message),
  });
  return {
    tokens,
    warnings,
    wait: (ms) => {
      elapsed += ms;
    },
    subjectOf: async (pair, header = {}) =>
      (await tokens.principalOf(tokenOf(pair, claimsAt(now), { ...header }))).subject,
  };
}

async function serve(t: TestContext, pairs: readonly Pair[] = [old]): Promise<KeyServer> {
  const server = await serveKeys(pairs);
  t.after(() => server.stop());
  return server;
}

const openUrl = (server: KeyServer) => open({ kind: "url", url: server.url });

test("keys are fetched once for many tokens", async (t) => {
  const server = await serve(t);
  const { subjectOf } = await openUrl(server);
  const subjects = await Promise.all(Array.from({ length: 50 }, (_, n) => subjectOf(old, { n })));
  assert.deepEqual(new Set(subjects), new Set(["kim"]));
  assert.equal(server.asked(), 1);
});

test("a new key of the issuer is fetched when a token names it", async (t) => {
  const server = await serve(t);
  const { subjectOf, wait } = await openUrl(server);
  assert.equal(await subjectOf(old), "kim");
  server.answer.body = keySetText([old, young]);
  wait(31_000);
  assert.equal(await subjectOf(young), "kim");
  assert.equal(await subjectOf(old), "kim");
  assert.equal(server.asked(), 2);
});

test("a flood of unknown keys makes one fetch in thirty seconds", async (t) => {
  const server = await serve(t);
  const { subjectOf, wait } = await openUrl(server);
  await subjectOf(old);
  for (let round = 1; round <= 3; round++) {
    wait(30_000);
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        refuses("INVALID_TOKEN", () => subjectOf(young, { kid: `${n}` })),
      ),
    );
    for (let n = 0; n < 20; n++) await refuses("INVALID_TOKEN", () => subjectOf(young, { kid: `${n}` }));
    assert.equal(server.asked(), 1 + round);
  }
});

test("a key that the issuer has withdrawn is out of use ten minutes later, for known tokens too", async (t) => {
  const server = await serve(t, [old, young]);
  const { tokens, wait, subjectOf } = await openUrl(server);
  const known = tokenOf(old, claimsAt(now));
  assert.equal((await tokens.principalOf(known)).subject, "kim");
  server.answer.body = keySetText([young]);
  wait(9 * minute);
  assert.equal(tokens.known(known)?.subject, "kim");
  wait(2 * minute);
  assert.equal(tokens.known(known)?.subject, "kim"); // the last one, behind which the keys are fetched
  await until("the key is out of use", () => server.asked() === 2 && tokens.known(known) === undefined);
  await refuses("INVALID_TOKEN", () => tokens.principalOf(known), /signed with an unknown key/);
  assert.equal(await subjectOf(young), "kim");
});

test("known keys go on while the issuer is down, for an hour, and then the answer is 503 and not 401", async (t) => {
  const server = await serve(t);
  const { subjectOf, wait, warnings } = await openUrl(server);
  assert.equal(await subjectOf(old), "kim");
  server.answer = { status: 503, body: "down" };
  wait(11 * minute);
  assert.equal(await subjectOf(old), "kim");
  await until("the keys are fetched", () => warnings.length === 1);
  assert.match(
    warnings[0] ?? "",
    /the keys of https:\/\/id\.example\.org\/ cannot be read: http:.* status 503/,
  );
  wait(58 * minute);
  assert.equal(await subjectOf(old), "kim");
  await until("the keys are fetched", () => warnings.length === 2);
  wait(2 * minute);
  await refuses("UNAVAILABLE", () => subjectOf(old), /keys to verify tokens are not available/);
  await refuses("UNAVAILABLE", () => subjectOf(old));
  assert.equal(server.asked(), 4, "and the issuer is left alone meanwhile");
  server.answer = { status: 200, body: keySetText([old]) };
  wait(minute);
  assert.equal(await subjectOf(old), "kim");
});

test("an issuer that is down when the service starts is asked again, half a minute later at the soonest", async (t) => {
  const server = await serve(t);
  server.answer = { status: 500, body: "" };
  const { subjectOf, wait, warnings } = await openUrl(server);
  for (let n = 0; n < 20; n++) await refuses("UNAVAILABLE", () => subjectOf(old));
  assert.deepEqual([server.asked(), warnings.length], [1, 1]);
  server.answer = { status: 200, body: keySetText([old]) };
  wait(30_000);
  assert.equal(await subjectOf(old), "kim");
});

const wrong: Record<string, KeyServer["answer"]> = {
  "more than a mebibyte": { status: 200, body: `${keySetText([old, young])}${" ".repeat(1_048_576)}` },
  "what is not JSON": { status: 200, body: "<html>" },
  "what is no key set": { status: 200, body: "[]" },
  "a key set without keys": { status: 200, body: '{"keys":[]}' },
  "bytes that are not UTF-8": { status: 200, body: Buffer.from([0xff, 0xfe, 0x7b]) },
  "only secrets": { status: 200, body: '{"keys":[{"kty":"oct","kid":"old","alg":"HS256","k":"c2VjcmV0"}]}' },
};

for (const [what, answer] of Object.entries(wrong)) {
  test(`${what} from the issuer changes nothing, and is told to the log`, async (t) => {
    const server = await serve(t);
    const { subjectOf, wait, warnings } = await openUrl(server);
    assert.equal(await subjectOf(old), "kim");
    server.answer = answer;
    wait(31_000);
    await refuses("INVALID_TOKEN", () => subjectOf(young));
    assert.equal(warnings.length, 1);
    assert.equal(await subjectOf(old), "kim");
  });
}

test("keys are not looked for where the issuer's address leads on to", async (t) => {
  const [server, elsewhere] = [await serve(t), await serve(t, [old, young])];
  const { subjectOf, wait, warnings } = await openUrl(server);
  assert.equal(await subjectOf(old), "kim");
  server.answer = { status: 302, body: "", headers: { location: elsewhere.url } };
  wait(31_000);
  await refuses("INVALID_TOKEN", () => subjectOf(young));
  assert.deepEqual([elsewhere.asked(), warnings.length], [0, 1]);
});

test("the service waits five seconds for an issuer that never answers", { timeout: ceilingMs }, async (t) => {
  const server = await serve(t);
  server.answer.isMissing = true;
  const { subjectOf, warnings } = await openUrl(server);
  await refuses("UNAVAILABLE", () => subjectOf(old));
  assert.match(warnings[0] ?? "", /does not respond/);
});

test("an issuer that stops in the middle of its answer is told of, without the query of its address", async (t) => {
  const server = await serve(t);
  server.answer = { status: 200, body: "{", headers: { "content-length": "100" }, isCut: true };
  const { subjectOf, warnings } = await open({ kind: "url", url: `${server.url}?key=canary` });
  await refuses("UNAVAILABLE", () => subjectOf(old));
  assert.match(
    warnings[0] ?? "",
    /cannot be read: http:\/\/[\d.:]+\/jwks\.json cannot be read completely \([^)]+\)$/,
  );
  server.answer = { status: 500, body: "" };
  assert.match((await statusWarning(server.url)) ?? "", /jwks\.json responded with status 500$/);
});

/** The messages about an address with a query string. */
async function statusWarning(url: string): Promise<string | undefined> {
  const { subjectOf, warnings } = await open({ kind: "url", url: `${url}?key=canary#canary` });
  await refuses("UNAVAILABLE", () => subjectOf(old));
  return warnings[0];
}

const inline = (...keys: object[]): JwksPlace => ({ kind: "inline", jwks: { keys } });

test("keys that are for something else are left out", async () => {
  const { d: _, ...publicOnly } = old.jwk;
  const off = { ...young.jwk, x: "A".repeat(43), kid: "off" };
  const others = [{ ...young.jwk, use: "enc" }, { ...young.jwk, key_ops: ["encrypt"] }, off, null, 7];
  const { subjectOf } = await open(inline(...(others as object[]), publicOnly));
  assert.equal(await subjectOf(old), "kim");
  await refuses("INVALID_TOKEN", () => subjectOf(young));
});

test("an RSA key of less than 2,048 bits is no key", async () => {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
  await assert.rejects(open(inline(publicKey.export({ format: "jwk" }))), /it has no public key/);
});

test("an RSA key that does not say what it is for is for RS256 alone", async () => {
  const pair = createPair("RS256");
  const { alg: _, ...silent } = pair.jwk;
  const { subjectOf } = await open(inline(silent));
  assert.equal(await subjectOf(pair), "kim");
  await refuses("INVALID_TOKEN", () => subjectOf({ ...pair, alg: "PS256" }));
  await refuses("INVALID_TOKEN", () => subjectOf({ ...pair, alg: "RS384" }));
});

test("a file of keys is read at the start, and again when a token names a key that is not in it", async () => {
  const folder = makeFolder();
  const path = join(folder, "jwks.json");
  await assert.rejects(open({ kind: "file", path }), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(
      error.message,
      /^auth\.jwt\.jwks: \/.*jwks\.json cannot be read: no such file or directory\.$/,
    );
    return true;
  });
  await writeFile(path, keySetText([old]));
  const { subjectOf, wait } = await open({ kind: "file", path });
  assert.equal(await subjectOf(old), "kim");
  await writeFile(path, keySetText([young]));
  wait(31_000);
  assert.equal(await subjectOf(young), "kim");
  const secret = { kty: "oct", k: "c2VjcmV0" };
  await writeFile(path, JSON.stringify({ keys: [old.jwk, secret] }));
  await assert.rejects(open({ kind: "file", path }), /it contains a secret key; keep only the public keys/);
});

test("a key that takes the place of another under its name is noticed with the first token signed by it", async (t) => {
  const [one, two] = [createPair("ES256", "same"), createPair("ES256", "same")];
  const server = await serve(t, [one]);
  const { subjectOf, wait } = await openUrl(server);
  assert.equal(await subjectOf(one), "kim");
  server.answer.body = keySetText([two]);
  wait(minute);
  for (const header of [{}, { kid: undefined }]) assert.equal(await subjectOf(two, header), "kim");
  const asked = server.asked();
  for (let n = 0; n < 5; n++) await refuses("INVALID_TOKEN", () => subjectOf(one), /signature/);
  assert.equal(server.asked(), asked, "signatures that are wrong must not make us ask over and over");
});
