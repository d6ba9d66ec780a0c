/** A configuration can be made again in another thread, from plain data. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig, originOf, remakeConfig } from "../../src/config.ts";
import { makeFolder } from "../folder.ts";

async function load(
  content: string,
  { flags = {}, env = {} }: { flags?: Record<string, unknown>; env?: Record<string, string> } = {},
) {
  const cwd = makeFolder();
  const file = join(cwd, "holdfast.config.ts");
  await writeFile(file, content);
  return { config: await loadConfig({ cwd, flags, env }), file };
}

const whole = `
globalThis.timesRead = (globalThis.timesRead ?? 0) + 1;
export default {
  store: "sqlite:shop.db",
  auth: { keys: true, administrators: { role: "ops" }, jwt: { issuer: "https://id.example.org/", audience: "api", jwks: "https://id.example.org/keys" } },
  history: { keepDays: 3, showPrincipal: true },
  metrics: "administrators",
  tls: { cert: "server.pem", key: "server.key" },
  limits: { body: "2mb", rate: { requests: 5, perSeconds: 1 } },
  collections: {
    users: { schema: { type: "object", properties: { mail: { type: "string", maxLength: 99 } } }, unique: ["mail"] },
    articles: {
      id: "integer",
      schema: { type: "object", properties: { title: { type: "string", maxLength: 5 }, author: { type: "string" }, owner: { type: "string" }, notes: { type: "string" } } },
      references: { author: "users" },
      defaults: { owner: "$subject" },
      timestamps: true,
      attributes: { notes: { roles: ["editor"] } },
      access: { read: "public", write: { role: "editor", where: { owner: "$subject" } } },
    },
  },
};`;

/** Everything in a configuration but functions, of which each configuration has its own. */
function shape(value: unknown): unknown {
  if (typeof value === "function") return "function";
  if (value instanceof Map) return ["Map", ...[...value].map(shape)];
  if (value instanceof Set) return ["Set", ...[...value].map(shape)];
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shape(inner)]));
}

test("the configuration that another thread makes is the same, with flags and variables", async () => {
  const { config, file } = await load(whole, {
    flags: { port: "1234", insecure: true, readOnly: true, accept: true },
    env: { HOLDFAST_HOST: "0.0.0.0", HOLDFAST_THREADS: "3", HOLDFAST_TOKEN: "hf_secret" },
  });
  const origin = structuredClone(originOf(config));
  await writeFile(file, "export default { nothing: 1 };"); // it may change after it was read
  const remade = await remakeConfig(origin);
  assert.deepEqual(shape(remade), shape(config));
  assert.deepEqual([remade.port, remade.threads, remade.insecure, remade.accept], [1234, 3, true, true]);
  assert.equal(remade.collections.get("articles")?.idKind, "integer");
  assert.equal((globalThis as { timesRead?: number }).timesRead, 1);
});

test("the credential of commands is not part of it", async () => {
  const { config } = await load("export default {};", { env: { HOLDFAST_TOKEN: "hf_secret" } });
  assert.doesNotMatch(JSON.stringify(originOf(config)), /hf_secret/);
});

test("a function is a fault wherever it is, because threads could not get it", async () => {
  const jwks =
    '{ keys: [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", note: () => 1 }] }';
  await assert.rejects(
    load(`export default { auth: { jwt: { issuer: "https://a.example/", audience: "b", jwks: ${jwks} } } };`),
    /auth\.jwt\.jwks\.keys\.0\.note is a function, which is not a JSON value/,
  );
});
