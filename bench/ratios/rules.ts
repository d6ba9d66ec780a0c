/** Measures the cost of a rule: a list that a rule restricts to the caller, compared with the same filter in the request. */
import { writeFileSync } from "node:fs";
import { defineCollection } from "../../src/collection/declaration.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, timeFigureOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Side } from "../harness/turns.ts";
import { makeKey, requestsOf } from "./auth.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 20_000;
const author = "author-7";
const pages = Array.from({ length: 20 }, (_, n) => n + 1);

/** Measures lists, a round of each kind in turn. */
export function measureRules(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const asking = await serve(`${folder}/asking`, undefined);
    const ruled = await serve(`${folder}/ruled`, { read: { where: { author: "$subject" } } });
    const sideOf = ({ server, key }: typeof asking, filter: string): Side => {
      return { server, requests: requestsOf(pathsWith(filter), key), status: "200" };
    };
    const turns = await measureInTurn(
      { asking: sideOf(asking, `&author=${author}`), ruled: sideOf(ruled, "") },
      effort,
      { connections: 64, loadCpu: 1 },
    );
    await stopServer(asking.server);
    await stopServer(ruled.server);
    const what = "time of a list by a rule against the same list by a filter, one processor";
    return [timeFigureOf(what, { ours: turns.ruled.rates, theirs: turns.asking.rates }, { atMost: 1.05 })];
  });
}

const pathsWith = (filter: string) => pages.map((limit) => `/api/v1/articles?limit=${limit}${filter}`);

async function serve(path: string, access: object | undefined): Promise<{ server: Server; key: string }> {
  const store = `${path}.db`;
  const config = `${path}.json`;
  const declared = { indexes: ["author"] };
  await fillStore(store, resources, sampleAttributes, {
    collection: await defineCollection("articles", declared),
  });
  const articles = access === undefined ? declared : { ...declared, access };
  writeFileSync(config, JSON.stringify({ auth: { keys: true }, collections: { articles } }));
  const key = await makeKey(store, author);
  return { server: await startServer("holdfast", { store, config }, { cpu: 0 }), key };
}
