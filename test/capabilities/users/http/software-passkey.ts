/** A device with passkeys, in software: it makes a key for a service, and signs its challenges as a browser returns them (WebAuthn). */
import { createSign, generateKeyPairSync, hash, type KeyObject, randomBytes } from "node:crypto";

/** The options that a service sends, as far as the device reads them. */
interface Options {
  challenge: string;
  rpId?: string;
  rp?: { id: string };
  user?: { id: string };
}

/** What a test makes different from an honest browser. */
export interface Wrong {
  origin?: string;
  host?: string;
  challenge?: string;
  /** Whether the device has verified its user. @default true */
  isVerified?: boolean;
  userHandle?: string;
  type?: string;
}

/** A device with one passkey. */
export class SoftwarePasskey {
  readonly #origin: string;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #id = randomBytes(16);
  #userHandle = "";
  /** How many times it says that it was used. */
  counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  get id(): string {
    return this.#id.toString("base64url");
  }

  /** What `navigator.credentials.create` returns. */
  create(options: Options, wrong: Wrong = {}): object {
    this.#userHandle = options.user?.id ?? "";
    const { x = "", y = "" } = this.#publicKey.export({ format: "jwk" });
    // The public key in COSE: a map of five members.
    const key = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 0x20]),
      Buffer.from(y, "base64url"),
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.#id, key]);
    const data = this.#data(options, { ...wrong, flags: 0x40, attested });
    const head = Buffer.alloc(2);
    head.writeUInt16BE(data.length);
    // { fmt: "none", attStmt: {}, authData }
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      text("fmt"),
      text("none"),
      text("attStmt"),
      Buffer.from([0xa0]),
      text("authData"),
      Buffer.from([0x59]),
      head,
      data,
    ]);
    return this.#credential({
      clientDataJSON: this.#client("webauthn.create", options, wrong).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** What `navigator.credentials.get` returns. */
  get(options: Options, wrong: Wrong = {}): object {
    const client = this.#client("webauthn.get", options, wrong);
    const data = this.#data(options, { ...wrong, flags: 0, attested: Buffer.alloc(0) });
    const signed = Buffer.concat([data, hash("sha256", client, "buffer")]);
    return this.#credential({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: createSign("sha256").update(signed).sign(this.#privateKey).toString("base64url"),
      userHandle: wrong.userHandle ?? this.#userHandle,
    });
  }

  #credential(response: object): object {
    const { id } = this;
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  #client(type: string, { challenge }: Options, wrong: Wrong): Buffer {
    const { origin = this.#origin } = wrong;
    const seen = {
      type: wrong.type ?? type,
      challenge: wrong.challenge ?? challenge,
      origin,
      crossOrigin: false,
    };
    return Buffer.from(JSON.stringify(seen));
  }

  #data(
    { rpId, rp }: Options,
    { flags, attested, host, isVerified = true }: Wrong & { flags: number; attested: Buffer },
  ): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    const all = Buffer.from([0x01 | (isVerified ? 0x04 : 0) | flags]);
    return Buffer.concat([hash("sha256", host ?? rpId ?? rp?.id ?? "", "buffer"), all, counter, attested]);
  }
}

/** A short text in CBOR. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
}
