import type { Server } from "node:http";

/** Prints the port of a server when it listens. The bench waits for this. */
export function sayPort(server: Server): void {
  if (!server.listening) {
    server.once("listening", () => sayPort(server));
    return;
  }
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
}
