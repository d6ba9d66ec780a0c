/** The paths that describe and administer a service, by the typed client. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, NotFoundError, ProblemError } from "../../client/src/index.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { startFor, startServiceForFile } from "../http/service.ts";
import { machineTime } from "../until.ts";
import { config } from "./config.ts";

const service = await startServiceForFile({ collections: config.collections, openCollections: true });
const client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });

test("all collections are described, whatever the number of pages", async () => {
  for (let n = 0; n < 101; n++) await service.create(`c${String(n).padStart(3, "0")}`, { n });
  const all = await client.$collectionDetails();
  assert.deepEqual(
    all.map(({ name }) => name),
    (await client.$collections()).map(({ name }) => name),
  );
  const articles = all.find(({ name }) => name === "articles");
  assert.deepEqual(articles?.operations, ["list", "read", "create", "update", "delete"]);
});

test("a question about access is answered", async () => {
  const answer = await client.$access({
    collection: "articles",
    operation: "update",
    as: { roles: ["editor"] },
  });
  assert.deepEqual([answer.allowed, answer.resources, answer.checks?.length], [true, "all", 1]);
  assert.equal(
    (await client.$access({ collection: "articles", operation: "read", id: "none" })).exists,
    false,
  );
});

test("keys are created, used, rotated and revoked", async (t) => {
  const pair = createPair("EdDSA");
  const auth = {
    keys: true,
    jwt: settingsFor([pair]),
    administrators: [{ role: "ops" }],
    keyRoles: ["editor"],
  };
  const own = await startFor(t, { auth, collections: config.collections });
  const baseUrl = `${own.origin}/api/v1`;
  const token = tokenOf(pair, claimsAt(machineTime(), { sub: "olga", roles: ["ops"] }));
  const { $keys } = createClient<typeof config>({ baseUrl, token });
  const { key, ...made } = await $keys.create({ name: "site", roles: ["editor"], scopes: ["articles:read"] });
  assert.deepEqual(await $keys.list(), [made]);
  assert.deepEqual(await createClient<typeof config>({ baseUrl, token: key }).articles.list().all(), []);
  await assert.rejects($keys.create({ name: "site" }), { code: "KEY_UNAVAILABLE" });
  await assert.rejects($keys.create({ name: "boss", roles: ["ops"] }), ProblemError);
  const next = await $keys.rotate(made.prefix, { overlapSeconds: 0 });
  assert.equal((await $keys.get(made.prefix)).valid, false);
  assert.equal((await $keys.revoke(next.prefix)).valid, false);
  await assert.rejects($keys.revoke("hf_00000000"), NotFoundError);
  await assert.rejects(createClient({ baseUrl }).$keys.list(), NotFoundError);
});
