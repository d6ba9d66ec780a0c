/** Streams of callers whose credential ends: nothing is sent on a check that is a second old, and the stream ends. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { machineTime, until } from "../until.ts";
import { follow, type OpenStream } from "./follow.ts";
import { type Service, startFor } from "./service.ts";
import { watchLogReads } from "./store-spy.ts";
import { makeWorkerKey } from "./worker-key.ts";

const pair = createPair("EdDSA");
const hour = 3_600;
const path = "/api/v1/notes/_events";

/** A service whose clocks only the test moves on, and which sends no heartbeats. */
async function start(t: TestContext) {
  let aheadMs = 0;
  let elapsedMs = 0;
  const service = await startFor(t, {
    auth: { keys: true, jwt: settingsFor([pair]) },
    now: () => machineTime() + aheadMs,
    elapsed: () => elapsedMs,
    heartbeatMs: 600_000,
    collections: { notes: { access: { read: "authenticated", write: "public" } } },
  });
  const token = tokenOf(
    pair,
    claimsAt(machineTime(), { sub: "ada", exp: Math.floor(machineTime() / 1_000) + hour }),
  );
  return {
    service,
    bearer: { authorization: `Bearer ${token}` },
    /** The token expires. */
    expire: () => {
      aheadMs = 2_000 * hour;
    },
    /** What was checked gets older. */
    pass: (ms: number) => {
      elapsedMs += ms;
    },
  };
}

async function open(t: TestContext, service: Service, headers: Record<string, string>): Promise<OpenStream> {
  const stream = await follow(service, path, headers);
  t.after(() => stream.close());
  await until("the first frame has come", () => stream.frames().length > 0);
  return stream;
}

/** Anyone can write, but not read what they wrote. */
async function write(service: Service, content: object): Promise<void> {
  const { status, text } = await service.send({ method: "POST", path: "/api/v1/notes", content });
  assert.equal(status, 201, text);
}

test("a stream without events ends soon after its token has expired, or its key was revoked", async (t) => {
  const { service, bearer, expire, pass } = await start(t);
  const key = await makeWorkerKey(t, service);
  const [byToken, byKey] = [await open(t, service, bearer), await open(t, service, key.bearer)];
  await key.revoke();
  pass(1_000);
  await byKey.untilEnded();
  assert.equal(byToken.hasEnded(), false);
  expire();
  pass(1_000);
  await byToken.untilEnded();
  for (const stream of [byToken, byKey]) assert.equal(stream.frames().length, 1);
});

test("an event that is written a second after the key was revoked is not sent", async (t) => {
  const { service, pass } = await start(t);
  const key = await makeWorkerKey(t, service);
  const ask = () => service.send({ path, headers: key.bearer });
  assert.equal((await ask()).status, 200, "from now on, the service has the key in its cache");
  await key.revoke();
  pass(899); // the service still trusts its cache
  const stream = await open(t, service, key.bearer);
  await write(service, { at: 899 });
  await stream.take(1);
  pass(100); // and its last check
  await write(service, { at: 999 });
  pass(1);
  await write(service, { at: 1_000 });
  await stream.untilEnded();
  assert.ok(
    stream.events().every(({ data }) => Number(data.at) < 1_000),
    stream.text(),
  );
});

test("a token that expires while the log is read gets no event of this read", async (t) => {
  const { service, bearer, expire, pass } = await start(t);
  const reads = watchLogReads(t);
  const stream = await open(t, service, bearer);
  await write(service, { n: 1 });
  await stream.take(1);
  const slow = Promise.withResolvers<void>();
  let isReading = false;
  reads.before = () => {
    isReading = true;
    return slow.promise;
  };
  await write(service, { n: 2 });
  await until("the stream reads the event", () => isReading);
  expire();
  pass(1_000);
  slow.resolve();
  await stream.untilEnded();
  assert.deepEqual(
    stream.events().map(({ data }) => data.n),
    [1],
  );
});
