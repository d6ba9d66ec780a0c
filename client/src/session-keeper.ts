/** Who has signed in: where the token of the session is kept, and who hears of changes. */
import { ProblemError } from "./errors.ts";
import { addressOf, type ClientOptions, createTransport, type Send } from "./transport.ts";

/** A user of the service. */
export interface User {
  /** The id of the profile. */
  readonly id: string;
  readonly email: string;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/** A place for one text. Its methods can return promises, which must settle. */
export interface TextStore {
  get(): string | null | undefined | Promise<string | null | undefined>;
  /** Keeps a text. Without a text, forgets it. */
  set(text: string | undefined): void | Promise<void>;
}

/** How the client keeps the session of a user. */
export interface AuthOptions {
  /** The place for the token of the session. @default in memory, or a cookie in a page of the service itself */
  readonly store?: TextStore;
  /** The place for what the service recognises this device by. It stays when the user signs out. @default in memory */
  readonly deviceStore?: TextStore;
  /**
   * Whether the browser keeps the session, in a cookie that scripts cannot read. With `true`, also in pages of the origins in
   * `auth.users.origins`. @default only in a page of the service itself, without `token` and `store`
   */
  readonly cookie?: boolean;
}

/** The response that begins a session. */
export interface Beginning<S> {
  readonly session: S;
  readonly user: User;
  readonly token?: string;
  readonly device?: string;
}

/** Keeps the session of a client, and adds its token to the requests. */
export class SessionKeeper {
  readonly usesCookie: boolean;
  readonly #options: ClientOptions;
  readonly #store: TextStore;
  readonly #deviceStore: TextStore;
  readonly #listeners = new Set<(user: User | undefined) => void>();
  #user: User | undefined | "unknown" = "unknown";
  /** Tabs of one origin share their cookies, so they tell each other. */
  #tabs: BroadcastChannel | undefined;

  constructor(options: ClientOptions) {
    const { auth = {}, token, baseUrl } = options;
    this.#options = options;
    this.#store = auth.store ?? memory();
    this.#deviceStore = auth.deviceStore ?? memory();
    this.usesCookie =
      auth.cookie ?? (token === undefined && auth.store === undefined && isOfThisPage(baseUrl));
  }

  /** Sends requests with the token of the session, or else with that of the options. */
  readonly send: Send = async (call) => {
    const { fetch = globalThis.fetch, auth, token } = this.#options;
    let own: string | undefined;
    const transport = createTransport({
      ...this.#options,
      token: async () => {
        own = (await this.#store.get()) ?? undefined;
        return own ?? (typeof token === "function" ? token() : token) ?? "";
      },
      ...(auth?.cookie && { fetch: (url, init) => fetch(url, { ...init, credentials: "include" }) }),
    });
    try {
      return await transport(call);
    } catch (error) {
      if (error instanceof ProblemError) await this.#heed(error, own);
      throw error;
    }
  };

  /** The whole address of a path of the service. */
  addressOf(path: string): string {
    return addressOf(this.#options, { path });
  }

  /** The user, as the service has just said. */
  learn(user: User | undefined): void {
    const { id } = this.#user === "unknown" ? {} : (this.#user ?? {});
    if (user === undefined || user.id !== id) this.#tell(user);
  }

  async begin<S>({ session, user, token, device }: Beginning<S>): Promise<{ session: S; user: User }> {
    if (token !== undefined) await this.#store.set(token);
    if (device !== undefined) await this.#deviceStore.set(device);
    this.#tell(user);
    return { session, user };
  }

  async end(): Promise<void> {
    await this.#store.set(undefined);
    this.#tell(undefined);
  }

  /** What the service recognises this device by. */
  async device(): Promise<string | undefined> {
    return (await this.#deviceStore.get()) ?? undefined;
  }

  onChange(listener: (user: User | undefined) => void): () => void {
    const own = (user: User | undefined) => listener(user); // one function can listen twice
    this.#listeners.add(own);
    if (this.usesCookie) this.#tabs ??= this.#openTabs();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size > 0) return;
      this.#tabs?.close();
      this.#tabs = undefined;
    };
  }

  /** Another request or tab can have signed in since the request was sent, so only the refused token goes. */
  async #heed({ code }: ProblemError, own: string | undefined): Promise<void> {
    const hasEnded = code === "INVALID_TOKEN" && own !== undefined && (await this.#store.get()) === own;
    if (hasEnded) await this.end();
    // The service ignores the cookie of a session that has ended.
    else if (code === "UNAUTHENTICATED" && this.usesCookie) this.#tell(undefined);
  }

  /** Calls the listeners, each on its own: one that throws stops neither the others nor the call. */
  #tell(user: User | undefined): void {
    if (user === undefined && this.#user === undefined) return;
    this.#hear(user);
    this.#tabs?.postMessage(user);
  }

  #hear(user: User | undefined): void {
    this.#user = user;
    for (const listener of this.#listeners) queueMicrotask(() => listener(user));
  }

  #openTabs(): BroadcastChannel {
    const tabs = new BroadcastChannel(`holdfast ${this.#options.baseUrl}`);
    tabs.onmessage = ({ data }) => this.#hear(data as User | undefined);
    return tabs;
  }
}

function memory(): TextStore {
  let kept: string | undefined;
  return {
    get: () => kept,
    set: (text) => {
      kept = text;
    },
  };
}

/** Whether this program is a page from the origin of the address. */
function isOfThisPage(address: string): boolean {
  const { document, location } = globalThis as {
    document?: object;
    location?: { href: string; origin: string };
  };
  if (document === undefined || location === undefined) return false;
  return new URL(address, location.href).origin === location.origin;
}
