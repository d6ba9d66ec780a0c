/** A TCP proxy between the service and its database. It causes network faults on request. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** The fault of a connection after the client has sent a text. */
export type Cut =
  /** The text never arrives, and the connection ends. */
  | "before"
  /** The text arrives, and the connection ends before the response. */
  | "after"
  /** The text arrives, and the connection ends while the response is on its way. */
  | "answered"
  /** The text arrives, and then no byte passes, but the connection stays open. */
  | "vanish";

/** A proxy in front of one port. */
export interface FaultProxy {
  port: number;
  /** The number of open connections. */
  readonly open: number;
  /** How often a client sent bytes that were lost, except for the message that ends a connection. */
  readonly swallowed: number;
  /** The same address through the proxy. */
  urlOf(url: string): string;
  /** Resets all connections. */
  cutAll(): void;
  /** Applies the fault to the next connection on which the client sends this text. Resolves afterwards. */
  cutAt(text: string, cut: Cut): Promise<void>;
  /** From now on, bytes are lost in both directions, also on new connections. The connections stay open. */
  swallow(): void;
  /** Ends all connections. From now on, also ends new connections at once. */
  refuse(): void;
  /**
   * From now on, ends each new connection as soon as the server is ready: the message of an administrator's end arrives in the same
   * bytes as the server's first readiness.
   */
  terminate(): void;
  /** How many connections `terminate` has ended. */
  readonly terminated: number;
  /** From now on, new connections work. Lost bytes stay lost on the other connections. */
  heal(): void;
  /** Ends all connections. From now on, new connections go to another port. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

interface Trap {
  text: string;
  cut: Cut;
  sprung(): void;
}

/** Starts a proxy to a port of this machine. `own` is the port to listen on. @default a free port */
export async function startProxy(port: number, own = 0): Promise<FaultProxy> {
  const proxy = new TcpProxy(port);
  await proxy.listen(own);
  return proxy;
}

/** The type of the message with which a client of PostgreSQL ends. */
const goodbye = "X".charCodeAt(0);

/** The message of a server that is ready for the first statement. */
const ready = Buffer.from("Z\0\0\0\x05I", "latin1");

/** What the server sends when an administrator ends the connection. */
const ended = messageOf(
  "E",
  "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0",
);

function messageOf(type: string, content: string): Buffer {
  const message = Buffer.from(`${type}\0\0\0\0${content}`, "latin1");
  message.writeInt32BE(message.length - 1, 1);
  return message;
}

class TcpProxy implements FaultProxy {
  #target: number;
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #mode: "well" | "swallow" | "refuse" | "terminate" = "well";
  #trap: Trap | undefined;
  #lost = new WeakSet<readonly [Socket, Socket]>();
  port = 0;
  swallowed = 0;
  terminated = 0;

  constructor(target: number) {
    this.#target = target;
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = (this.#server.address() as { port: number }).port;
  }

  get open(): number {
    return this.#pairs.size;
  }

  urlOf(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.port);
    return changed.href;
  }

  cutAll(): void {
    for (const pair of this.#pairs) cut(pair);
  }

  cutAt(text: string, how: Cut): Promise<void> {
    return new Promise((sprung) => {
      this.#trap = { text, cut: how, sprung };
    });
  }

  swallow(): void {
    this.#mode = "swallow";
  }

  refuse(): void {
    this.#mode = "refuse";
    this.cutAll();
  }

  terminate(): void {
    this.#mode = "terminate";
  }

  heal(): void {
    if (this.#mode === "swallow") this.#lost = new WeakSet(this.#pairs);
    this.#mode = "well";
    this.#trap = undefined;
  }

  leadTo(port: number): void {
    this.#target = port;
    this.cutAll();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cutAll();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.#mode === "refuse") {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#target, "127.0.0.1");
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on("error", () => {}); // its end is what matters
      socket.on("close", () => this.#end(pair));
    }
    let sprung: Trap | undefined;
    let isNew = true;
    client.on("data", (bytes: Buffer) => {
      const isLater = sprung !== undefined;
      if (this.#swallows(pair) || (isLater && sprung?.cut === "vanish")) {
        if (bytes[0] !== goodbye) this.swallowed++;
        return;
      }
      sprung ??= this.#springs(bytes);
      if (sprung?.cut !== "before") server.write(bytes);
      if (sprung !== undefined && sprung.cut !== "answered") this.#spring(pair, sprung);
    });
    server.on("data", (bytes: Buffer) => {
      if (this.#swallows(pair)) return;
      const isReady = isNew && bytes.includes(ready);
      if (isReady) isNew = false;
      if (isReady && this.#mode === "terminate") {
        this.terminated++;
        client.end(Buffer.concat([bytes, ended]));
      } else if (sprung === undefined) client.write(bytes);
      else if (sprung.cut === "answered" && bytes.includes("COMMIT\0")) this.#spring(pair, sprung);
    });
  }

  #swallows(pair: readonly [Socket, Socket]): boolean {
    return this.#mode === "swallow" || this.#lost.has(pair);
  }

  #springs(bytes: Buffer): Trap | undefined {
    return this.#trap !== undefined && bytes.includes(this.#trap.text) ? this.#trap : undefined;
  }

  /** Ends the connection without a reset, because a reset would discard bytes that the server has not read yet. */
  #spring([client, server]: readonly [Socket, Socket], trap: Trap): void {
    this.#trap = undefined;
    trap.sprung();
    if (trap.cut === "vanish") return;
    reset(client);
    server.end();
  }

  /** Ends both sides after one of them has ended. */
  #end(pair: readonly [Socket, Socket]): void {
    this.#pairs.delete(pair);
    const [client, server] = pair;
    client.destroy();
    server.end();
  }
}

function cut(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) reset(socket);
}

/** Resets a socket. A socket that has sent its end cannot be reset, so it is destroyed. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
