/** The receivers of a service: connections to addresses that were checked, and how many requests run at the same time. */
import type { Agent, ClientRequest, ClientRequestArgs } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type AllowList, allowedAddressOf, hostOf, type Resolve } from "./addresses.ts";

// An `import` would load all of the modules at each start.
const { Agent: HttpAgent } = process.getBuiltinModule("node:http");

/** What decides where connections can go. */
export interface ReceiverParts {
  allow: AllowList;
  resolve: Resolve;
}

/**
 * A connection without a request is closed after `idleMs`. One that is older than `ageMs` is not used again, so that a
 * receiver can move to another address. `idle` connections of one receiver are kept.
 */
const kept = { idle: 8, idleMs: 5_000, ageMs: 60_000 };

/** The most requests to one receiver at the same time. */
const maxAtOnce = 8;

type Done = (error: Error | null, socket: Duplex) => void;

/** Opens a connection, and calls `done` with it. */
type Open = (options: ClientRequestArgs, done: Done) => undefined;

/** The receivers of all webhooks of one service. */
export class Receivers {
  readonly #parts: ReceiverParts;
  readonly #plain: Agent;
  readonly #secure: Agent;
  readonly #lookups = new Map<string, Promise<readonly string[]>>();
  /** The requests of each receiver, by its origin. */
  readonly #requests = new Map<string, { running: number; waiting: (() => void)[] }>();

  constructor(parts: ReceiverParts) {
    this.#parts = { ...parts, resolve: (host) => this.#resolve(host, parts.resolve) };
    this.#plain = this.#agentFor("http:");
    this.#secure = this.#agentFor("https:");
  }

  /** Runs work for the receiver at a URL, when fewer than 8 others run. One receiver never waits for another. */
  async inTurn<T>(url: string, work: () => Promise<T>): Promise<T> {
    const { origin } = new URL(url);
    const requests = this.#requests.get(origin) ?? { running: 0, waiting: [] };
    this.#requests.set(origin, requests);
    if (requests.running >= maxAtOnce) await new Promise<void>((start) => requests.waiting.push(start));
    else requests.running++;
    try {
      return await work();
    } finally {
      const next = requests.waiting.shift();
      if (next !== undefined) next();
      else if (--requests.running === 0) this.#requests.delete(origin);
    }
  }

  /**
   * Starts a request, which no signal ends before it has a connection. With `isFresh`, it opens a connection that is not
   * kept. The request emits NotAllowed, and the errors of the resolver.
   */
  request(url: URL, options: ClientRequestArgs, isFresh: boolean): ClientRequest {
    const isSecure = url.protocol === "https:";
    const { request: send } = process.getBuiltinModule(isSecure ? "node:https" : "node:http"); // TLS only if it is needed
    if (!isFresh) return send(url, { ...options, agent: isSecure ? this.#secure : this.#plain });
    const createConnection = (args: ClientRequestArgs, done: Done) => this.#open(url.protocol, args, done);
    return send(url, { ...options, defaultPort: isSecure ? 443 : 80, createConnection });
  }

  /** Checks that the service can connect to a URL now. Throws NotAllowed, and the errors of the resolver. */
  async check(url: URL): Promise<void> {
    await allowedAddressOf(url, this.#parts);
  }

  /** Closes all connections. */
  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #agentFor(protocol: "http:" | "https:"): Agent {
    return new KeepingAgent(protocol, (options, done) => this.#open(protocol, options, done));
  }

  #open(protocol: string, { host, port }: ClientRequestArgs, done: Done): undefined {
    this.#connect(protocol, hostOf(String(host)), Number(port)).then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as unknown as Duplex), // the type lacks the failure
    );
  }

  async #connect(protocol: string, host: string, port: number): Promise<Socket> {
    const address = await allowedAddressOf({ protocol, hostname: host }, this.#parts);
    if (protocol !== "https:") return connect({ host: address, port });
    const { connect: connectSecurely } = process.getBuiltinModule("node:tls");
    const servername = isIP(host) === 0 ? host : "";
    return connectSecurely({ host: address, port, servername, ALPNProtocols: ["http/1.1"] });
  }

  /** Looks a name up once for all connections that wait for it. A slow name server then delays no other receiver. */
  #resolve(host: string, resolve: Resolve): Promise<readonly string[]> {
    const known = this.#lookups.get(host);
    if (known !== undefined) return known;
    const lookup = resolve(host).finally(() => this.#lookups.delete(host));
    this.#lookups.set(host, lookup);
    return lookup;
  }
}

/** Keeps connections, but not old ones. Like each agent of a program, it uses no proxy of the environment. */
class KeepingAgent extends HttpAgent {
  readonly #open: Open;
  readonly #openedAt = new WeakMap<Duplex, number>();

  constructor(protocol: "http:" | "https:", open: Open) {
    super({ keepAlive: true, maxFreeSockets: kept.idle, timeout: kept.idleMs });
    Object.assign(this, { protocol, defaultPort: protocol === "https:" ? 443 : 80 });
    this.#open = open;
  }

  override createConnection(options: ClientRequestArgs, done: Done): undefined {
    return this.#open(options, (error, socket) => {
      if (error === null) this.#openedAt.set(socket, performance.now());
      done(error, socket);
    });
  }

  override keepSocketAlive(socket: Duplex): boolean {
    const age = performance.now() - (this.#openedAt.get(socket) ?? 0);
    return age < kept.ageMs && Boolean(super.keepSocketAlive(socket));
  }
}
