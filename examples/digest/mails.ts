/** A mail service for the digest, which prints each mail instead of sending it. Run: npx node examples/digest/mails.ts */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

const known = new Set<unknown>();

const server = createServer(async (request, response) => {
  const { to, subject, text } = (await json(request)) as Record<string, string>;
  const key = request.headers["idempotency-key"];
  if (!known.has(key)) console.log(`To: ${to}\nSubject: ${subject}\n\n${text}\n`);
  known.add(key);
  response.writeHead(202).end();
});

server.listen(Number(process.env.PORT ?? 4000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`mails to http://127.0.0.1:${port}/`);
});
