/**
 * Measures lists: with a hundred times as many resources, compared with Fastify that responds with constant bytes, with json-server
 * on the same resources, and reads during a full scan.
 */

import { writeFileSync } from "node:fs";
import type { RunOptions } from "../harness/commands.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, median, showMs, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, type Server, startServer, stopServer } from "../harness/server.ts";
import { untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { type LoadPlan, type LoadResult, requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { articleAttributes, articles, authorOf, authors, indexes, pathAfter } from "./articles.ts";
import { fillStore } from "./fill.ts";

const sizes = { small: 10_000, large: 1_000_000 };
const limit = 20;

/** The service with a number of resources. */
interface Subject {
  effort: Effort;
  store: string;
  ids: readonly string[];
  server: Server;
}

/** Measures lists. */
export function measureLists(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const large = await startFilled(`${folder}/large.db`, shareOf(effort, sizes.large), effort);
    const small = await startFilled(`${folder}/small.db`, sizes.small, effort);
    await requireCursorOfWalk(small);
    for (const { server } of [small, large]) await untilIdle(server);
    const figures = [
      ...(await compareSizes(small, large)),
      await compareConstant(large),
      await compareJsonServer(small, `${folder}/db.json`),
    ];
    await Promise.all([stopServer(small.server), stopServer(large.server)]);
    return [...figures, await measureScan(large)];
  });
}

async function startFilled(store: string, count: number, effort: Effort): Promise<Subject> {
  const ids = await fillStore(store, count, articleAttributes, { collection: articles });
  return { effort, store, ids, server: await startService(store, { cpu: 0 }) };
}

function startService(store: string, options: RunOptions): Promise<Server> {
  // Enough time for a full scan on any machine.
  return startServer("holdfast", { store, declared: true, indexes, queryMs: 60_000 }, options);
}

/** The paths to request from a service, in a circle. */
type Ask = (subject: Subject) => readonly string[];

const byId: Ask = ({ ids }) =>
  Array.from({ length: 10_000 }, (_, n) => `/api/v1/articles/${ids[(n * 7919) % ids.length]}`);

const byAuthor: Ask = () =>
  Array.from(
    { length: authors },
    (_, n) => `/api/v1/articles?author=${authorOf(n)}&sort=-publishedOn&limit=${limit}`,
  );

/** Page 10,000, or the middle page of a small collection. */
const deepPage: Ask = ({ ids }) => [pathAfter(ids, Math.min(9_999 * limit, ids.length / 2), limit)];

async function compareSizes(small: Subject, large: Subject): Promise<Figure[]> {
  const asks: [what: string, ask: Ask][] = [
    ["GET by id", byId],
    [`a page of ${limit} by an indexed filter and sort`, byAuthor],
    ["the 10,000th page by cursor", deepPage],
  ];
  const figures: Figure[] = [];
  for (const [what, ask] of asks) {
    const plans = [small, large].map((subject) => sequentially(subject, ask(subject)));
    const [theirs = [], ours = []] = await alternate(small.effort, plans, ({ p50 }) => p50);
    figures.push(
      figureOf(
        `${what}, ${countOf(large)} resources against ${countOf(small)}, p50 on one connection`,
        { ours, theirs },
        { aim: { atMost: 1.5 }, show: (ms) => `${ms.toFixed(3)} ms` },
      ),
    );
  }
  return figures;
}

async function compareConstant(subject: Subject): Promise<Figure> {
  const { server } = subject;
  const paths = byAuthor(subject);
  const headers = { "Accept-Encoding": "identity" }; // the load accepts no coding either
  const answer = await fetch(`${originOf(server)}${paths[0]}`, { headers });
  const body = await answer.text();
  const answered = Object.fromEntries(
    [...answer.headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name)),
  );
  const constant = await startServer("constant", { headers: answered, body }, { cpu: 0 });
  const plans = [server, constant].map((each) => crowded({ ...subject, server: each }, paths));
  const [ours = [], theirs = []] = await alternate(subject.effort, plans, ({ perSecond }) => perSecond);
  await stopServer(constant);
  const what = `a page of ${limit} by an indexed filter against a Fastify constant, one processor`;
  return figureOf(what, { ours, theirs }, { aim: { atLeast: 0.5 }, show: showRate });
}

