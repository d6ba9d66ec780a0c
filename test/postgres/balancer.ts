/** A TCP balancer: each new connection goes to the next instance that accepts it. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A balancer in front of several ports, which may change. */
export interface Balancer {
  port: number;
  close(): Promise<void>;
}

/** Starts a balancer. `ports` returns the ports of the current instances. */
export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    client.on("error", () => {});
    open.add(client);
    client.on("close", () => open.delete(client));
    const all = ports();
    const first = turn++;
    const tryFrom = (tries: number) => {
      const port = all[(first + tries) % all.length];
      if (tries === all.length || port === undefined) return client.destroy();
      const instance = connect(port, "127.0.0.1");
      instance.once("error", () => (instance.connecting ? tryFrom(tries + 1) : client.destroy()));
      instance.once("connect", () => {
        instance.removeAllListeners("error");
        instance.on("error", () => client.destroy());
        instance.on("close", () => client.destroy());
        client.on("close", () => instance.destroy());
        client.pipe(instance).pipe(client);
      });
      return client;
    };
    tryFrom(0);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      server.close();
      for (const client of open) client.destroy();
      await once(server, "close");
    },
  };
}
