/** Listens for requests, reloads the certificate, and stops without the loss of a request. */
import { type AddressInfo, createServer, type ListenOptions, type Server } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import { StartError } from "../errors.ts";
import type { Service } from "../http/service.ts";
import type { TlsFiles } from "../http/settings.ts";
import { type KeyPair, readKeyPair } from "../http/wire/tls.ts";

/** What to listen on, and the flag that names the port. */
export interface Listening {
  host: string;
  port: number;
  option: "--port" | "--metrics";
}

/**
 * Listens. With `reusePort`, several threads can listen on the same address: the system gives each of them a part of the
 * connections. Throws StartError.
 */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  { reusePort }: { reusePort: boolean },
): Promise<void> {
  try {
    await startListening(server, reusePort ? { host, port, reusePort } : { host, port });
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, { host, port, option: "--port" });
  }
}

/**
 * Throws StartError if a program listens on the address, or if the system has no such address. Several threads listen on one
 * port only because they ask for that, so the system would not refuse a second service that asks for it too.
 */
export async function requireFreePort({ host, port }: { host: string; port: number }): Promise<void> {
  await tryListening({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, { host, port, option: "--port" });
  });
}

/** Whether several threads can listen on one port of this system. */
export async function canReusePort({ host }: { host: string }): Promise<boolean> {
  try {
    await tryListening({ host, port: 0, reusePort: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTSUP") return false;
    return true; // `listen` reports every other error
  }
}

async function tryListening(options: { host: string; port: number; reusePort?: boolean }): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await startListening(server, options);
  await new Promise((resolve) => server.close(resolve));
}

/** Rejects with the error of the system. */
export function startListening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The error of a listener as a message for the user, if it is a fault of the configuration. */
export function listenError(error: NodeJS.ErrnoException, { host, port, option }: Listening): Error {
  switch (error.code) {
    case "EADDRINUSE":
      return new StartError(
        `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with ${option}.`,
      );
    case "EACCES":
      return new StartError(
        `This user has no permission to listen on port ${port}. Choose a port above 1023 with ${option}.`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartError(
        `This machine has no address ${host}. Choose another address with ${option === "--port" ? "--host" : option}.`,
      );
    default:
      return error;
  }
}

/** The port of a listener. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** The scheme, address and port of a listener. */
export function originOf(server: Server, isEncrypted: boolean): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `${isEncrypted ? "https" : "http"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** A service that stops accepts new connections for at most this many turns of the event loop. */
const maxAcceptingTurns = 1_000;

/** Accepts the connections in the queue of the kernel. The kernel resets those that are there when the listener closes. */
export async function acceptQueued(server: Server): Promise<void> {
  let isQueueEmpty = false;
  const onConnection = () => {
    isQueueEmpty = false;
  };
  server.on("connection", onConnection);
  for (let turn = 0; turn < maxAcceptingTurns && !isQueueEmpty; turn++) {
    isQueueEmpty = true;
    await nextTurn();
  }
  server.off("connection", onConnection);
}

/**
 * Creates a function that reads the files again, and calls `use` with their content. It never throws: if a file has a fault, it
 * logs the fault, and the previous certificate stays in use. Calls during a reload share the next reload.
 */
export function createTlsReload(
  files: TlsFiles,
  use: (pair: KeyPair) => void,
  service: Pick<Service, "log" | "now">,
): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last = last.then(() => {
      next = undefined;
      return reload(files, use, service);
    });
    return next;
  };
}

/** Uses another certificate for new connections. */
export function useKeyPair(server: Server, pair: KeyPair): void {
  if (server instanceof TlsServer) server.setSecureContext(pair);
}

async function reload(
  files: TlsFiles,
  use: (pair: KeyPair) => void,
  { log, now }: Pick<Service, "log" | "now">,
): Promise<void> {
  try {
    use(await readKeyPair(files, now()));
    log.info("the certificate was reloaded");
  } catch (error) {
    const failure = "the certificate was not reloaded, and the previous one stays in use";
    if (error instanceof StartError) log.error([failure, ...error.faults.map(({ text }) => text)].join(": "));
    else log.error({ err: error }, failure);
  }
}
