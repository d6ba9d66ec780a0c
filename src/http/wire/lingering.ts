/**
 * Closes the connection of a client that is still sending (RFC 9112 §9.6). If the service closed it at once, the system would reset
 * the connection, and the client, or the proxy before it, would lose the response.
 */
import type { IncomingMessage } from "node:http";

/** How long the client can take to read the response and to close the connection. */
const lingerMs = 5_000;

/** Makes Node close only its side after the response. What the client still sends is discarded. */
export function closeGently({ socket }: IncomingMessage): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once("close", () => clearTimeout(timer));
  };
}
