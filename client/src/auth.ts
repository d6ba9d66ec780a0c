/** People who sign up and in, and manage their own sessions and password. */
import { ProblemError } from "./errors.ts";
import { FactorsClient, SecondFactorError, type SecondStep, signWithPasskey } from "./factors.ts";
import type { Beginning, SessionKeeper, User } from "./session-keeper.ts";
import type { CallOptions } from "./transport.ts";

/** A session of a user. */
export interface UserSession {
  readonly id: string;
  readonly createdAt: string;
  /** The last use, to five minutes. */
  readonly usedAt: string;
  /** When it ends if nothing uses it. */
  readonly expiresAt: string;
  /** Until when it can change the account. */
  readonly confirmedUntil: string;
  /** Whether it can do nothing before the user has set up a second factor. */
  readonly mustAddFactor: boolean;
  /** The network of the browser or program, without the last part of its address. */
  readonly network: string;
  /** The start of its header `User-Agent`. */
  readonly agent?: string;
  /** The name of a key for a program; left out for other sessions. */
  readonly name?: string;
  /** What limits the key. */
  readonly scopes?: readonly string[];
}

/** A key for a program. It acts as the user, with the roles of the user at the time of each request. */
export interface UserKeyInput {
  readonly name: string;
  /** What limits the key, such as `articles:read`. @default everything that the user can do */
  readonly scopes?: readonly string[];
  /** A day or a timestamp, at most 366 days from now. */
  readonly expiresAt: string;
}

/** A key for a program, with its token. */
export interface NewUserKey {
  readonly session: UserSession;
  readonly token: string;
}

/** A session that has begun. The client keeps its token. */
export interface SignedIn {
  readonly user: User;
  readonly session: UserSession;
}

/** A ticket waits for the code from a mail. */
interface Ticket {
  /** The secret text of the ticket, for a program that goes on elsewhere. */
  readonly ticket: string;
  readonly expiresAt: string;
}

/** A sign-up or sign-in that waits for the code from a mail. */
export interface SignInTicket extends Ticket {
  /** Signs in with the code. Throws ProblemError, with the code SIGN_IN_FAILED if the code is wrong or too old. */
  verify(code: string, options?: CallOptions): Promise<SignedIn>;
}

/** A reset of a password that waits for the code from a mail. */
export interface ResetTicket extends Ticket {
  /**
   * Sets the password, ends all sessions of the user, and signs in. Throws ProblemError, with the code SIGN_IN_FAILED or
   * PASSWORD_REFUSED.
   */
  set(code: string, password: string, options?: CallOptions): Promise<SignedIn>;
}

/** What somebody sends to sign up. */
export interface SignUp {
  readonly email: string;
  /** Without a password, the user signs in with codes. */
  readonly password?: string;
  /** The attributes of the profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** The token in the link of an invitation. */
  readonly invitation?: string;
}

/** What a sign-up with an invitation needs. */
export interface Invited {
  /** The invited address; left out if any address can be used. */
  readonly email?: string;
  /** The attributes that the profile must have. Empty for a profile that exists: a sign-up with attributes is refused. */
  readonly required: readonly string[];
  /** Whether the invitation gives another address to an account that exists. The account keeps its password unless the sign-up has another one. */
  readonly hasAccount: boolean;
}

/** An identity at a provider, with which the user can sign in. */
export interface Identity {
  readonly id: string;
  /** The name of the provider in the configuration. */
  readonly provider: string;
  /** The address that the provider has named. */
  readonly email?: string;
  readonly createdAt: string;
}

/** How somebody goes to a provider. */
export interface AtProvider {
  /** Where the browser goes afterwards: a path of the service, or an address of one of `auth.users.origins`. @default "/" */
  readonly returnTo?: string;
  /** Whether the identity is for the account of the user who has signed in, instead of a sign-in. @default false */
  readonly link?: boolean;
}

/**
 * The sign-in of a service. All methods throw ProblemError if the service refuses, and NotFoundError if it has no users. Methods that
 * begin a session throw SecondFactorError if the user has a second factor.
 */
export class AuthClient {
  readonly #keeper: SessionKeeper;
  /** The second factor and the passkeys of the user. */
  readonly factors: FactorsClient;

  constructor(keeper: SessionKeeper) {
    this.#keeper = keeper;
    this.factors = new FactorsClient(
      async ({ path, isRepeatable = false, ...call }, options) =>
        (await keeper.send({ ...options, ...call, path: `/_auth/${path}`, isRepeatable })).body,
    );
  }

  /** Signs somebody up. The account exists when the code from the mail is verified. */
  async signUp(asked: SignUp, options: CallOptions = {}): Promise<SignInTicket> {
    const { email, password, profile, invitation } = asked;
    return this.#toVerify(await this.#ask("sign-up", { email, password, profile, invitation }, options));
  }

