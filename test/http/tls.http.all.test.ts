/** Encryption by the service itself, over real sockets. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, copyFile, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { before, describe, type TestContext, test } from "node:test";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { machineTime } from "../until.ts";
import { type Certificate, makeCertificate } from "./certificates.ts";
import { Connection, openConnection, parseAnswers } from "./connection.ts";
import { type Service, startFor, startService } from "./service.ts";

let first: Certificate;
let second: Certificate;
before(async () => {
  [first, second] = await Promise.all([makeCertificate(), makeCertificate()]);
});

const get = (path: string, fields = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;

/** A copy of the files that a test may change. */
async function filesOf({ files }: Certificate) {
  const copy = await makeCertificate();
  await replace(copy.files, files);
  return copy.files;
}

async function replace(files: Certificate["files"], by: Certificate["files"]): Promise<void> {
  await copyFile(by.cert, files.cert);
  await copyFile(by.key, files.key);
}

/** A connection whose client trusts this certificate alone. */
function connect(
  t: TestContext,
  { port }: Service,
  { pem }: Certificate,
): Promise<Connection & { raw: TLSSocket }> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host: "127.0.0.1",
      port,
      servername: "localhost",
      ca: pem,
      ALPNProtocols: ["h2", "http/1.1"],
    });
    t.after(() => socket.destroy());
    socket.once("error", reject);
    socket.once("secureConnect", () => resolve(Object.assign(new Connection(socket), { raw: socket })));
  });
}

describe("a service with a certificate", () => {
  test("encrypts, speaks HTTP/1.1, and has browsers come back encrypted", async (t) => {
    const service = await startFor(t, { tls: first.files });
    assert.match(service.origin, /^https:\/\/127\.0\.0\.1:\d+$/);
    const connection = await connect(t, service, first);
    assert.equal(connection.raw.alpnProtocol, "http/1.1");
    connection.write(get("/api/v1/topics") + get("/nowhere"));
    for (const status of [200, 404]) {
      const answer = await connection.answer();
      assert.equal(answer.status, status);
      assert.equal(answer.headers["strict-transport-security"], "max-age=31536000");
    }
  });

  test("serves what comes behind a request with Upgrade", async (t) => {
    const service = await startFor(t, { tls: first.files });
    const connection = await connect(t, service, first);
    for (let n = 0; n < 3; n++) {
      connection.write(get("/livez", "Connection: Upgrade\r\nUpgrade: h2c\r\n") + get("/api/v1/topics"));
      assert.equal((await connection.answer()).status, 200);
      assert.equal((await connection.answer()).status, 200);
    }
  });

  test("answers nothing to a client that does not encrypt", async (t) => {
    const service = await startFor(t, { tls: first.files });
    const plain = await openConnection(service.port);
    plain.write(get("/api/v1/topics"));
    assert.doesNotMatch(await plain.untilClosed(), /HTTP/);
  });

  test("lets go of a connection on which no handshake comes", async (t) => {
    const service = await startFor(t, { tls: first.files, limits: { headersTimeoutMs: 500 } });
    const silent = await openConnection(service.port);
    await silent.untilClosed();
  });

  test("refuses what is malformed, encrypted", async (t) => {
    const service = await startFor(t, { tls: first.files });
    const connection = await connect(t, service, first);
    connection.write("nonsense\r\n\r\n");
    const { status, headers } = await connection.answer();
    assert.deepEqual([status, headers["strict-transport-security"]], [400, "max-age=31536000"]);
    await connection.untilClosed();
  });
});

describe("a certificate that is read again", () => {
  test("is that of new connections, and old ones live on", async (t) => {
    const files = await filesOf(first);
    const service = await startFor(t, { tls: files });
    const old = await connect(t, service, first);
    await replace(files, second.files);
    await assert.rejects(connect(t, service, second), "nothing was read yet");
    await service.reloadTls();
    const fresh = await connect(t, service, second);
    for (const connection of [old, fresh]) {
      connection.write(get("/livez"));
      assert.equal((await connection.answer()).status, 200);
    }
    await assert.rejects(connect(t, service, first));
  });

  for (const [what, spoil] of [
    ["is no certificate", (files) => writeFile(files.cert, "broken")],
    ["has a broken one behind it", (files) => appendFile(files.cert, second.pem.slice(0, 200))],
    ["is half of one", async (files) => writeFile(files.cert, second.pem.slice(0, 200))],
    ["belongs to another key", (files) => copyFile(second.files.cert, files.cert)],
  ] as [string, (files: Certificate["files"]) => Promise<void>][])
    test(`but ${what} leaves the one before in place`, async (t) => {
      const files = await filesOf(first);
      const service = await startFor(t, { tls: files });
      await spoil(files);
      await service.reloadTls();
      const connection = await connect(t, service, first);
      connection.write(get("/livez"));
      assert.equal((await connection.answer()).status, 200);
      await replace(files, second.files);
      await service.reloadTls();
      await connect(t, service, second);
    });
});

