/** Measures the cost of a precondition: durable updates with and without If-Match. */
import type { Effort } from "../harness/effort.ts";
import { type Figure, timeFigureOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { sampleAttributes } from "./sample.ts";

const connections = 64;
/** More than a connection can do in a second; if one got to the end, the next one's tags would be stale. */
const updatesEach = 500;

/** Measures replacements, a resource for each connection, in turn with If-Match and without. */
export async function measureUpdates(effort: Effort): Promise<Figure[]> {
  const guarded: number[] = [];
  const free: number[] = [];
  for (let round = 0; round < effort.rounds; round++) {
    guarded.push(await rateOf(effort, true));
    free.push(await rateOf(effort, false));
  }
  const what = "time of a durable update with If-Match against one without";
  return [timeFigureOf(what, { ours: guarded, theirs: free }, { atMost: 1.3 })];
}

/** Updates per second. */
function rateOf({ warmUpMs, durationMs }: Effort, isGuarded: boolean): Promise<number> {
  return inFolder(async (folder) => {
    const server = await startServer("holdfast", { store: `${folder}/update.db`, declared: true });
    const url = `http://127.0.0.1:${server.port}/api/v1/articles`;
    const ids = await Promise.all(Array.from({ length: connections }, (_, n) => create(url, n)));
    const result = await load({
      port: server.port,
      connections,
      warmUpMs,
      durationMs,
      inOrder: true,
      requests: ids.flatMap((id) => updatesOf(id, isGuarded, Math.ceil((warmUpMs + durationMs) / 1_000))),
    });
    await stopServer(server);
    requireStatus(result, "200");
    return result.perSecond;
  });
}

async function create(url: string, n: number): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(sampleAttributes(n)) });
  return ((await answer.json()) as { id: string }).id;
}

/** One after the other: each names the version that the one before it made. */
function updatesOf(id: string, isGuarded: boolean, seconds: number): string[] {
  return Array.from({ length: updatesEach * seconds }, (_, n) => {
    const body = JSON.stringify({ id, ...sampleAttributes(n), title: `Written by update ${n}` });
    const text = requestText("PUT", `/api/v1/articles/${id}`, body);
    return isGuarded ? text.replace("\r\n", `\r\nIf-Match: "${n + 1}"\r\n`) : text;
  });
}
