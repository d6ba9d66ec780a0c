/**
 * The rolling restart that `docs/how-to/postgres.md` describes, with a new `history`: one instance still runs as before while the other one
 * already has the new setting, and both write.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { copyStore } from "../../src/store/core/copy/copy.ts";
import { walkAtOnce } from "../../src/store/core/walk.ts";
import { openSource, openTarget, type StoreAddress } from "../../src/store/open.ts";
import type { History } from "../../src/store/port/options.ts";
import { openCommandConnections } from "../../src/store/postgres/connection/connections.ts";
import { walkedDatabase } from "../../src/store/postgres/copy/database-contents.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { makePlace } from "../copy/places.ts";
import { makeFolder } from "../folder.ts";
import { type Request, type Service, startFor } from "../http/service.ts";
import { generator, type Random } from "../seed.ts";
import { machineTime } from "../until.ts";

type PostgresAddress = Extract<StoreAddress, { kind: "postgres" }>;

const isNew = { "if-none-match": "*" };

const idOf = (letter = "a") => `${letter.repeat(8)}-1111-4111-8111-111111111111`;

const rounds = Number(process.env.HOLDFAST_TEST_RUNS ?? 3);

const histories: Record<string, readonly [before: History, after: History]> = {
  "from no history to one": ["none", "forever"],
  "from a history to none": ["forever", "none"],
};

for (const [name, [before, after]] of Object.entries(histories))
  test(`a rolling restart ${name} while both instances write leaves a store that is not damaged`, async (t) => {
    const random = generator();
    const address = (await makePlace(t, "postgres")) as PostgresAddress;
    const old = await startFor(t, { store: address, history: before });
    await write(old, random);
    for (let round = 0; round < rounds; round++) {
      const next = await startFor(t, { store: address, history: after });
      for (let n = 0; n < 10; n++) await write(random() < 0.5 ? old : next, random);
      await next.stop();
      assert.deepEqual(await findings(address), [], `round ${round}`);
      await copy(address);
    }
  });

test("what was deleted last without history comes back with a new version, if its owner does not matter", async (t) => {
  const pair = createPair("EdDSA");
  const own = { where: { owner: "$subject" } };
  const access = { read: "authenticated", write: "authenticated" } as const;
  const settings = {
    auth: { keys: false, jwt: settingsFor([pair]) },
    collections: {
      shared: { access },
      owned: { access: { ...access, delete: own } },
      secret: { access: { ...access, read: own } },
    },
    storeOptions: { sweepMs: Number.POSITIVE_INFINITY },
    store: await makePlace(t, "postgres"),
  };
  const logging = await startFor(t, { ...settings, history: "forever" });
  const silent = await startFor(t, { ...settings, history: "none" });
  const headers = { authorization: `Bearer ${tokenOf(pair, claimsAt(machineTime(), { sub: "ada" }))}` };
  const restored = async (collection: string) => {
    const path = `/api/v1/${collection}/${idOf()}`;
    for (const service of [logging, silent]) {
      const put = {
        method: "PUT",
        path,
        headers: { ...headers, ...isNew },
        content: { id: idOf(), owner: "ada" },
      };
      const made = await service.send(put);
      assert.equal(made.status, 201, `${collection} ${service === silent} ${made.text}`);
      const removed = await service.send({ method: "DELETE", path, headers });
      assert.ok(removed.status < 300, removed.text);
    }
    const restore = { method: "POST", path: `${path}/_restore`, headers, content: { version: 1 } };
    const answer = await logging.send(restore);
    const changes = await logging.send({ path: `${path}/_changes`, headers });
    const shown = changes.status === 200 ? (changes.json as { version: number }[]) : [];
    return { status: answer.status, versions: shown.map(({ version }) => version) };
  };
  assert.deepEqual(await restored("shared"), { status: 201, versions: [5, 2, 1] });
  assert.deepEqual(await restored("owned"), { status: 404, versions: [2, 1] });
  assert.deepEqual(await restored("secret"), { status: 404, versions: [] });
});

/** Creates, replaces, deletes or restores one of three topics. */
async function write(service: Service, random: Random): Promise<void> {
  const id = idOf("abc"[Math.floor(random() * 3)]);
  const path = `/api/v1/topics/${id}`;
  const content = { id, n: random() };
  const requests: Request[] = [
    { method: "PUT", path, content, headers: isNew },
    { method: "PUT", path, content },
    { method: "DELETE", path },
    { method: "POST", path: `${path}/_restore`, content: { version: 1 } },
  ];
  const answer = await service.send(requests[Math.floor(random() * requests.length)] as Request); // a 5xx fails the test
  assert.ok([200, 201, 204, 205, 404, 412].includes(answer.status), answer.text);
}

/** What a walk through the store finds. */
async function findings(address: PostgresAddress): Promise<string[]> {
  const { connections, close } = openCommandConnections(address.url);
  const found: string[] = [];
  await walkAtOnce(walkedDatabase(connections), (text) => found.push(text));
  await close();
  return found;
}

/** Copies the store, which fails if it looks damaged. */
async function copy(address: StoreAddress): Promise<void> {
  const source = await openSource(address);
  const target = await openTarget({ kind: "sqlite", path: join(makeFolder(), "copy.db") });
  await copyStore(source, target);
  await source.close();
  await target.close();
}