test("of two readings of the certificate under way the later one counts", async (t) => {
  const files = await filesOf(first);
  const service = await startFor(t, { tls: files });
  const key = await readFile(files.key);
  await rm(files.key);
  await promisify(execFile)("mkfifo", [files.key]);
  const early = service.reloadTls();
  const pipe = await open(files.key, "w"); // waits until the early one is about to read the key
  await rename(files.key, `${files.key}.old`);
  await replace(files, second.files);
  const late = service.reloadTls();
  await pipe.writeFile(key);
  await pipe.close();
  await Promise.all([early, late]);
  await connect(t, service, second);
});

describe("a service does not start with", () => {
  const cases: [what: string, files: () => Partial<Certificate["files"]>, says: RegExp][] = [
    [
      "a certificate that is not there",
      () => ({ cert: "/nowhere.pem" }),
      /^tls\.cert: \/nowhere\.pem cannot be read: no such file or directory\.$/,
    ],
    [
      "a key that is a folder",
      () => ({ key: first.folder }),
      /^tls\.key: \S+ cannot be read: illegal operation on a directory\.$/,
    ],
    [
      "a key in the place of the certificate",
      () => ({ cert: first.files.key }),
      /^tls\.cert: \S+ is not a certificate in PEM form\.$/,
    ],
    [
      "a certificate in the place of the key",
      () => ({ key: first.files.cert }),
      /^tls\.key: \S+ is not a private key in PEM form without a passphrase\.$/,
    ],
    [
      "the key of another certificate",
      () => ({ key: second.files.key }),
      /^tls: the key in \S+ does not belong to the certificate in \S+\.$/,
    ],
  ];
  test("a certificate with a broken one behind it", async () => {
    const files = await filesOf(first);
    await appendFile(files.cert, second.pem.slice(0, 200));
    const message = /^tls: \S+ and \S+ cannot be used for TLS \(bad end line\)\.$/;
    await assert.rejects(startService({ tls: files }), { name: "StartError", message });
  });

  for (const [what, files, says] of cases)
    test(what, async () => {
      const starting = startService({ tls: { ...first.files, ...files() } });
      await assert.rejects(starting, { name: "StartError", message: says });
    });

  test("a certificate that has expired, or is not valid yet", async () => {
    const day = 86_400_000;
    const at = (now: number) => startService({ tls: first.files, now: () => now });
    await assert.rejects(at(machineTime() + 3 * day), {
      message: /^tls\.cert: the certificate in \S+ expired at \w/,
    });
    await assert.rejects(at(machineTime() - day), {
      message: /^tls\.cert: the certificate in \S+ is not valid before \w/,
    });
  });
});

test("the request line is checked, CONNECT is a 405, and a client can close its sending side, also with encryption", async (t) => {
  const service = await startFor(t, { tls: first.files });
  const head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n";
  for (const [bytes, statuses, ends] of [
    ["GET  /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", [400], false],
    ["GET /livez RTSP/1.0\r\nHost: localhost\r\n\r\n", [400], false],
    ["CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", [405], false],
    [`POST /api/v1/ended HTTP/1.1\r\n${head}{"n":1}${get("/api/v1/ended")}`, [201, 200], true],
    [`${get("/livez")}POST /api/v1/ended HTTP/1.1\r\n${head}{"n":`, [200, 400], true],
  ] as const) {
    const connection = await connect(t, service, first);
    connection.write(bytes);
    if (ends) connection.end();
    const answers = parseAnswers(await connection.untilClosed());
    assert.deepEqual(
      answers.map(({ status }) => status),
      statuses,
      bytes,
    );
  }
});
