import type { Server } from "node:http";

/** Prints the port that a server listens on, which is what the bench waits for; now, or as soon as it listens. */
export function sayPort(server: Server): void {
  if (!server.listening) {
    server.once("listening", () => sayPort(server));
    return;
  }
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
}
