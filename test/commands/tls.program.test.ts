import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { copyFile, open, readFile, rename } from "node:fs/promises";
import { test } from "node:test";
import { connect } from "node:tls";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";
import { makeCertificate } from "../http/certificates.ts";
import { until } from "../until.ts";
import { listening, run, serve, start, stop } from "./cli.ts";

/** The fingerprint of the certificate that the service shows. */
function shown(origin: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: "127.0.0.1",
      port: Number(new URL(origin).port),
      rejectUnauthorized: false,
    });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
  });
}

test("SIGHUP makes the service read its certificate again, and it goes on", async (t) => {
  const [first, second] = await Promise.all([makeCertificate(), makeCertificate()]);
  const configuration = JSON.stringify({ tls: { cert: "server.pem", key: "server.key" } });
  const cwd = makeFolder({ "holdfast.config.json": configuration });
  const put = async ({ files }: typeof first) => {
    await copyFile(files.cert, `${cwd}/server.pem`);
    await copyFile(files.key, `${cwd}/server.key`);
  };
  const missing = await run(t, ["serve", "--port", "0"], { cwd });
  assert.equal(missing.exitCode, 1);
  assert.match(
    missing.stderr,
    /^ {2}tls\.cert: \S+server\.pem cannot be read: no such file or directory\.$/m,
  );
  assert.match(missing.stderr, /^ {2}tls\.key: \S+server\.key cannot be read: no such file or directory\.$/m);
  await put(first);
  const service = await serve(t, [], { cwd });
  assert.match(service.origin, /^https:/);
  const before = await shown(service.origin);
  await put(second);
  service.process.kill("SIGHUP");
  await until("another certificate is shown", async () => (await shown(service.origin)) !== before);
  const after = await shown(service.origin);
  assert.notEqual(after, before);
  await copyFile(first.files.cert, `${cwd}/server.pem`);
  service.process.kill("SIGHUP");
  await until("the log says something", () =>
    /the certificate was not reloaded/.test(service.output().stderr),
  );
  assert.match(
    service.output().stderr,
    /"msg":"the certificate was not reloaded, and the previous one stays in use: tls: the key in [^"]+ does not belong to [^"]+"\}\n/,
  );
  assert.equal(await shown(service.origin), after);
  assert.equal((await stop(service)).exitCode, 0);
});

test("SIGHUP while the service is starting is for the certificate too", async (t) => {
  const [first, second] = await Promise.all([makeCertificate(), makeCertificate()]);
  const configuration = JSON.stringify({ tls: { cert: "server.pem", key: "server.key" } });
  const cwd = makeFolder({ "holdfast.config.json": configuration });
  const [cert, key] = [`${cwd}/server.pem`, `${cwd}/server.key`];
  await copyFile(first.files.cert, cert);
  await promisify(execFile)("mkfifo", [key]);
  const service = start(t, ["serve", "--port", "0"], { cwd });
  const pipe = await open(key, "w"); // waits until the service is about to read the key
  service.process.kill("SIGHUP");
  await rename(key, `${key}.old`);
  await copyFile(second.files.cert, cert);
  await copyFile(second.files.key, key);
  await pipe.writeFile(await readFile(first.files.key));
  await pipe.close();
  const origin = await listening(service);
  await until("the certificate is read again", () => /was reloaded/.test(service.output().stderr));
  const { fingerprint256 } = new X509Certificate(second.pem);
  assert.equal(await shown(origin), fingerprint256);
  assert.equal((await stop(service)).exitCode, 0);
});
