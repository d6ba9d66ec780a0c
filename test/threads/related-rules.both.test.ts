/** Threads that write at the same time, under a rule that looks at what the other one writes. */
import { test } from "node:test";
import { requireNoSkew, type Send, switches } from "../http/write-skew.ts";
import { threadsToTry } from "./count.ts";
import { type Client, serveThreads } from "./served.ts";

/** `npm run prove -- threads` does more. */
const pairs = Number(process.env.HOLDFAST_TEST_ROUNDS ?? 40);

const sendBy =
  (client: Client): Send =>
  (method, path, content) =>
    client.send(method, path, { content });

for (const threads of threadsToTry(1, 2))
  test(`no two writes are allowed that exclude each other, with ${threads} threads`, async (t) => {
    const service = await serveThreads(t, threads, {
      configuration: { auth: { keys: true }, collections: switches },
    });
    const [one, other] = service.clients(2).map(sendBy) as [Send, Send];
    await requireNoSkew([one, other], pairs);
  });
