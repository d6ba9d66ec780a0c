/** The program with several threads, and requests on connections of their own. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  jsonLines,
  listening,
  type Running,
  type RunningService,
  serve,
  start,
  stop,
} from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { openTestStore } from "../http/test-store.ts";
import { type Exposition, readExposition } from "../metrics/exposition.ts";
import { until } from "../until.ts";

/** Not imported: see `src/http/protocol/node-http.ts`. */
const { Agent, request } = process.getBuiltinModule("node:http");

/** A response. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** A connection of its own, which one thread accepts. Its requests all go to that thread. */
export interface Client {
  send(
    method: string,
    path: string,
    options?: { content?: unknown; headers?: Readonly<Record<string, string>> },
  ): Promise<Answer>;
  close(): void;
}

/** A running program with its metrics. */
export interface Served extends RunningService {
  cwd: string;
  /** Opens connections. They close when the test ends. */
  clients(count: number): Client[];
  metrics(): Promise<Exposition>;
}

/** Starts the program with this many threads, on an empty store. */
export async function serveThreads(
  t: TestContext,
  threads: number,
  {
    configuration = {},
    args = [],
    env = {},
    files = {},
  }: {
    configuration?: object;
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    files?: Readonly<Record<string, string>>;
  } = {},
): Promise<Served> {
  const { address, release } = await openTestStore(makeFolder());
  t.after(release);
  const store = address.kind === "sqlite" ? `sqlite:${address.path}` : address.url;
  const content = { metrics: "127.0.0.1:0", store, drainDelayMs: 0, ...configuration };
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(content), ...files });
  const service = await serve(t, ["--threads", String(threads), ...args], { cwd, env });
  return {
    ...service,
    cwd,
    clients: (count) => Array.from({ length: count }, () => clientOf(t, service.origin)),
    metrics: () => metricsOf(service),
  };
}

/** A connection to the service. */
export function clientOf(t: TestContext, origin: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  return {
    send: (method, path, { content, headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const body = content === undefined ? undefined : JSON.stringify(content);
        const type = body === undefined ? {} : { "content-type": "application/json" };
        const url = path.startsWith("/") ? `${origin}${path}` : `${origin}/api/v1/${path}`;
        const outgoing = request(url, { method, agent, headers: { ...type, ...headers } }, (incoming) => {
          let text = "";
          incoming.setEncoding("utf8").on("data", (part: string) => (text += part));
          incoming.on("end", () =>
            resolve({ status: Number(incoming.statusCode), headers: incoming.headers, text }),
          );
          incoming.on("error", reject);
        });
        outgoing.on("error", reject).end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** The messages in a log, without the warning that the database of the tests does not flush. It occurs at most once. */
export function messagesIn(log: string): { level: number; msg: string }[] {
  const messages = jsonLines(log) as { level: number; msg: string }[];
  const isFlushWarning = ({ msg }: { msg: string }) => /^The database has fsync off/.test(msg);
  assert.ok(messages.filter(isFlushWarning).length <= 1, log);
  return messages.filter((message) => !isFlushWarning(message));
}

/** Starts a published program with two threads, and checks that both answer, also with the files that it contains. */
export async function checkThreads(
  t: TestContext,
  program: string,
  { args = [], cwd }: { args?: readonly string[]; cwd: string },
): Promise<void> {
  const flags = ["--threads", "2", "--store", "sqlite:threads.db", "--metrics", "0", "--port", "0"];
  const running = start(t, [...args, "serve", ...flags], { cwd, program });
  const origin = await listening(running);
  const clients = Array.from({ length: 48 }, () => clientOf(t, origin));
  const headers = { accept: "*/*, text/html" };
  for (const path of ["/docs/standalone.js", "/", "topics"])
    for (const client of clients)
      assert.equal((await client.send("GET", path, { headers })).status, 200, path);
  await until("both threads have answered", async () => {
    const counts = await requestsByThread({ metrics: () => metricsOf(running) });
    return [0, 1].every((thread) => (counts.get(thread) ?? 0) > 0);
  });
  const { exitCode, stderr } = await stop(running);
  assert.deepEqual({ exitCode, messages: messagesIn(stderr) }, { exitCode: 0, messages: [] });
}

/** The metrics at the address that a program has printed. */
async function metricsOf({ output }: Running): Promise<Exposition> {
  const [, place] = /metrics +(http\S+)/.exec(output().stdout) ?? [];
  assert.ok(place !== undefined, output().stdout);
  return readExposition(await (await fetch(place)).text());
}

/** How many requests each thread has answered, by its number. */
export async function requestsByThread(service: Pick<Served, "metrics">): Promise<Map<number, number>> {
  const samples = (await service.metrics()).all("holdfast_thread_requests_total");
  return new Map(samples.map(({ labels, value }) => [Number(labels.thread), value]));
}
