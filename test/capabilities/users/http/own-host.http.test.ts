/** Where people sign in to a local service, a proxy that was forgotten in the configuration shows at once. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { userSettings } from "../../../../src/capabilities/users/user-options.ts";
import { type Config, compileConfig } from "../../../../src/config.ts";
import { StartError } from "../../../../src/errors.ts";
import { newSecret, readSecrets } from "../../../../src/secrets.ts";
import { openService } from "../../../../src/server/open-service.ts";
import { makeFolder } from "../../../folder.ts";
import { startFor } from "../../../http/service.ts";

const users = userSettings({ collection: "users" });
const collections = { users: { access: { read: "public" } } } as const;

test("a local service where people sign in answers for loopback names only", async (t) => {
  const service = await startFor(t, { collections, auth: { keys: false, jwt: undefined, users } });
  const statusFor = async (host: string) =>
    (await service.send({ path: "/api/v1/users", headers: { host } })).status;
  for (const host of ["localhost", `127.0.0.1:${service.port}`, "[::1]", "LOCALHOST:1"])
    assert.equal(await statusFor(host), 200, host);
  const refused = await service.send({ path: "/api/v1/users", headers: { host: "shop.example" } });
  assert.equal(refused.status, 421);
  assert.match(refused.text, /\\"shop\.example\\".*configure publicUrl/);
});

test("with other credentials alone, a service answers for every name", async (t) => {
  const service = await startFor(t, { collections, auth: { keys: true, jwt: undefined } });
  const { status } = await service.send({ path: "/api/v1/users", headers: { host: "shop.example" } });
  assert.equal(status, 200);
});

test("a service knows its address, its vault survives a restart, and a wrong secret stops the start", async () => {
  const folder = makeFolder();
  const content = {
    collections,
    publicUrl: "https://shop.example",
    mail: { from: "shop@shop.example", smtp: "smtp://localhost:1025" },
    auth: { users: { collection: "users" } },
  };
  const [one, two] = [newSecret(), newSecret()];
  const open = async (secret: string | undefined) => {
    const config: Config = await compileConfig(
      { ...content, store: `sqlite:${join(folder, "store.db")}` },
      folder,
    );
    return openService({ ...config, secrets: secret === undefined ? [] : readSecrets(secret) });
  };
  await assert.rejects(
    open(undefined),
    (error) => error instanceof StartError && /is missing/.test(error.message),
  );
  const first = await open(one);
  assert.equal(first.service.publicUrl, "https://shop.example");
  await first.close();
  await assert.rejects(open(two), (error) => error instanceof StartError && /is wrong/.test(error.message));
  const again = await open(one);
  await again.close();
});
