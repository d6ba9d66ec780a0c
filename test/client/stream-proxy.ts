/** A proxy between client and service that cuts, stalls and redirects connections. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy that runs. */
export interface StreamProxy {
  origin: string;
  /** The port of the service that new connections reach. */
  target: number;
  /** Called for each connection: after how many bytes of responses it is cut. @default never */
  cutAfter: () => number;
  /** The number of connections so far, of open ones with a request, and of bytes that clients were sent. */
  readonly connections: number;
  readonly open: number;
  readonly sent: number;
  /** Sends nothing more on the connections that are open now, and leaves them open. */
  stall(): void;
  /** Cuts all connections. */
  cut(): void;
  stop(): Promise<void>;
}

/** Starts a proxy to a port of this machine. Streams ask their clients to come back after one millisecond. */
export async function startStreamProxy(target: number): Promise<StreamProxy> {
  const clients = new Set<Socket>();
  /** Those that have sent a request: Node's fetch opens another connection when it cuts one. */
  const used = new Set<Socket>();
  const stalled = new WeakSet<Socket>();
  const counts = { connections: 0, sent: 0 };
  const server = createServer((client) => {
    counts.connections++;
    clients.add(client);
    let left = proxy.cutAfter();
    const service = connect(proxy.target, "127.0.0.1");
    client.on("data", (bytes) => {
      used.add(client);
      service.write(bytes);
    });
    service.on("data", (bytes) => {
      if (stalled.has(client)) return;
      const sooner = bytes.toString("latin1").replace("retry: 3000", "retry: 0001");
      const part = Buffer.from(sooner, "latin1").subarray(0, left);
      left -= part.length;
      counts.sent += part.length;
      if (!client.write(part)) service.pause();
      if (left === 0) client.destroySoon();
    });
    client.on("drain", () => service.resume());
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        clients.delete(client);
        used.delete(client);
        other.destroy();
      });
    }
    service.on("end", () => client.end());
  });
  const cut = () => {
    for (const client of clients) client.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: StreamProxy = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    cutAfter: () => Number.POSITIVE_INFINITY,
    get connections() {
      return counts.connections;
    },
    get open() {
      return used.size;
    },
    get sent() {
      return counts.sent;
    },
    stall() {
      for (const client of clients) stalled.add(client);
    },
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
