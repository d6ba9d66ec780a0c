/** A TCP proxy in front of a database, which can be told to cut. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy that listens. */
export interface Proxy {
  port: number;
  /** Cuts all connections. */
  cut(): void;
  /** Cuts a connection as soon as the client has sent this text, and the database has it. Once. */
  cutAfter(sent: string): void;
  close(): void;
}

/** Starts a proxy to a port of this machine. */
export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let trigger: string | undefined;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let isCut = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        if (!isCut) for (const other of [client, upstream]) other.destroy();
      });
    }
    client.on("data", (chunk: Buffer) => {
      upstream.write(chunk);
      if (trigger === undefined || !chunk.includes(trigger)) return;
      trigger = undefined;
      isCut = true;
      upstream.on("data", () => {}); // what the database answers is lost
      client.destroy();
      setTimeout(() => upstream.destroy(), 200);
    });
    upstream.on("data", (chunk: Buffer) => client.write(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    cut,
    cutAfter: (sent) => {
      trigger = sent;
    },
    close() {
      server.close();
      cut();
    },
  };
}
