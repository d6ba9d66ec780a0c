/** Reads the certificate and the private key that the service encrypts with. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { getSystemErrorMessage } from "node:util";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import type { TlsFiles } from "../settings.ts";

/** The content of the two files. */
export interface KeyPair {
  cert: string;
  key: string;
}

/**
 * Reads certificate and key. Throws StartError with all faults: a file that cannot be read or has the wrong content, a key
 * of another certificate, a certificate that is not valid at the time `now`, and a pair that OpenSSL does not accept.
 */
export async function readKeyPair(files: TlsFiles, now: number): Promise<KeyPair> {
  const faults = new StartFaults();
  const cert = await faults.wait(["cert"], () => read("cert", files.cert));
  const key = await faults.wait(["key"], () => read("key", files.key));
  const certificate = faults.read(["cert"], () => {
    const text = cert();
    return parse("cert", files.cert, () => new X509Certificate(text));
  });
  const privateKey = faults.read(["key"], () => {
    const text = key();
    return parse("key", files.key, (): KeyObject => createPrivateKey(text));
  });
  faults.read(["cert"], () => requireTime(certificate(), files.cert, now));
  faults.read([], () => {
    if (certificate().checkPrivateKey(privateKey())) return;
    throw new StartError(`tls: the key in ${files.key} does not belong to the certificate in ${files.cert}.`);
  });
  faults.throwIfAny();
  const pair = { cert: cert(), key: key() };
  requireUsable(pair, files);
  return pair;
}

function requireTime({ validFrom, validTo }: X509Certificate, path: string, now: number): void {
  if (Date.parse(validTo) < now)
    throw new StartError(`tls.cert: the certificate in ${path} expired at ${validTo}.`);
  if (Date.parse(validFrom) > now)
    throw new StartError(`tls.cert: the certificate in ${path} is not valid before ${validFrom}.`);
}

/** A pair can fit together and still be unusable: too weak, or with a broken certificate after the first one. */
function requireUsable(pair: KeyPair, files: TlsFiles): void {
  try {
    createSecureContext(pair);
  } catch (error) {
    const { reason = "no reason given" } = error as { reason?: string }; // from OpenSSL; it never quotes the file
    throw new StartError(`tls: ${files.cert} and ${files.key} cannot be used for TLS (${reason}).`);
  }
}

async function read(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { errno = 0 } = error as NodeJS.ErrnoException;
    throw new StartError(`tls.${option}: ${path} cannot be read: ${getSystemErrorMessage(errno)}.`);
  }
}

const expected = {
  cert: "a certificate in PEM form",
  key: "a private key in PEM form without a passphrase",
} as const;

/** Does not show the error of `make`, because it can quote the file. */
function parse<Value>(option: keyof typeof expected, path: string, make: () => Value): Value {
  try {
    return make();
  } catch {
    throw new StartError(`tls.${option}: ${path} is not ${expected[option]}.`);
  }
}