  /** What a sign-up with the token of an invitation needs. Throws ProblemError with the code INVALID_PARAMETER if it has ended. */
  async invitation(token: string, options: CallOptions = {}): Promise<Invited> {
    return (await this.#ask("invitation", { invitation: token }, options)) as Invited;
  }

  /** Begins a session by a password. */
  async signIn(
    { email, password }: { readonly email: string; readonly password: string },
    options: CallOptions = {},
  ): Promise<SignedIn> {
    return this.#signIn({ email, password }, options);
  }

  /** Begins a session by a passkey. The browser asks the user for it. No second factor follows. */
  async signInWithPasskey(options: CallOptions = {}): Promise<SignedIn> {
    return this.#signIn(await this.#passkey(options), options);
  }

  /** Mails a code, if the address has an account. */
  async signInWithCode(email: string, options: CallOptions = {}): Promise<SignInTicket> {
    return this.#toVerify(await this.#ask("code", { email }, options));
  }

  /** The address of the sign-in at a provider, for a link in a page of the service. */
  providerAddress(provider: string, { returnTo, link }: AtProvider = {}): string {
    const query = new URLSearchParams({
      ...(returnTo !== undefined && { return: returnTo }),
      ...(link === true && { link: "true" }),
    }).toString();
    const path = `/_auth/providers/${encodeURIComponent(provider)}`;
    return this.#keeper.addressOf(query === "" ? path : `${path}?${query}`);
  }

  /**
   * Sends the browser to a provider, such as `google`. It comes back with the session in a cookie. Throws an Error if the client does
   * not use cookies, because a program could not get the session.
   */
  signInWith(provider: string, options: AtProvider = {}): void {
    const { location } = globalThis as { location?: { assign(address: string): void } };
    if (location === undefined || !this.#keeper.usesCookie)
      throw new Error("signInWith works in pages whose session is in a cookie. Use a password or a code.");
    location.assign(this.providerAddress(provider, options));
  }

  /** The identities of the user at providers, the newest first. */
  async identities(options: CallOptions = {}): Promise<readonly Identity[]> {
    return ((await this.#read("/identities", options)) as { identities: Identity[] }).identities;
  }

  /**
   * Links an identity to the account of the user, with the ticket in the address of the page of sign-in. Throws ProblemError with the
   * code CONFIRMATION_REQUIRED: call `confirm`.
   */
  async linkIdentity(ticket: string, options: CallOptions = {}): Promise<Identity> {
    return (await this.#post("identities", { ticket }, options)) as Identity;
  }

  /** Removes an identity, and ends all other sessions. Throws ProblemError with the code CONFIRMATION_REQUIRED: call `confirm`. */
  async unlinkIdentity(id: string, options: CallOptions = {}): Promise<void> {
    await this.#remove(`/_auth/identities/${encodeURIComponent(id)}`, options);
  }

  /** Begins a session by a ticket from before, for example if the page was loaded again. */
  async verify(ticket: string, code: string, options: CallOptions = {}): Promise<SignedIn> {
    return this.#signIn({ ticket, code }, options);
  }

  /** Mails a code to set a new password, if the address has an account. */
  async resetPassword(email: string, options: CallOptions = {}): Promise<ResetTicket> {
    const { ticket, expiresAt } = (await this.#ask("reset", { email }, options)) as Ticket;
    return {
      ticket,
      expiresAt,
      set: (code, password, more = {}) => this.#begin("password", { ticket, code, password }, more),
    };
  }

  /** Proves again who the user is. For ten minutes, the session can change the account. */
  async confirm({ password }: { readonly password: string }, options: CallOptions = {}): Promise<SignedIn> {
    return this.#begin("confirm", { password, device: await this.#device() }, options);
  }

  /** The same with a passkey. */
  async confirmWithPasskey(options: CallOptions = {}): Promise<SignedIn> {
    const proof = await this.#passkey(options);
    return this.#begin("confirm", { ...proof, device: await this.#device() }, options);
  }

  /** Sets a new password, and ends all other sessions. Throws ProblemError with the code CONFIRMATION_REQUIRED: call `confirm`. */
  async changePassword(password: string, options: CallOptions = {}): Promise<SignedIn> {
    return this.#begin("password", { password }, options);
  }

  /**
   * Mails a code to a new address. The address changes when the code is verified, which ends all other sessions. Throws ProblemError
   * with the code CONFIRMATION_REQUIRED: call `confirm`.
   */
  async changeEmail(email: string, options: CallOptions = {}): Promise<SignInTicket> {
    const { ticket, expiresAt } = (await this.#post("email", { email }, options)) as Ticket;
    return {
      ticket,
      expiresAt,
      verify: (code, more = {}) => this.#begin("email", { ticket, code }, more),
    };
  }

  /**
   * Makes a key with which a program acts as the user. Only this response has its token. Throws ProblemError with the code
   * CONFIRMATION_REQUIRED: call `confirm`.
   */
  async createKey(key: UserKeyInput, options: CallOptions = {}): Promise<NewUserKey> {
    return (await this.#post("sessions", key, options)) as NewUserKey;
  }

  /**
   * Ends the session, or all sessions of the user. Without a response, the user stays signed in. `everywhere` throws ProblemError with
   * the code CONFIRMATION_REQUIRED: call `confirm`.
   */
  async signOut({
    everywhere = false,
    ...options
  }: CallOptions & { readonly everywhere?: boolean } = {}): Promise<void> {
    const call = { ...options, method: "POST", path: "/_auth/sign-out", content: { everywhere } };
    try {
      await this.#keeper.send({ ...call, isRepeatable: true });
    } catch (error) {
      // A session that has ended already is signed out, but it cannot end the others.
      const isOver = error instanceof ProblemError && error.status === 401;
      if (!isOver || (everywhere && !error.afterLostAnswer)) throw error;
    }
    await this.#keeper.end();
  }

  /** Who has signed in; `undefined` if nobody has. */
  async user(options: CallOptions = {}): Promise<User | undefined> {
    let user: User | undefined;
    try {
      ({ user } = (await this.#read("", options)) as { user?: User });
    } catch (error) {
      if (!isInvalidToken(error)) throw error;
    }
    this.#keeper.learn(user);
    return user;
  }

  /** The sessions of the user, the latest used first. */
  async sessions(
    options: CallOptions = {},
  ): Promise<readonly (UserSession & { readonly current: boolean })[]> {
    const { sessions } = (await this.#read("/sessions", options)) as {
      sessions: (UserSession & { current: boolean })[];
    };
    return sessions;
  }

  /** Ends a session of the user. Throws ProblemError with the code CONFIRMATION_REQUIRED: call `confirm`. For the own one, use `signOut`. */
  async endSession(id: string, options: CallOptions = {}): Promise<void> {
    await this.#remove(`/_auth/sessions/${encodeURIComponent(id)}`, options);
  }

  /**
   * Calls the listener when somebody signs in, or the session ends. With cookies, also when this happens in another tab. Returns
   * the function that ends this.
   */
  onChange(listener: (user: User | undefined) => void): () => void {
    return this.#keeper.onChange(listener);
  }

  /** After a lost response, the repeated request finds nothing more. */
  async #remove(path: string, options: CallOptions): Promise<void> {
    try {
      await this.#keeper.send({ ...options, method: "DELETE", path, isRepeatable: true });
    } catch (error) {
      if (!(error instanceof ProblemError && error.status === 404 && error.afterLostAnswer)) throw error;
    }
  }

  async #read(path: string, options: CallOptions): Promise<unknown> {
    const call = { ...options, method: "GET", path: `/_auth${path}`, isRepeatable: true };
    return (await this.#keeper.send(call)).body;
  }

  /** Sends a request once. After a lost response, a second request could send another mail, or begin another session. */
  async #post(path: string, content: object, options: CallOptions): Promise<unknown> {
    const call = { ...options, method: "POST", path: `/_auth/${path}`, content, isRepeatable: false };
    return (await this.#keeper.send(call)).body;
  }

  /** A request that needs no session. If the token of the last one has ended, the service has not looked at the request. */
  async #ask(path: string, content: object, options: CallOptions): Promise<unknown> {
    try {
      return await this.#post(path, content, options);
    } catch (error) {
      if (!isInvalidToken(error)) throw error;
      return this.#post(path, content, options);
    }
  }

  #toVerify(answer: unknown): SignInTicket {
    const { ticket, expiresAt } = answer as Ticket;
    return { ticket, expiresAt, verify: (code, options) => this.verify(ticket, code, options) };
  }

  async #signIn(proof: object, options: CallOptions): Promise<SignedIn> {
    return this.#begin("sign-in", { ...proof, device: await this.#device() }, options);
  }

  async #begin(path: string, content: object, options: CallOptions): Promise<SignedIn> {
    const asked = this.#keeper.usesCookie ? { ...content, cookie: true } : content;
    const answer = (await this.#ask(path, asked, options)) as Beginning<UserSession> | SecondStep;
    if ("next" in answer) throw this.#secondFactor(answer);
    return this.#keeper.begin(answer);
  }

  #secondFactor(step: SecondStep): SecondFactorError<SignedIn> {
    const { ticket, passkey } = step;
    return new SecondFactorError(step, async (factor, options) => {
      const signed = "passkey" in factor && passkey ? await signWithPasskey(passkey, options) : undefined;
      const proof = signed === undefined ? factor : { passkey: signed };
      return this.#begin("second-factor", { ticket, ...proof, device: await this.#device() }, options);
    });
  }

  /** A proof by a passkey. */
  async #passkey(options: CallOptions): Promise<object> {
    const begun = await this.#ask("passkey", {}, options);
    const { ticket, options: asked } = begun as { ticket: string; options: object };
    return { ticket, passkey: await signWithPasskey(asked, options) };
  }

  /** A browser sends what it is recognised by in a cookie. */
  async #device(): Promise<string | undefined> {
    return this.#keeper.usesCookie ? undefined : this.#keeper.device();
  }
}

function isInvalidToken(error: unknown): boolean {
  return error instanceof ProblemError && error.code === "INVALID_TOKEN";
}
