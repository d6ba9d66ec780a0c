/** Passkeys: a device that has verified its user signs a challenge. They are both factors at once. */
import { hash } from "node:crypto";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { Problem } from "../../errors.ts";
import type { AuditKind } from "./audit.ts";
import type { Flows, SignedIn, Visitor } from "./flows.ts";
import { guessPolicies } from "./guess-limits.ts";
import type { SealedTickets } from "./sealed-tickets.ts";
import { signInFailed } from "./sign-in-failed.ts";
import type { GivenTicket } from "./tickets.ts";
import type { Account, Passkey } from "./user-records.ts";

/** The most passkeys of a user. */
const maxPasskeys = 10;

/** The most characters of the id and the key of a passkey, in base64url. */
const maxCredential = 1_400;
const maxKey = 6_000;

/** The kinds of keys that devices have: Ed25519, P-256 and RSA, by their numbers in COSE. */
const algorithms = [-8, -7, -257];

/** What the browser's `navigator.credentials.get` and `create` need. */
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;
export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;

/** What the browser has returned: any object, which is checked here. */
export type PasskeyResponse = Readonly<Record<string, unknown>>;

/** A proof by a passkey, for a ticket of `Passkeys.offer`. */
export interface PasskeyProof {
  ticket: string;
  passkey: PasskeyResponse;
  device?: string | undefined;
}

/** What passkeys depend on. */
export interface PasskeyParts extends Flows {
  tickets: SealedTickets;
}

/** The passkeys of the users of one service. */
export class Passkeys {
  readonly #parts: PasskeyParts;

  constructor(parts: PasskeyParts) {
    this.#parts = parts;
  }

  /** Begins a sign-in. It names no credential, so it tells nothing about who has one. */
  async offer(): Promise<GivenTicket & { options: RequestOptions }> {
    const given = this.#parts.tickets.give("passkey");
    return { ...given, options: await this.request(given.ticket) };
  }

  /**
   * Begins a session by a passkey. `user`: the only user whose passkey counts. Throws SIGN_IN_FAILED and QUOTA_EXCEEDED.
   */
  async signIn(
    { ticket, passkey, device }: PasskeyProof,
    visitor: Visitor,
    { before, user, kind }: { before?: string | undefined; user?: string; kind?: AuditKind },
  ): Promise<SignedIn> {
    const { settings, tickets, records, limits, now, beginProven, untilCommitted } = this.#parts;
    if (!settings.methods.includes("passkey")) throw signInFailed();
    tickets.open("passkey", ticket);
    const id = userOf(passkey);
    if (id === undefined || (user ?? id) !== id) throw signInFailed();
    const policy = guessPolicies.passkeyOfNetwork;
    const taken = await limits.take([{ policy, subject: visitor.network }], now());
    const signedIn = await untilCommitted(async () => {
      const found = await records.account(id);
      if (found === undefined || found.value.disabled) throw signInFailed();
      const set = await this.proven(found.value, passkey, ticket);
      const also = [await tickets.use("passkey", ticket)];
      return beginProven(found, { visitor, kind, method: "passkey", device, ends: before, set, also });
    });
    await taken.giveBack();
    return signedIn;
  }

  /** What a browser needs to sign the challenge of a ticket. */
  async request(ticket: string): Promise<RequestOptions> {
    const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
    return generateAuthenticationOptions({
      rpID: this.#host,
      challenge: challengeOf(ticket),
      userVerification: "required",
    });
  }

  /** What a browser needs to make a passkey for the challenge of a ticket. */
  async creation(ticket: string, { id, email, passkeys = [] }: Account): Promise<CreationOptions> {
    const { generateRegistrationOptions } = await import("@simplewebauthn/server");
    return generateRegistrationOptions({
      rpID: this.#host,
      rpName: this.#parts.title,
      userID: new TextEncoder().encode(id),
      userName: email,
      userDisplayName: email,
      challenge: challengeOf(ticket),
      attestationType: "none",
      supportedAlgorithmIDs: algorithms,
      excludeCredentials: passkeys.map(({ credential }) => ({ id: credential })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
  }

  /** The passkey that a browser has made for the challenge of a ticket. Throws SIGN_IN_FAILED. */
  async made(
    response: PasskeyResponse,
    { ticket, name }: { ticket: string; name: string | undefined },
  ): Promise<Passkey> {
    const { newUuid, now } = this.#parts;
    const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
    const { registrationInfo } = await verifyRegistrationResponse({
      response: response as unknown as RegistrationResponseJSON,
      supportedAlgorithmIDs: algorithms,
      ...this.#expected(ticket),
    }).catch(refuse);
    if (registrationInfo === undefined) throw signInFailed();
    const { id: credential, publicKey: key, counter } = registrationInfo.credential;
    const publicKey = Buffer.from(key).toString("base64url");
    if (credential.length > maxCredential || publicKey.length > maxKey) throw signInFailed();
    return {
      kind: "passkey",
      id: newUuid(),
      name,
      credential,
      publicKey,
      counter,
      createdAt: now(),
      usedAt: now(),
    };
  }

  /** What changes in an account whose passkey has signed the challenge of a ticket. Throws SIGN_IN_FAILED. */
  async proven(account: Account, response: PasskeyResponse, ticket: string): Promise<Partial<Account>> {
    const { passkeys = [] } = account;
    const used = passkeys.find(({ credential }) => credential === response.id);
    if (used === undefined || userOf(response) !== account.id) throw signInFailed();
    const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
    // Also refuses a counter that does not rise: then a copy of the device's key can exist.
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as unknown as AuthenticationResponseJSON,
      credential: {
        id: used.credential,
        publicKey: new Uint8Array(Buffer.from(used.publicKey, "base64url")),
        counter: used.counter,
      },
      ...this.#expected(ticket),
    }).catch(refuse);
    if (!verified) throw signInFailed();
    const next = { ...used, counter: authenticationInfo.newCounter, usedAt: this.#parts.now() };
    return { passkeys: passkeys.map((each) => (each === used ? next : each)) };
  }

  /** Throws FACTOR_UNAVAILABLE if the user has as many passkeys as possible. */
  requireRoom({ passkeys = [] }: Account): void {
    if (passkeys.length < maxPasskeys) return;
    throw new Problem(
      "FACTOR_UNAVAILABLE",
      `You have ${maxPasskeys} passkeys already. Remove one of them first.`,
    );
  }

  get #host(): string {
    return new URL(this.#parts.publicUrl()).hostname;
  }

  #expected(ticket: string) {
    const { publicUrl, settings } = this.#parts;
    return {
      expectedChallenge: challengeOf(ticket).toString("base64url"),
      expectedOrigin: [publicUrl(), ...settings.origins],
      expectedRPID: this.#host,
      requireUserVerification: true,
    };
  }
}

/** What a passkey signs for a ticket. */
function challengeOf(ticket: string): Buffer<ArrayBuffer> {
  return Buffer.from(hash("sha256", `passkey ${ticket}`, "buffer"));
}

/** The id of the user that a device names; `undefined` if it names none. */
function userOf({ response }: PasskeyResponse): string | undefined {
  const { userHandle } = (response ?? {}) as { userHandle?: unknown };
  if (typeof userHandle !== "string" || userHandle.length > 100) return undefined;
  return Buffer.from(userHandle, "base64url").toString();
}

/** The library throws for everything that is not right. */
function refuse(): never {
  throw signInFailed();
}
