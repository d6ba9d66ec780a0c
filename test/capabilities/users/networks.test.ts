import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf, shownNetwork } from "../../../src/access/networks.ts";

for (const [ip, network, shown] of [
  ["192.0.2.7", "192.0.2.7", "192.0.2.0/24"],
  ["192.0.2.7:443", "192.0.2.7", "192.0.2.0/24"],
  ["::ffff:192.0.2.7", "192.0.2.7", "192.0.2.0/24"],
  ["::ffff:c000:207", "192.0.2.7", "192.0.2.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:DB8::1", "2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0:0::/48"],
  ["example.org", "unknown", "unknown"],
  ["", "unknown", "unknown"],
  [undefined, "unknown", "unknown"],
] as const)
  test(`${ip} is in the network ${network}, which users see as ${shown}`, () => {
    assert.equal(networkOf(ip), network);
    assert.equal(shownNetwork(ip), shown);
  });
