/**
 * Protects what the service must be able to read again, such as a mail that waits. Its keys come from `HOLDFAST_SECRET`, so that a
 * store without that variable shows nothing.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { StartError } from "./errors.ts";

/** The environment variable with the secrets. */
export const secretVariable = "HOLDFAST_SECRET";

/** What to do if a secret of the service is lost. */
export const adviceIfLost = `If it is lost, run "holdfast secret replace-lost" with a new one.`;

/** The most secrets in the variable. */
const mostSecrets = 3;

const secretBytes = 32;

/** The nonce and the tag of AES-GCM, in bytes. */
const nonceBytes = 12;
const tagBytes = 16;

/** A new secret: 32 random bytes in base64. */
export function newSecret(): string {
  return randomBytes(secretBytes).toString("base64");
}

/** Reads secrets with commas between them. Throws StartError, which never shows a value. */
export function readSecrets(text: string): readonly KeyObject[] {
  const given = text.split(",").map((each) => Buffer.from(each.trim(), "base64"));
  const isSound = text
    .split(",")
    .every((each, n) => given[n]?.length === secretBytes && given[n].toString("base64") === each.trim());
  if (isSound && given.length <= mostSecrets) return given.map((bytes) => createSecretKey(bytes));
  throw new StartError(
    `${secretVariable} must be one to ${mostSecrets} secrets with commas between them, each of ${secretBytes} bytes in base64. "holdfast secret" prints a new one.`,
  );
}

/** A public name of a secret. It does not help to find the secret. */
export function nameOfSecret(secret: KeyObject): string {
  return derive(secret, "name", 9).toString("base64url");
}

/**
 * Encrypts with the first of several secrets, and decrypts with each of them. A purpose is a constant of the program, such as `mail`:
 * each has keys of its own.
 */
export class Vault {
  readonly #first: KeyObject;
  readonly #secrets: ReadonlyMap<string, KeyObject>;
  /** The derived keys, by the name of the secret and what they are for. */
  readonly #keys = new Map<string, Buffer>();

  /** There must be at least one secret. */
  constructor(secrets: readonly KeyObject[]) {
    this.#first = secrets[0] as KeyObject;
    this.#secrets = new Map(secrets.map((secret) => [nameOfSecret(secret), secret]));
  }

  /** The encrypted text. Only `open` with the same purpose and place returns it. A place is such as `_mail/<id>`. */
  seal(purpose: string, place: string, text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#keyFor(this.#first, `seal ${purpose}`), nonce);
    cipher.setAAD(Buffer.from(place));
    const sealed = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `${nameOfSecret(this.#first)}.${Buffer.concat(sealed).toString("base64url")}`;
  }

  /** The text that `seal` was called with. Throws an Error if no secret fits, or if anything was changed. */
  open(purpose: string, place: string, sealed: string): string {
    const [name = "", content = ""] = sealed.split(".", 2);
    const secret = this.#secrets.get(name);
    if (secret === undefined) throw new Error(`No secret in ${secretVariable} opens what ${place} keeps.`);
    const bytes = Buffer.from(content, "base64url");
    const end = bytes.length - tagBytes;
    try {
      // Buffer skips what it does not know. A text that can be written in two ways can be used twice.
      if (`${name}.${bytes.toString("base64url")}` !== sealed) throw new Error("another spelling");
      const key = this.#keyFor(secret, `seal ${purpose}`);
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(end));
      return decipher.update(bytes.subarray(nonceBytes, end), undefined, "utf8") + decipher.final("utf8");
    } catch {
      throw new Error(`What ${place} keeps was changed, or belongs to another place.`);
    }
  }

  /** Whether the first secret has encrypted a text. Otherwise, seal it again: the secret that fits can be removed one day. */
  isCurrent(sealed: string): boolean {
    return sealed.startsWith(`${nameOfSecret(this.#first)}.`);
  }

  /** Whether one of the secrets has encrypted a text. */
  knows(sealed: string): boolean {
    return this.#secrets.has(sealed.split(".")[0] ?? "");
  }

  /** Throws StartError if none of the secrets has encrypted a text. `what` is such as `the secret of the webhook <id>`. */
  requireKnown(sealed: string, what: string): void {
    if (this.knows(sealed)) return;
    throw new StartError(
      `${secretVariable} has no secret that opens ${what}: an earlier secret of the service has encrypted it. Put that one behind the others, as in <new>,<old>, until the service has started with it. ${adviceIfLost}`,
    );
  }

  /**
   * A text that only this secret can make of `text`. It changes with the first secret, so it can name what lives for a short time,
   * such as a count of tries. Never find an account, a session or anything else by it that must outlive a change of secrets.
   */
  mac(purpose: string, text: string): string {
    return createHmac("sha256", this.#keyFor(this.#first, `mac ${purpose}`))
      .update(text)
      .digest("base64url");
  }

  #keyFor(secret: KeyObject, use: string): Buffer {
    const id = `${nameOfSecret(secret)} ${use}`;
    const key = this.#keys.get(id) ?? derive(secret, use, secretBytes);
    this.#keys.set(id, key);
    return key;
  }
}

function derive(secret: KeyObject, use: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", `holdfast ${use}`, bytes));
}
