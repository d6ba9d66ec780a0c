/** The yardstick below all frameworks: node:http answering one constant, and reading what is sent to its end. */
import { createServer } from "node:http";

const {
  status = 200,
  headers,
  body,
} = JSON.parse(process.argv[2] as string) as {
  status?: number;
  headers: Record<string, string>;
  body: string;
};
const hasBody = status !== 204 && status !== 304;
const all = hasBody ? { ...headers, "content-length": Buffer.byteLength(body) } : headers;
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(status, all).end(hasBody ? body : undefined));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
});