/** Compares with json-server. Both get the same requests, in the syntax of json-server: filter, sort, count and page. */
async function compareJsonServer(subject: Subject, file: string): Promise<Figure> {
  const { ids, server } = subject;
  writeFileSync(file, JSON.stringify({ articles: ids.map((id, n) => ({ id, ...articleAttributes(n) })) }));
  const other = await startServer("json-server", { file }, { cpu: 0 });
  const query = `_sort=publishedOn&_order=desc&_start=0&_end=${limit}`;
  const paths = Array.from({ length: authors }, (_, n) => `articles?author=${authorOf(n)}&${query}`);
  await requireSameArticles(`${originOf(server)}/api/v1/${paths[0]}`, `${originOf(other)}/${paths[0]}`);
  const plans = [
    crowded(
      subject,
      paths.map((path) => `/api/v1/${path}`),
    ),
    crowded(
      { ...subject, server: other },
      paths.map((path) => `/${path}`),
    ),
  ];
  const [ours = [], theirs = []] = await alternate(subject.effort, plans, ({ perSecond }) => perSecond);
  await stopServer(other);
  const what = `a page of ${limit} of 10,000 against json-server, one processor`;
  return figureOf(what, { ours, theirs }, { aim: { atLeast: 10 }, show: showRate });
}

/** Measures reads while two connections request lists that match nothing: one for each thread that runs such lists. */
async function measureScan(subject: Subject): Promise<Figure> {
  const server = await startService(subject.store, {});
  const own = { ...subject, server };
  const reads = {
    ...crowded(own, byId(own)),
    connections: 16,
    durationMs: 2 * subject.effort.durationMs,
  };
  const scans = {
    ...crowded(own, ["/api/v1/articles?title=nowhere"]),
    connections: 2,
    warmUpMs: 0,
    inOrder: true, // few responses come, and each must count
    durationMs: reads.warmUpMs + reads.durationMs,
  };
  const rounds = { ours: [] as number[], theirs: [] as number[], scans: [] as number[] };
  for (let round = 0; round < subject.effort.rounds; round++) {
    await untilIdle(server);
    const idle = await load(reads);
    const [scanned, busy] = await Promise.all([load(scans), load(reads)]);
    for (const result of [idle, scanned, busy]) requireStatus(result, "200");
    rounds.theirs.push(idle.p99);
    rounds.ours.push(busy.p99);
    rounds.scans.push(scanned.p50);
  }
  await stopServer(server);
  const what = `GET p99 while ${countOf(subject)} resources are scanned, against idle`;
  const figure = figureOf(what, rounds, { aim: { atMost: 3 }, show: showMs });
  return { ...figure, value: `${figure.value}, ${showMs(median(rounds.scans))} for a scan` };
}

/** Runs the plans in turn, and returns the rounds of each plan. */
async function alternate(
  { rounds }: Effort,
  plans: readonly LoadPlan[],
  of: (result: LoadResult) => number,
): Promise<number[][]> {
  const results: number[][] = plans.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [n, plan] of plans.entries()) {
      const result = await load(plan, { cpu: 1 });
      requireStatus(result, "200");
      results[n]?.push(of(result));
    }
  }
  return results;
}

function sequentially(subject: Subject, paths: readonly string[]): LoadPlan {
  return { ...crowded(subject, paths), connections: 1, warmUpMs: 0, counts: true }; // a median ignores the warm-up
}

function crowded({ effort, server }: Subject, paths: readonly string[]): LoadPlan {
  const { warmUpMs, durationMs } = effort;
  const requests = paths.map((path) => requestText("GET", path));
  return { port: server.port, connections: 64, warmUpMs, durationMs, requests };
}

/** Checks that a computed cursor is the same as the cursor of a client that follows links. */
async function requireCursorOfWalk({ ids, server }: Subject): Promise<void> {
  let path = `/api/v1/articles?sort=author,-publishedOn&limit=${limit}`;
  for (let page = 0; page < ids.length / 2 / limit; page++) {
    const answer = await fetch(`${originOf(server)}${path}`);
    await answer.arrayBuffer();
    path = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1] ?? "";
  }
  const made = pathAfter(ids, ids.length / 2, limit);
  if (path !== made) throw new Error(`the walk ended at ${path} instead of ${made}`);
}

async function requireSameArticles(...urls: readonly string[]): Promise<void> {
  const lists = await Promise.all(urls.map(async (url) => (await fetch(url)).json()));
  const titles = lists.map((list) => (list as { publishedOn: string }[]).map((each) => each.publishedOn));
  if (titles[0]?.length !== limit || JSON.stringify(titles[0]) !== JSON.stringify(titles[1]))
    throw new Error("the two services return different lists");
}

function countOf({ ids }: Subject): string {
  return ids.length.toLocaleString("en");
}
