/**
 * Requests with `Upgrade` or the method CONNECT. The service speaks only HTTP/1.1, so it answers them like any other request
 * (RFC 9110 §7.8). Node stops reading HTTP after such a request. Without a listener for "upgrade", it discards the bytes after
 * it, and without one for "connect", it closes the connection.
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

/**
 * Answers the requests that `canHandOver` accepts, in their order, and lets Node continue to read HTTP after them. After a
 * CONNECT, the connection closes, because the bytes after it are not HTTP.
 */
export function serveUpgrades(
  server: Server,
  onTimedOut: (connection: Connection) => void,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on("connect", answer);
  if ("shouldUpgradeCallback" in server) server.on("upgrade", answer); // Node before 24.9 has no such callback

  function answer(request: IncomingMessage, connection: Connection, head: Buffer): void {
    // Node has removed its own listeners. Without one for errors, an error would end the program.
    const onTimeout = () => onTimedOut(connection);
    connection.on("error", destroy).on("timeout", onTimeout);
    if (head.length > 0) connection.unshift(head); // at once: not possible after the client has closed its side
    const response = new NodeResponse(request);
    response.shouldKeepAlive =
      request.httpVersion === "1.1" && request.method !== "CONNECT" && !asksToClose(request);
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
        continueReading(server, connection);
        return true;
      });
    });
    serve(request, response);
  }
}

function asksToClose({ headers }: IncomingMessage): boolean {
  return /\bclose\b/i.test(headers.connection ?? "");
}

function continueReading(server: Server, connection: Connection): void {
  if (connection.destroyed) return;
  if (connection.readableEnded) return void connection.end();
  connection.off("error", destroy);
  server.emit(server instanceof TlsServer ? "secureConnection" : "connection", connection);
}

function destroy(this: Connection): void {
  this.destroy();
}
