/** Webhooks cannot reach addresses inside the network of the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AllowList,
  allowedAddressOf,
  isAllowable,
  isPublicAddress,
  NotAllowed,
} from "../../../../src/capabilities/webhooks/addresses.ts";
import { send } from "../../../../src/capabilities/webhooks/send.ts";
import { machineTime } from "../../../until.ts";
import { loopbackReceivers } from "./loopback.ts";
import { accept, startReceiver } from "./receiver.ts";

const nothing = new AllowList([]);

const notPublic = [
  ["this network", "0.0.0.0"],
  ["a private network", "10.1.2.3"],
  ["a private network", "172.16.0.1"],
  ["a private network", "192.168.1.1"],
  ["loopback", "127.0.0.1"],
  ["loopback", "127.255.255.254"],
  ["link-local (metadata of clouds)", "169.254.169.254"],
  ["carrier-grade NAT", "100.64.0.1"],
  ["protocol assignments", "192.0.0.1"],
  ["documentation", "192.0.2.1"],
  ["benchmarks", "198.18.0.1"],
  ["6to4 relays", "192.88.99.1"],
  ["multicast", "224.0.0.1"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["an IPv4-compatible address", "::127.0.0.1"],
  ["a mapped private address", "::ffff:10.0.0.1"],
  ["a mapped loopback address", "::ffff:127.0.0.1"],
  ["NAT64", "64:ff9b::a00:1"],
  ["local NAT64", "64:ff9b:1::1"],
  ["discard", "100::1"],
  ["Teredo", "2001::1"],
  ["ORCHID", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["documentation", "3fff::1"],
  ["6to4", "2002:a00:1::"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1"],
  ["unique local", "fd12:3456::1"],
  ["link-local", "fe80::1"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
] as const;

for (const [what, address] of notPublic)
  test(`${address} is not public: ${what}`, async () => {
    assert.equal(isPublicAddress(address), false);
    const literal = address.includes(":") ? `[${address}]` : address;
    const direct = allowedAddressOf(new URL(`https://${literal}/`), {
      allow: nothing,
      resolve: async () => [],
    });
    await assert.rejects(direct, NotAllowed);
    const named = allowedAddressOf(new URL("https://example.org/"), {
      allow: nothing,
      resolve: async () => ["8.8.8.8", address],
    });
    await assert.rejects(named, NotAllowed);
  });

for (const url of ["https://0x7f.1/", "https://2130706433/", "https://127.1/", "https://0177.0.0.1/"])
  test(`${url} is loopback in another form`, async () => {
    await assert.rejects(
      allowedAddressOf(new URL(url), { allow: nothing, resolve: async () => ["8.8.8.8"] }),
      NotAllowed,
    );
  });

for (const address of ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
  test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));

test("a list of allowed receivers has names, addresses and networks", async () => {
  const allow = new AllowList(["10.0.0.0/8", "fd00::/8", "hooks.internal", "192.168.7.7"]);
  const resolve = async () => ["10.9.9.9"];
  const reach = (url: string, to = resolve) => allowedAddressOf(new URL(url), { allow, resolve: to });
  assert.equal(await reach("http://any.example/"), "10.9.9.9");
  assert.equal(await reach("https://any.example/"), "10.9.9.9");
  assert.equal(await reach("http://192.168.7.7/"), "192.168.7.7");
  assert.equal(await reach("http://[fd00::1]/"), "fd00::1");
  assert.equal(await reach("http://HOOKS.internal/", async () => ["192.168.1.1"]), "192.168.1.1");
  await assert.rejects(reach("http://192.168.7.8/"), NotAllowed);
  await assert.rejects(
    reach("http://any.example/", async () => ["8.8.8.8"]),
    /only with https/,
  );
});

test("entries of the option are names, addresses and networks", () => {
  for (const good of ["localhost", "10.0.0.0/8", "::1", "fd00::/8", "a.b-c.example"])
    assert.ok(isAllowable(good));
  for (const bad of ["", "http://a", "10.0.0.0/33", "a b", "*", "a:80"]) assert.ok(!isAllowable(bad), bad);
});

test("the connection goes to the address that was checked, even if the name changes", async () => {
  const receiver = await startReceiver(accept);
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  let lookups = 0;
  const receivers = loopbackReceivers(async () => answers[lookups++] ?? []);
  const parts = { receivers, requestMs: 60_000, clock: { now: machineTime } };
  const url = receiver.url.replace("127.0.0.1", "rebinding.example");
  const delivery = { url, headers: { "webhook-id": "1" }, body: '{"id":"1"}' };
  const { signal } = new AbortController();
  assert.equal((await send(parts, delivery, signal))?.isDelivered, true);
  assert.equal((await send(parts, delivery, signal))?.isDelivered, true); // on the same connection
  assert.equal(lookups, 1);
  receivers.close();
  const second = await send(parts, delivery, signal);
  assert.deepEqual([second?.isDelivered, second?.status], [false, null]);
  assert.match(
    String(second?.error),
    /10\.0\.0\.1, an address of rebinding\.example, because it is not public/,
  );
  await receiver.close();
});

test("no proxy of the environment is used", async () => {
  const receiver = await startReceiver(accept);
  const proxy = await startReceiver(accept);
  const origin = new URL(proxy.url).origin;
  const names = ["http_proxy", "HTTP_PROXY", "NODE_USE_ENV_PROXY"] as const;
  for (const name of names) process.env[name] = name.startsWith("NODE") ? "1" : origin;
  try {
    const receivers = loopbackReceivers();
    const parts = { receivers, requestMs: 60_000, clock: { now: machineTime } };
    const delivery = { url: receiver.url, headers: { "webhook-id": "1" }, body: '{"id":"1"}' };
    assert.equal((await send(parts, delivery, new AbortController().signal))?.isDelivered, true);
    receivers.close();
  } finally {
    for (const name of names) delete process.env[name];
  }
  assert.deepEqual([receiver.received.length, proxy.received.length], [1, 0]);
  await Promise.all([receiver.close(), proxy.close()]);
});
