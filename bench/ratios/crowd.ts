/** A client that asks for much, in a thread of its own: it always has so many requests under way. */
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

/** What the crowds ask for. */
export type CrowdKind = "bulk" | "import" | "pages";

/** The data of the thread. */
export interface CrowdData {
  kind: CrowdKind;
  api: string;
  /** How many requests are under way. */
  together: number;
}

/** Its address, by which the service knows it from the client that is measured. */
const localAddress = "127.0.0.2";

/** An import in one commit has so many resources at most. */
const importBody = Array.from({ length: 2_000 }, (_, n) => JSON.stringify({ n, text: `line ${n}` })).join(
  "\n",
);

interface Asked {
  path: string;
  method: string;
  type?: string;
  body?: string;
}

const asked: Record<CrowdKind, (n: number) => Asked> = {
  bulk: (n) => ({
    path: "articles/_bulk",
    method: "POST",
    type: "application/json",
    body: JSON.stringify({
      filter: { author: { in: authorsOf(n) } },
      update: { rating: { $set: n % 5 } },
      max: 1_000,
    }),
  }),
  import: () => ({
    path: "imported/_import",
    method: "POST",
    type: "application/x-ndjson",
    body: importBody,
  }),
  pages: (n) => ({ path: `articles?limit=1000&rating:gte=${n % 3}`, method: "GET" }),
};

/** The authors of about 1,000 articles, if there are 25,000 of them by 1,000 authors. */
function authorsOf(n: number): string[] {
  return Array.from({ length: 40 }, (_, place) => `author-${(n * 40 + place) % 1_000}`);
}

const { kind, api, together } = workerData as CrowdData;
const agent = new Agent({ keepAlive: true });
let isOver = false;
parentPort?.once("message", () => {
  isOver = true;
});
await Promise.all(Array.from({ length: together }, (_, n) => keepAsking(n)));
agent.destroy();
parentPort?.unref();

async function keepAsking(first: number): Promise<void> {
  for (let n = first; !isOver; n += together) await ask(asked[kind](n));
}

/** Reads the response. It can be 409 or 429: then this client is refused, and the other one waits for nobody. */
function ask({ path, method, type, body }: Asked): Promise<void> {
  const headers = {
    ...(type !== undefined && { "content-type": type }),
    ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${api}/${path}`, { method, headers, agent, localAddress }, (response) => {
      const { statusCode = 0 } = response;
      if (statusCode >= 500) reject(new Error(`${path}: ${statusCode}`));
      response.on("error", reject).on("end", resolve).resume();
    });
    sent.on("error", reject).end(body);
  });
}
