/** Certificates for tests, made by the machine's openssl. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";

const run = promisify(execFile);

/** A certificate for `localhost` that signed itself, and its key. */
export interface Certificate {
  /** The folder of the two files. */
  folder: string;
  files: { cert: string; key: string };
  /** The certificate in PEM form, for clients that trust it. */
  pem: string;
}

/** Makes a certificate that holds for two days. */
export async function makeCertificate(): Promise<Certificate> {
  const folder = makeFolder();
  const files = { cert: join(folder, "server.pem"), key: join(folder, "server.key") };
  const what = [
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost,IP:127.0.0.1",
    "-days",
    "2",
  ];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await run("openssl", ["req", "-x509", ...curve, ...what, "-keyout", files.key, "-out", files.cert]);
  return { folder, files, pem: await readFile(files.cert, "utf8") };
}
