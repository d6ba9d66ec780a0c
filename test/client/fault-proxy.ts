/** A proxy between client and service that loses messages on request. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy that runs. */
export interface FaultProxy {
  origin: string;
  /**
   * Closes the connection instead of passing on the responses to this many requests, which the service has carried out. Waits
   * for `beforehand` before it closes the connection.
   */
  loseAnswers(count: number, beforehand?: () => Promise<unknown>): void;
  /** How many requests have gone through. */
  readonly requests: number;
  stop(): Promise<void>;
}

/** Starts a proxy to a port of this machine. */
export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let toLose = 0;
  let first: () => Promise<unknown> = async () => {};
  let requests = 0;
  const server = createServer((client) => {
    const service = connect(port, "127.0.0.1");
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (/^[A-Z]+ \/\S* HTTP\/1/.test(bytes.toString("latin1"))) requests++;
      service.write(bytes);
    });
    service.on("data", (bytes) => {
      if (toLose > 0) {
        toLose--;
        void first().finally(() => client.destroy());
      } else client.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswers(count, beforehand = async () => {}) {
      toLose = count;
      first = beforehand;
    },
    get requests() {
      return requests;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
