/** The limit below all frameworks: node:http with a constant response. It reads requests to their end. */
import { createServer } from "node:http";
import { readConstantAnswer } from "../../harness/constant-answer.ts";
import { sayPort } from "../../harness/say-port.ts";

const { status, headers, body } = readConstantAnswer();
const hasBody = status !== 204 && status !== 304;
const all = hasBody ? { ...headers, "content-length": Buffer.byteLength(body) } : headers;
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(status, all).end(hasBody ? body : undefined));
});
server.listen(0, "127.0.0.1", () => sayPort(server));
