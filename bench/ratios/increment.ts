/** What update operators save: clients that add 1 to one number, by `$increment` and by reading, adding and writing. */
import { connect } from "node:net";
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { requestText } from "../load/requests.ts";
import { answerLength } from "../load/sockets.ts";

const clients = 64;

/** Measures increments of one resource per second, in turn with the operator and without. */
export async function measureIncrements(effort: Effort): Promise<Figure[]> {
  const operator: number[] = [];
  const rewrite: number[] = [];
  for (let round = 0; round < effort.rounds; round++) {
    operator.push(await rateOf(effort, byOperator));
    rewrite.push(await rateOf(effort, byRewrite));
  }
  const what = `$increment by ${clients} clients on one resource against read, add and PUT with If-Match`;
  return [figureOf(what, { ours: operator, theirs: rewrite }, { aim: { atLeast: 3 }, show: showRate })];
}

/** Adds 1, once. Resolves to whether it has. */
type AddOne = (send: Send, path: string) => Promise<boolean>;

const update = { "Content-Type": "application/vnd.holdfast.update+json" };

const byOperator: AddOne = async (send, path) =>
  (await send(requestText("PATCH", path, '{"n":{"$increment":1}}', update))).status === "200";

const byRewrite: AddOne = async (send, path) => {
  const { body, etag } = await send(requestText("GET", path));
  const resource = JSON.parse(body) as { n: number };
  const next = JSON.stringify({ ...resource, n: resource.n + 1 });
  return (await send(requestText("PUT", path, next, { "If-Match": etag }))).status === "200";
};

/** Successful increments per second. Throws if one of them was lost. */
function rateOf({ warmUpMs, durationMs }: Effort, addOne: AddOne): Promise<number> {
  return inFolder(async (folder) => {
    const server = await startServer("holdfast", { store: `${folder}/increment.db` });
    const url = `http://127.0.0.1:${server.port}/api/v1/counters`;
    const headers = { "Content-Type": "application/json" };
    const created = await fetch(url, { method: "POST", headers, body: '{"n":0}' });
    const { id } = (await created.json()) as { id: string };
    const startAt = performance.now() + warmUpMs;
    const endAt = startAt + durationMs;
    let all = 0;
    let counted = 0;
    await Promise.all(
      Array.from({ length: clients }, async () => {
        const { send, close } = openConnection(server.port);
        while (performance.now() < endAt) {
          if (!(await addOne(send, `/api/v1/counters/${id}`))) continue;
          all++;
          const now = performance.now();
          if (now >= startAt && now < endAt) counted++;
        }
        close();
      }),
    );
    const { n } = (await (await fetch(`${url}/${id}`)).json()) as { n: number };
    await stopServer(server);
    if (n !== all) throw new Error(`${all} increments succeeded, but the number is ${n}.`);
    return counted / (durationMs / 1_000);
  });
}

interface Answer {
  status: string;
  etag: string;
  body: string;
}

type Send = (request: string) => Promise<Answer>;

/** A connection with one request at a time. */
function openConnection(port: number): { send: Send; close(): void } {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let pending = "";
  let settle: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  socket.on("data", (chunk) => {
    pending += chunk.toString("latin1");
    if (pending.length < answerLength(pending)) return;
    const body = pending.slice(pending.indexOf("\r\n\r\n") + 4);
    const answer = { status: pending.slice(9, 12), etag: /\netag: (.*)\r/i.exec(pending)?.[1] ?? "", body };
    pending = "";
    settle?.resolve(answer);
  });
  socket.on("error", (error) => settle?.reject(error));
  const send: Send = (request) =>
    new Promise((resolve, reject) => {
      settle = { resolve, reject };
      socket.write(request);
    });
  return { send, close: () => socket.destroy() };
}
