/** A payment service for the shop, which only says that it has charged a card. Run: npx node examples/shop/payments.ts */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** The charges by their key, so that a charge that is asked for again is made once. */
const charges = new Map<string, object>();

const server = createServer(async (request, response) => {
  const { card, amount } = (await json(request)) as { card?: string; amount?: number };
  if (card !== "4242") return response.writeHead(402).end();
  const key = String(request.headers["idempotency-key"]);
  if (!charges.has(key)) console.log(`charged ${amount} for ${key}`);
  charges.set(key, { card, amount });
  response.writeHead(201).end();
});

server.listen(Number(process.env.PORT ?? 4000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`payments at http://127.0.0.1:${port}/`);
});
