/** Requests with the same Idempotency-Key that reach several threads at the same time have one effect together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "../commands/cli.ts";
import { threadsToTry } from "./count.ts";
import { type Answer, type Client, type Served, serveThreads } from "./served.ts";

/** `npm run prove -- threads` does more. */
const rounds = Number(process.env.HOLDFAST_TEST_ROUNDS ?? 8);

/** More connections than threads, so that every thread gets some of the requests. */
const connections = 24;

interface Sent {
  method: string;
  path: string;
  content: unknown;
  headers?: Readonly<Record<string, string>>;
}

const sendAll = (clients: readonly Client[], key: string, requestOf: (n: number) => Sent) =>
  Promise.all(
    clients.map((client, n) => {
      const { method, path, content, headers } = requestOf(n);
      return client.send(method, path, { content, headers: { ...headers, "idempotency-key": key } });
    }),
  );

const codeOf = ({ text }: Answer): string => (JSON.parse(text) as { code: string }).code;

const isFirst = ({ status, headers }: Answer) => status < 300 && headers["idempotent-replayed"] === undefined;

/** Checks that one request took effect, and that each other one got its response or has to try again. Returns the response. */
function requireOne(answers: readonly Answer[]): Answer {
  const firsts = answers.filter(isFirst);
  assert.equal(firsts.length, 1, JSON.stringify(answers.map(({ status, text }) => [status, text])));
  const [first] = firsts as [Answer];
  for (const answer of answers) {
    if (answer.status === 409) assert.equal(codeOf(answer), "IDEMPOTENCY_IN_PROGRESS");
    else assert.deepEqual([answer.status, answer.text], [first.status, first.text]);
  }
  return first;
}

async function readJson(client: Client | undefined, path: string): Promise<unknown> {
  return JSON.parse((await client?.send("GET", path))?.text ?? "null");
}

/** Starts a service, and calls back for each round with a key of its own. */
async function inRounds(
  service: Served,
  round: (clients: readonly Client[], n: number, key: string) => Promise<void>,
): Promise<void> {
  const clients = service.clients(connections);
  for (let n = 0; n < rounds; n++) await round(clients, n, `key-${n}`);
  assert.equal((await stop(service)).exitCode, 0);
}

for (const threads of threadsToTry(2, 4)) {
  test(`creates with one key make one resource with ${threads} threads`, async (t) => {
    const service = await serveThreads(t, threads);
    await inRounds(service, async (clients, n, key) => {
      const request = { method: "POST", path: "things", content: { n } };
      const first = requireOne(await sendAll(clients, key, () => request));
      assert.equal(first.status, 201);
      for (const client of clients.slice(0, 8)) {
        const [again] = await sendAll([client], key, () => request);
        const replayed = again?.headers["idempotent-replayed"];
        assert.deepEqual([again?.status, again?.text, replayed], [201, first.text, "true"]);
      }
      const list = (await readJson(clients[n], "things?limit=100")) as unknown[];
      assert.equal(list.length, n + 1);
    });
  });

  test(`patches with one key and If-Match change a resource once with ${threads} threads`, async (t) => {
    const service = await serveThreads(t, threads);
    await inRounds(service, async (clients, n, key) => {
      const content = { list: [] };
      const made = await clients[n]?.send("POST", "things", { content });
      const path = String(made?.headers.location);
      const headers = { "content-type": "application/json-patch+json", "if-match": '"1"' };
      const patch = [{ op: "add", path: "/list/-", value: n }];
      const request = { method: "PATCH", path, content: patch, headers };
      const first = requireOne(await sendAll(clients, key, () => request));
      assert.equal(first.headers.etag, '"2"');
      const after = (await readJson(clients[0], path)) as { list: number[] };
      assert.deepEqual(after.list, [n]);
    });
  });

  test(`batches with one key take effect once with ${threads} threads, and also those that delete`, async (t) => {
    const service = await serveThreads(t, threads);
    await inRounds(service, async (clients, n, key) => {
      const made = await clients[n]?.send("POST", "things", { content: { n } });
      const { id } = JSON.parse(made?.text ?? "") as { id: string };
      const operations = [
        { method: "DELETE", path: `/things/${id}` },
        { method: "POST", path: "/others", body: { n } },
      ];
      const request = { method: "POST", path: "_batch", content: { operations } };
      requireOne(await sendAll(clients, key, () => request));
      assert.equal(((await readJson(clients[0], "others?limit=100")) as unknown[]).length, n + 1);
      assert.equal(((await readJson(clients[1], "things?limit=100")) as unknown[]).length, 0);
    });
  });

  test(`of different contents with one key, one takes effect with ${threads} threads`, async (t) => {
    const service = await serveThreads(t, threads);
    await inRounds(service, async (clients, n, key) => {
      const answers = await sendAll(clients, key, (variant) => ({
        method: "POST",
        path: "things",
        content: { n, variant },
      }));
      assert.equal(answers.filter(isFirst).length, 1);
      for (const answer of answers) {
        if (answer.status === 201) assert.ok(isFirst(answer), "another content gets no stored response");
        else assert.ok(["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_KEY_REUSED"].includes(codeOf(answer)));
      }
      assert.equal(((await readJson(clients[n], "things?limit=100")) as unknown[]).length, n + 1);
    });
  });
}
