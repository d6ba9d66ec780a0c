/** URLs that try to reach a receiver on this machine although none is allowed. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startFor, startServiceForFile } from "../../../http/service.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";

// Every name is one of this machine.
const service = await startServiceForFile({
  webhooks: { allow: [] },
  webhookParts: { resolve: async () => ["127.0.0.1"] },
});
const receiver = await startReceiver();
after(() => receiver.close());

/** URLs that cannot be those of a webhook. `PORT` is the port of a receiver on this machine. */
const refused = [
  "http://localhost:PORT/",
  "https://127.0.0.1:PORT/",
  "https://127.0.0.1.:PORT/",
  "https://127.1:PORT/",
  "https://0x7f000001:PORT/",
  "https://2130706433:PORT/",
  "https://017700000001:PORT/",
  "https://0:PORT/",
  "https://[::1]:PORT/",
  "https://[::]:PORT/",
  "https://[::ffff:127.0.0.1]:PORT/",
  "https://[::ffff:7f00:1]:PORT/",
  "https://[64:ff9b::7f00:1]:PORT/",
  "https://[fe80::1%25eth0]:PORT/",
  "https://①②⑦.⓪.⓪.①:PORT/",
  "https://127。0。0。1:PORT/",
  "https://example.org@127.0.0.1:PORT/",
  "https://user:secret@example.org/",
  "https://example.org:99999/",
  "https://exa mple.org/",
  "https://example.org/#fragment",
  "//example.org/",
  "ftp://example.org/",
  "javascript:alert(1)",
  "data:text/plain,1",
];

for (const url of refused)
  test(`${url} is refused`, async () => {
    const content = { url: url.replace("PORT", portOf(receiver)), collections: ["a"] };
    const answer = await service.send({ method: "POST", path: hooks, content });
    assert.equal(answer.status, 400, answer.text);
    const { violations } = answer.json as { violations: { pointer: string }[] };
    assert.equal(violations[0]?.pointer, "#/url");
  });

/** Names are checked when the service connects. */
const notReached = [
  "https://localhost:PORT/",
  "https://localhost.:PORT/",
  "https://LOCALHOST:PORT/",
  "https://ⓛocalhost:PORT/",
  "https://127.0.0.1.example.org:PORT/",
  "https://xn--lcalhost-54a.example:PORT/",
  "https:\\\\localhost:PORT\\",
  "https:localhost:PORT",
  "https:///localhost:PORT/",
];

for (const url of notReached)
  test(`${url} is not reached`, async () => {
    const content = { url: url.replace("PORT", portOf(receiver)), collections: ["a"] };
    const made = await service.send({ method: "POST", path: hooks, content });
    assert.equal(made.status, 201, made.text);
    const path = `${hooks}/${(made.json as { id: string }).id}`;
    const tested = await service.send({ method: "POST", path: `${path}/_test` });
    const { delivered, error } = tested.json as { delivered: boolean; error: string };
    assert.equal(delivered, false);
    assert.match(
      error,
      /^The service does not connect to 127\.0\.0\.1, an address of .*, because it is not public\./,
    );
    await service.send({ method: "DELETE", path });
    assert.equal(receiver.connections(), 0);
  });

test("a name in the list of allowed receivers is that name only", async (t) => {
  const own = await startFor(t, {
    webhooks: { allow: ["localhost"] },
    webhookParts: { resolve: async () => ["127.0.0.1"] },
  });
  for (const [host, isReached] of [
    ["localhost", true],
    ["localhost.", false],
    ["a.localhost", false],
    ["localhost.example.org", false],
  ] as const) {
    const scheme = isReached ? "http" : "https";
    const content = { url: `${scheme}://${host}:${portOf(receiver)}/`, collections: ["a"] };
    const made = await own.send({ method: "POST", path: hooks, content });
    const path = `${hooks}/${(made.json as { id: string }).id}/_test`;
    const tested = await own.send({ method: "POST", path });
    assert.equal((tested.json as { delivered: boolean }).delivered, isReached, host);
  }
});

function portOf({ url }: Receiver): string {
  return new URL(url).port;
}
