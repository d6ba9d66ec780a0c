/** What the service encrypts with: a certificate, and the key that it was made for. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { StartError } from "../../errors.ts";

/** The files that it is in, both PEM. */
export interface TlsFiles {
  /** The certificate, and behind it those that lead to the root. */
  cert: string;
  key: string;
}

/** The content of the two files. */
export interface KeyPair {
  cert: string;
  key: string;
}

/**
 * Reads certificate and key. Throws StartError for files that cannot be read or are not what they should be, a key that is not
 * the certificate's, a certificate that does not hold at the time, and a pair that OpenSSL does not take.
 */
export async function readKeyPair(files: TlsFiles, now: number): Promise<KeyPair> {
  const cert = await read("cert", files.cert);
  const key = await read("key", files.key);
  const certificate = parse("cert", files.cert, () => new X509Certificate(cert));
  const privateKey: KeyObject = parse("key", files.key, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new StartError(`tls: the key in ${files.key} is not that of the certificate in ${files.cert}.`);
  }
  if (Date.parse(certificate.validTo) < now) {
    throw new StartError(`tls.cert: the certificate in ${files.cert} has expired: ${certificate.validTo}.`);
  }
  if (Date.parse(certificate.validFrom) > now) {
    throw new StartError(
      `tls.cert: the certificate in ${files.cert} is not valid before ${certificate.validFrom}.`,
    );
  }
  requireUsable({ cert, key }, files);
  return { cert, key };
}

/** A pair may be sound and yet nothing to encrypt with: too weak, or with a broken certificate behind the first. */
function requireUsable(pair: KeyPair, files: TlsFiles): void {
  try {
    createSecureContext(pair);
  } catch (error) {
    const { reason = "no reason given" } = error as { reason?: string }; // OpenSSL's, which quotes nothing
    throw new StartError(`tls: ${files.cert} and ${files.key} cannot be encrypted with (${reason}).`);
  }
}

async function read(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`tls.${option}: ${path} cannot be read (${code}).`);
  }
}

const whatItMustBe = {
  cert: "a certificate in PEM form",
  key: "a private key in PEM form without a passphrase",
} as const;

/** The error underneath is not told: it may quote the file. */
function parse<Value>(option: keyof typeof whatItMustBe, path: string, make: () => Value): Value {
  try {
    return make();
  } catch {
    throw new StartError(`tls.${option}: ${path} is not ${whatItMustBe[option]}.`);
  }
}
