/**
 * Requests with `Upgrade`: requests like any other, since the service speaks nothing but HTTP/1.1 (RFC 9110 §7.8).
 * Node ends its reading of HTTP behind one, and without a listener for "upgrade" throws away what came along.
 */
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:tls";
import { hasContent } from "../protocol/content.ts";
import { type Connection, inOrder } from "./connections.ts";

/**
 * Whether Node may hand such a request over. Where it has content, older versions of Node cannot tell that from the
 * next request; Node then answers by itself, and the connection must close.
 */
export function canHandOver(request: IncomingMessage): boolean {
  return !hasContent(request);
}

/** Whether the connection must close behind the answer, for Node has thrown away what came along with the request. */
export function closesBehind(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && hasContent(request);
}

/** Answers what is handed over by `canHandOver`, in its turn, and lets Node read HTTP again behind it. */
export function serveUpgrades(
  server: Server,
  whenTimedOut: (connection: Connection) => void,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  if (!("shouldUpgradeCallback" in server)) return; // Node before 24.9
  server.on("upgrade", (request: IncomingMessage, connection: Connection, head: Buffer) => {
    // Node has taken its own listeners away; without one for errors the program would end.
    const onTimeout = () => whenTimedOut(connection);
    connection.on("error", destroy).on("timeout", onTimeout);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = request.httpVersion === "1.1" && !asksToClose(request);
    inOrder(connection, async () => {
      await new Promise(setImmediate); // the answer before lets go of the connection in this turn
      response.assignSocket(connection);
      return true;
    });
    response.on("finish", () => {
      response.detachSocket(connection);
      // Not carried out when the answer closes the connection.
      inOrder(connection, async () => {
        connection.off("timeout", onTimeout);
        goOn(server, connection, head);
        return true;
      });
    });
    serve(request, response);
  });
}

function asksToClose({ headers }: IncomingMessage): boolean {
  return /\bclose\b/i.test(headers.connection ?? "");
}

function goOn(server: Server, connection: Connection, head: Buffer): void {
  if (connection.destroyed) return;
  connection.off("error", destroy);
  if (head.length > 0) connection.unshift(head);
  server.emit(server instanceof TlsServer ? "secureConnection" : "connection", connection);
}

function destroy(this: Connection): void {
  this.destroy();
}
