/**
 * Node's HTTP module. An `import` would read all its exports. Node would then load its WebSocket client, which takes 20 ms of
 * processor time at each start.
 */
export const { createServer, STATUS_CODES, ServerResponse } = process.getBuiltinModule("node:http");
