/** Deliveries over https: the certificate of the receiver is checked against its name. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { send } from "../../../../src/capabilities/webhooks/send.ts";
import { makeCertificate } from "../../../http/certificates.ts";
import { machineTime } from "../../../until.ts";
import { loopbackReceivers } from "./loopback.ts";

test("a receiver with https needs a valid certificate for its name", async () => {
  const certificate = await makeCertificate();
  const [cert, key] = await Promise.all([readFile(certificate.files.cert), readFile(certificate.files.key)]);
  const names: (string | false | null)[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    names.push((request.socket as import("node:tls").TLSSocket).servername ?? null);
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const receivers = loopbackReceivers();
  const parts = { receivers, requestMs: 60_000, clock: { now: machineTime } };
  const to = (host: string) =>
    send(parts, { url: `https://${host}:${port}/`, headers: {}, body: "{}" }, new AbortController().signal);
  const trusted = getCACertificates();
  assert.match(String((await to("localhost"))?.error), /SELF_SIGNED/);
  setDefaultCACertificates([...trusted, certificate.pem]);
  try {
    assert.equal((await to("localhost"))?.status, 204);
    assert.deepEqual(names, ["localhost"]);
    assert.match(String((await to("other.example"))?.error), /ALTNAME/);
  } finally {
    setDefaultCACertificates(trusted);
  }
  server.closeAllConnections();
  server.close();
});
