/**
 * Requests with `Upgrade`. The service speaks only HTTP/1.1, so it answers them like any other request (RFC 9110 §7.8). Node
 * stops reading HTTP after such a request, and without a listener for "upgrade" it discards the bytes after it.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:tls";
import { hasContent } from "../protocol/content.ts";
import { ServerResponse as NodeResponse } from "../protocol/node-http.ts";
import { type Connection, inOrder } from "./connections.ts";

/**
 * Whether Node can hand over such a request. Older versions of Node cannot tell its content from the next request. A request
 * with content is therefore not handed over, and its connection must close.
 */
export function canHandOver(request: IncomingMessage): boolean {
  return !hasContent(request);
}

/** Whether the connection must close after the response, because Node has discarded the bytes after the request. */
export function closesBehind(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && hasContent(request);
}

/** Answers the requests that `canHandOver` accepts, in their order, and lets Node continue to read HTTP after them. */
export function serveUpgrades(
  server: Server,
  onTimedOut: (connection: Connection) => void,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  if (!("shouldUpgradeCallback" in server)) return; // Node before 24.9
  server.on("upgrade", (request: IncomingMessage, connection: Connection, head: Buffer) => {
    // Node has removed its own listeners. Without one for errors, an error would end the program.
    const onTimeout = () => onTimedOut(connection);
    connection.on("error", destroy).on("timeout", onTimeout);
    const response = new NodeResponse(request);
    response.shouldKeepAlive = request.httpVersion === "1.1" && !asksToClose(request);
    inOrder(connection, async () => {
      await new Promise(setImmediate); // the response before this one is detached from the connection in this turn
      response.assignSocket(connection);
      return true;
    });
    response.on("finish", () => {
      response.detachSocket(connection);
      // Not carried out if the response closes the connection.
      inOrder(connection, async () => {
        connection.off("timeout", onTimeout);
        continueReading(server, connection, head);
        return true;
      });
    });
    serve(request, response);
  });
}

function asksToClose({ headers }: IncomingMessage): boolean {
  return /\bclose\b/i.test(headers.connection ?? "");
}

function continueReading(server: Server, connection: Connection, head: Buffer): void {
  if (connection.destroyed) return;
  connection.off("error", destroy);
  if (head.length > 0) connection.unshift(head);
  server.emit(server instanceof TlsServer ? "secureConnection" : "connection", connection);
}

function destroy(this: Connection): void {
  this.destroy();
}
