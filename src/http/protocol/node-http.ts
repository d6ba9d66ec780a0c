/**
 * Node's HTTP module. An `import` would read all its exports. Node would then load its WebSocket client, which takes 20 ms of
 * processor time at each start.
 */
import type { Server } from "node:http";
import type { ServerOptions } from "node:https";

export const { createServer, STATUS_CODES, ServerResponse } = process.getBuiltinModule("node:http");

/** Creates a server that encrypts. Only this call loads Node's module for it. */
export function createSecureServer(options: ServerOptions & { allowHalfOpen: boolean }): Server {
  return process.getBuiltinModule("node:https").createServer(options);
}
