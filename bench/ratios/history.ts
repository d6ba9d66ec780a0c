/** Measures the cost of the change log: durable updates and creates with it and without it. */

import { defineCollection } from "../../src/collection/declaration.ts";
import { openStore } from "../../src/store/open.ts";
import { defaultHistory, type History } from "../../src/store/port/options.ts";
import { recordOf } from "../../src/store/port/record.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, timeFigureOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { sampleAttributes, sampleSchema } from "./sample.ts";

const resources = 25_000;
/** The number of resources that the load writes to. */
const updated = 20_000;

type Write = "update" | "create";

/** Measures updates of any of many resources, and creates, in turn with a change log and without. */
export async function measureHistory(effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [write, most] of [
    ["update", 1.6],
    ["create", 1.2],
  ] as const) {
    const logged: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      logged.push(await rateOf(effort, write, defaultHistory));
      bare.push(await rateOf(effort, write, "none"));
    }
    const what = `time of a durable ${write} with the change log against history "none"`;
    figures.push(timeFigureOf(what, { ours: logged, theirs: bare }, { atMost: most }));
  }
  return figures;
}

/** Requests per second. */
function rateOf({ warmUpMs, durationMs }: Effort, write: Write, history: History): Promise<number> {
  return inFolder(async (folder) => {
    const store = `${folder}/history.db`;
    await fill(store, history);
    const server = await startServer("holdfast", { store, declared: true, history });
    const result = await load({
      port: server.port,
      connections: 64,
      warmUpMs,
      durationMs,
      requests: requestsOf(write),
    });
    await stopServer(server);
    requireStatus(result, write === "create" ? "201" : "200");
    return result.perSecond;
  });
}

const idOf = (n: number) => `01a1fe86-2bc5-7091-b38c-${String(n).padStart(12, "0")}`;

async function fill(path: string, history: History): Promise<void> {
  const articles = await defineCollection("articles", { schema: sampleSchema });
  const store = await openStore({ kind: "sqlite", path }, { history });
  const into = await store.load(recordOf(articles));
  const all = Array.from({ length: resources }, (_, n) => {
    const id = idOf(n);
    return { id, text: JSON.stringify({ id, ...sampleAttributes(n) }) };
  });
  await into.add(all);
  await into.finish();
  await store.close();
}

/** Updates go here and there; the second time round, and each time after, they make another value of each resource. */
function requestsOf(write: Write): string[] {
  return Array.from({ length: 2 * updated }, (_, n) => {
    if (write === "create")
      return requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n)));
    const id = idOf(((n % updated) * 7_919) % resources);
    const body = JSON.stringify({ id, ...sampleAttributes(n), title: `Written by request ${n}` });
    return requestText("PUT", `/api/v1/articles/${id}`, body);
  });
}
