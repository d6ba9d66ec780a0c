import type { Server } from "node:http";

/** Prints the port that a server listens on, which is what the bench waits for. */
export function sayPort(server: Server): void {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
}
