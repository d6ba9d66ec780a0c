/** Finds the address of a client, and the protocol that it used. A trusted proxy states both in headers. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import proxyAddress from "@fastify/proxy-addr";
import type { HttpRequest } from "../protocol/message.ts";

type Client = HttpRequest["client"];

/** Returns the client of a request. Its properties are read when they are needed. */
export type ClientOf = (message: IncomingMessage) => Client;

/** `trustProxy` has the addresses and networks of trusted proxies. Without any, the headers of proxies do not count. */
export function createClientOf(trustProxy: readonly string[]): ClientOf {
  if (trustProxy.length === 0) return ({ socket }) => new DirectClient(socket);
  const isTrusted = proxyAddress.compile([...trustProxy]);
  return (message) => new ProxiedClient(message, isTrusted);
}

/** A client that is connected directly. */
class DirectClient implements Client {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get ip(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get protocol(): string {
    return "encrypted" in this.#socket ? "https" : "http";
  }
}

/** A client that a proxy can stand between. */
class ProxiedClient extends DirectClient {
  readonly #message: IncomingMessage;
  readonly #isTrusted: (address: string, hop: number) => boolean;

  constructor(message: IncomingMessage, isTrusted: (address: string, hop: number) => boolean) {
    super(message.socket);
    this.#message = message;
    this.#isTrusted = isTrusted;
  }

  /** The first address before the trusted proxies (`X-Forwarded-For`). */
  override get ip(): string | undefined {
    return proxyAddress.all(this.#message, this.#isTrusted).at(-1);
  }

  /** What the last proxy states (`X-Forwarded-Proto`), if it is trusted. */
  override get protocol(): string {
    const { headers, socket } = this.#message;
    const stated = headers["x-forwarded-proto"];
    const isStated = typeof stated === "string" && stated !== "";
    if (!isStated || !this.#isTrusted(socket.remoteAddress ?? "", 0)) return super.protocol;
    return stated.slice(stated.lastIndexOf(",") + 1).trim();
  }
}
