/** The connection to the mail server: encrypted, to the right server, and with the password only after that. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { MailSettings, SmtpServer } from "../../../src/capabilities/users/mail/mail-settings.ts";
import { type SmtpResult, smtpSender } from "../../../src/capabilities/users/mail/smtp.ts";
import { type Certificate, makeCertificate } from "../../http/certificates.ts";
import { settingsFor, startMailServer } from "./mail-server.ts";

let certificate: Certificate;
let pair: { cert: Buffer; key: Buffer };
const trusted = getCACertificates();

before(async () => {
  certificate = await makeCertificate();
  const { files } = certificate;
  pair = { cert: await readFile(files.cert), key: await readFile(files.key) };
});
after(async () => {
  setDefaultCACertificates(trusted);
});

const never = new AbortController().signal;

function sendTo(
  port: number,
  smtp: Partial<SmtpServer>,
  more: Partial<MailSettings> = {},
): Promise<SmtpResult> {
  const settings = settingsFor(port, {
    ...more,
    smtp: { ...settingsFor(port).smtp, host: "localhost", ...smtp },
  });
  const mail = { id: "1", to: "ada@example.org", at: 0, subject: "s", text: "t", html: "" };
  return smtpSender(settings)(mail, never);
}

for (const encryption of ["tls", "starttls"] as const)
  test(`with ${encryption}, the server needs a valid certificate, and gets the password only then`, async () => {
    const server = await startMailServer({ ...pair, secure: encryption === "tls", authOptional: false });
    const smtp = { encryption, user: "shop" };
    setDefaultCACertificates(trusted);
    const refused = await sendTo(server.port, smtp, { password: "hunter2" });
    assert.equal(refused.kind, "failed");
    assert.match(JSON.stringify(refused), /CERT|SELF_SIGNED/);
    assert.deepEqual(server.signedIn, []);
    setDefaultCACertificates([...trusted, certificate.pem]);
    assert.deepEqual(await sendTo(server.port, smtp, { password: "hunter2" }), { kind: "sent" });
    assert.deepEqual(server.signedIn, ["shop:hunter2"]);
    assert.equal(server.taken[0]?.isSecure, true);
    await server.close();
  });

test("a server without encryption gets neither the password nor a mail", async () => {
  const server = await startMailServer({ allowInsecureAuth: true });
  for (const encryption of ["tls", "starttls"] as const) {
    const result = await sendTo(server.port, { encryption, user: "shop" }, { password: "hunter2" });
    assert.equal(result.kind, "failed", encryption);
  }
  assert.deepEqual([server.signedIn, server.taken], [[], []]);
  await server.close();
});

test("a server that offers no sign-in gets no mail if the configuration names a user", async () => {
  const server = await startMailServer({ disabledCommands: ["AUTH", "STARTTLS"] });
  const result = await sendTo(server.port, { user: "shop" }, { password: "hunter2" });
  assert.equal(result.kind, "failed");
  assert.deepEqual(server.taken, []);
  await server.close();
});

test("a server that answers without an end is left", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    const more = () => {
      while (!socket.destroyed && socket.write(`220-${"x".repeat(1_000)}\r\n`));
      socket.once("drain", more);
    };
    more();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const result = await sendTo((server.address() as AddressInfo).port, {});
  assert.deepEqual(result, { kind: "failed", reason: "CONN EPROTOCOL" });
  server.close();
});

test("an attempt ends when it is stopped", async () => {
  const server = createServer(() => {}); // never greets
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stopping = new AbortController();
  server.on("connection", () => stopping.abort());
  const mail = { id: "1", to: "ada@example.org", at: 0, subject: "s", text: "t", html: "" };
  const result = await smtpSender(settingsFor(port))(mail, stopping.signal);
  assert.deepEqual(result, { kind: "failed", reason: "EABORT" });
  server.close();
});
