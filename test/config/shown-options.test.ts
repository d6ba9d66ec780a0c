/** The options that administrators see: effective values, their places, and no secrets. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { options } from "../../src/config/options.ts";
import { compileConfig, loadConfig } from "../../src/config.ts";
import { makeFolder } from "../folder.ts";

async function shownFor(content: object, outside: { flags?: object; env?: object } = {}) {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  const { flags = {}, env = {} } = outside as {
    flags?: Record<string, unknown>;
    env?: Record<string, string>;
  };
  const config = await loadConfig({ cwd, flags, env });
  return new Map(config.options.map(({ name, ...rest }) => [name, rest]));
}

test("every option is shown once, with the place of its value", async () => {
  const shown = await shownFor(
    { prefix: "/v2", limits: { page: 50 } },
    { flags: { port: "4000", readOnly: true }, env: { HOLDFAST_HOST: "127.0.0.2", HOLDFAST_PORT: "5000" } },
  );
  assert.deepEqual([...shown.keys()], Object.keys(options));
  assert.deepEqual(shown.get("prefix"), { value: "/v2", source: "file" });
  assert.deepEqual(shown.get("limits.page"), { value: 50, source: "file" });
  assert.deepEqual(shown.get("limits.batch"), { value: 100, source: "default" });
  assert.deepEqual(shown.get("port"), { value: 4000, source: "flag", from: "--port" });
  assert.deepEqual(shown.get("host"), { value: "127.0.0.2", source: "environment", from: "HOLDFAST_HOST" });
  assert.deepEqual(shown.get("readOnly"), { value: true, source: "flag", from: "--read-only" });
  assert.deepEqual(shown.get("tls"), { value: null, source: "default" });
});

test("values that depend on several options are the effective ones", async () => {
  const open = await shownFor({});
  assert.deepEqual(open.get("openCollections"), { value: true, source: "default" });
  assert.deepEqual(open.get("cors.origins"), { value: ["loopback"], source: "default" });
  const auth = { keys: true, administrators: { role: "ops" } };
  const access = { read: "public", write: { role: "editor" } };
  const closed = await shownFor({ auth, collections: { a: { access } } });
  assert.deepEqual(closed.get("openCollections"), { value: false, source: "default" });
  assert.deepEqual(closed.get("cors.origins"), { value: [], source: "default" });
  assert.deepEqual(closed.get("auth.keyRoles"), { value: ["editor"], source: "default" });
  assert.deepEqual(closed.get("auth.keys"), { value: true, source: "file" });
});

test("secrets are left out", async () => {
  const url = "https://id.example.org/keys?token=secret2";
  const jwt = { issuer: "https://id.example.org/", audience: "api", jwks: url };
  const shown = await shownFor(
    { auth: { jwt } },
    { env: { HOLDFAST_STORE: "postgres://me:secret3@db.example.org:5433/main?password=secret4" } },
  );
  assert.doesNotMatch(JSON.stringify([...shown]), /secret|"me"|me:/);
  assert.equal(shown.get("store")?.value, "postgres://db.example.org:5433/main");
  const { jwks } = (shown.get("auth.jwt")?.value ?? {}) as { jwks?: object };
  assert.deepEqual(jwks, { kind: "url", url: "https://id.example.org/keys" });
});

test("the keys of an issuer are left out", async () => {
  const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  const given = { issuer: "https://id.example.org/", audience: "api", jwks: { keys: [key] } };
  const config = await compileConfig({ auth: { jwt: given } }, ".");
  const shown = config.options.find(({ name }) => name === "auth.jwt");
  assert.equal(shown?.source, "application");
  const { jwks } = (shown?.value ?? {}) as { jwks?: object };
  assert.deepEqual(jwks, { kind: "inline" });
});
