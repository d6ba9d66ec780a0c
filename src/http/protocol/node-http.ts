/**
 * Node's HTTP module. An `import` of it reads all that it exports, among them the WebSocket client, which Node loads only then:
 * that takes 20 ms of processor time at each start.
 */
export const { STATUS_CODES, ServerResponse } = process.getBuiltinModule("node:http");
