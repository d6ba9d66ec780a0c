/** Second factors and passkeys: what a sign-in asks for, and what users set up. */
import { HoldfastError, ProblemError } from "./errors.ts";
import type { CallOptions } from "./transport.ts";

/** What can be a second factor. */
export type SecondFactorKind = "totp" | "passkey" | "recoveryCode";

/** The six digits of an authenticator app, a recovery code, or `passkey: true` to ask the browser. */
export type SecondFactor =
  | { readonly totp: string }
  | { readonly recoveryCode: string }
  | { readonly passkey: true };

/** The response of a sign-in that asks for the second factor. */
export interface SecondStep {
  readonly next: "secondFactor";
  readonly ticket: string;
  readonly expiresAt: string;
  readonly factors: readonly SecondFactorKind[];
  /** The options for the browser. */
  readonly passkey?: object;
}

/** The first factor is right, and the user must prove the second one: call `prove` before `expiresAt`. */
export class SecondFactorError<Result> extends HoldfastError {
  override readonly name: string = "SecondFactorError";
  /** What the user can prove. */
  readonly factors: readonly SecondFactorKind[];
  readonly expiresAt: string;
  readonly #prove: (factor: SecondFactor, options: CallOptions) => Promise<Result>;

  constructor(
    { factors, expiresAt }: SecondStep,
    prove: (factor: SecondFactor, options: CallOptions) => Promise<Result>,
  ) {
    super("The sign-in needs the second factor of the user. Call prove() of this error with it.");
    this.factors = factors;
    this.expiresAt = expiresAt;
    this.#prove = prove;
  }

  /** Signs in. Throws ProblemError, with the code SIGN_IN_FAILED if the proof is wrong. Another one can then follow. */
  prove(factor: SecondFactor, options: CallOptions = {}): Promise<Result> {
    return this.#prove(factor, options);
  }
}

/** A factor of a user. */
export interface Factor {
  readonly id: string;
  readonly kind: "totp" | "passkey";
  /** What the user calls it. */
  readonly name?: string;
  readonly createdAt: string;
  /** The last sign-in with it. */
  readonly usedAt: string;
}

/** The factors of a user. */
export interface Factors {
  readonly factors: readonly Factor[];
  /** How many recovery codes are left. */
  readonly recoveryCodes: number;
  /** The factors that the service has. */
  readonly kinds: readonly Factor["kind"][];
  /** What a sign-in asks for after a password or a code by mail. */
  readonly asked: readonly SecondFactorKind[];
  /** Whether the service requires a second factor of the user. */
  readonly required: boolean;
}

/** A factor that was set up. */
export interface AddedFactor {
  readonly factor: Factor;
  /** The first recovery codes of the user. Show them: no other response has them. */
  readonly recoveryCodes?: readonly string[];
}

/** An authenticator app that waits for its first code. */
export interface NewApp {
  /** What the user can type into the app, in base32. */
  readonly secret: string;
  /** The same for a QR code. */
  readonly uri: string;
  readonly expiresAt: string;
  /** Finishes with the code that the app shows. Throws ProblemError with the code SIGN_IN_FAILED if it is wrong. */
  finish(code: string, more?: CallOptions & { readonly name?: string }): Promise<AddedFactor>;
}

/** Sends a request below `_auth`, and returns the body of its response. */
type Ask = (
  request: { method: string; path: string; content?: object; isRepeatable?: boolean },
  options: CallOptions,
) => Promise<unknown>;

/** The factors of the user. All methods but `list` need a recent sign-in: otherwise they throw ProblemError with CONFIRMATION_REQUIRED. */
export class FactorsClient {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async list(options: CallOptions = {}): Promise<Factors> {
    return (await this.#ask({ method: "GET", path: "factors", isRepeatable: true }, options)) as Factors;
  }

  /** Begins to set up an authenticator app. It replaces the one before, and then all other sessions end. */
  async addApp(options: CallOptions = {}): Promise<NewApp> {
    const begun = await this.#add({ kind: "totp" }, options);
    const { ticket, secret, uri, expiresAt } = begun as Omit<NewApp, "finish"> & { ticket: string };
    const finish: NewApp["finish"] = async (totp, { name, ...more } = {}) =>
      (await this.#add({ ticket, totp, name }, more)) as AddedFactor;
    return { secret, uri, expiresAt, finish };
  }

  /** Adds a passkey. The browser asks the user for it. */
  async addPasskey({
    name,
    ...options
  }: CallOptions & { readonly name?: string } = {}): Promise<AddedFactor> {
    const begun = (await this.#add({ kind: "passkey" }, options)) as {
      ticket: string;
      options: object;
    };
    const { navigator, PublicKeyCredential } = browser();
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(begun.options);
    const made = await navigator.credentials.create({ publicKey, signal: options.signal });
    const passkey = made?.toJSON();
    return (await this.#add({ ticket: begun.ticket, passkey, name }, options)) as AddedFactor;
  }

  /** Removes a factor, and ends all other sessions. */
  async remove(id: string, options: CallOptions = {}): Promise<void> {
    const path = `factors/${encodeURIComponent(id)}`;
    try {
      await this.#ask({ method: "DELETE", path, isRepeatable: true }, options);
    } catch (error) {
      if (!(error instanceof ProblemError && error.status === 404 && error.afterLostAnswer)) throw error;
    }
  }

  /** Makes ten recovery codes in place of those before. */
  async renewRecoveryCodes(options: CallOptions = {}): Promise<readonly string[]> {
    const request = { method: "POST", path: "recovery-codes", content: {} };
    return ((await this.#ask(request, options)) as { recoveryCodes: string[] }).recoveryCodes;
  }

  #add(content: object, options: CallOptions): Promise<unknown> {
    return this.#ask({ method: "POST", path: "factors", content }, options);
  }
}

/** What the browser makes of the options for a passkey, as the service takes it. */
export async function signWithPasskey(asked: object, { signal }: CallOptions): Promise<object | undefined> {
  const { navigator, PublicKeyCredential } = browser();
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked);
  return (await navigator.credentials.get({ publicKey, signal }))?.toJSON();
}

/** The part of a browser that has passkeys. */
interface PasskeyBrowser {
  readonly navigator: {
    readonly credentials: Readonly<
      Record<
        "create" | "get",
        (asked: { publicKey: object; signal: AbortSignal | undefined }) => Promise<Credential | null>
      >
    >;
  };
  readonly PublicKeyCredential: Readonly<
    Record<"parseCreationOptionsFromJSON" | "parseRequestOptionsFromJSON", (options: object) => object>
  >;
}

interface Credential {
  toJSON(): object;
}

/** Throws HoldfastError where there is no browser, or one without passkeys. */
function browser(): PasskeyBrowser {
  if ("PublicKeyCredential" in globalThis) return globalThis as unknown as PasskeyBrowser;
  throw new HoldfastError(
    "Passkeys need a browser, and a page that it has loaded by https or from this machine.",
  );
}
