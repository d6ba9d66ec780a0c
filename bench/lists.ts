/**
 * Lists: what a hundred times as many resources cost, a page against Fastify answering the same bytes as a constant,
 * what reads feel of a full scan, and json-server on the same resources.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { articleAttributes, articles, authorOf, authors, indexes, pathAfter } from "./articles.ts";
import { fillStore } from "./fill.ts";
import {
  type Figure,
  inFolder,
  load,
  median,
  requestText,
  requireStatus,
  type Server,
  type ServerOptions,
  startServer,
  stopServer,
} from "./harness.ts";
import type { LoadPlan, LoadResult } from "./load.ts";

const sizes = { small: 10_000, large: 1_000_000 };
const rounds = 3;
const limit = 20;

/** The service on so many resources. */
interface Subject {
  store: string;
  ids: readonly string[];
  server: Server;
}

/** Measures lists. */
export function measureLists(): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const large = await startFilled(`${folder}/large.db`, sizes.large);
    const small = await startFilled(`${folder}/small.db`, sizes.small);
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

async function startFilled(store: string, count: number): Promise<Subject> {
  const ids = await fillStore(store, count, articleAttributes, { collection: articles });
  return { store, ids, server: await startService(store, { cpu: 0 }) };
}

function startService(store: string, options: ServerOptions): Promise<Server> {
  // So much time that a scan of everything comes to its end on any machine.
  return startServer("holdfast", { store, declared: true, indexes, queryMs: 60_000 }, options);
}

/** What is asked of either size, as paths; each goes round in them. */
type Ask = (subject: Subject) => readonly string[];

const byId: Ask = ({ ids }) =>
  Array.from({ length: 10_000 }, (_, n) => `/api/v1/articles/${ids[(n * 7919) % ids.length]}`);

const byAuthor: Ask = () =>
  Array.from(
    { length: authors },
    (_, n) => `/api/v1/articles?author=${authorOf(n)}&sort=-publishedOn&limit=${limit}`,
  );

/** The small collection does not have 10,000 pages: its middle one stands for them. */
const deepPage: Ask = ({ ids }) => [pathAfter(ids, Math.min(9_999 * limit, ids.length / 2), limit)];

async function compareSizes(small: Subject, large: Subject): Promise<Figure[]> {
  const asks: [what: string, ask: Ask][] = [
    ["GET by id", byId],
    [`a page of ${limit} by an indexed filter and sort`, byAuthor],
    ["the 10,000th page by cursor", deepPage],
  ];
  const figures: Figure[] = [];
  for (const [what, ask] of asks) {
    const plans = [small, large].map((subject) => sequentially(subject.server, ask(subject)));
    const [own = Number.NaN, hundredfold = Number.NaN] = await alternate(plans, ({ p50 }) => p50);
    figures.push({
      what: `${what}, 1,000,000 resources against 10,000, p50 on one connection`,
      ratio: hundredfold / own,
      aim: { atMost: 1.5 },
      value: `${hundredfold.toFixed(3)} ms against ${own.toFixed(3)} ms`,
    });
  }
  return figures;
}

async function compareConstant({ server }: Subject): Promise<Figure> {
  const paths = byAuthor({ ids: [], store: "", server });
  const answer = await fetch(`http://127.0.0.1:${server.port}${paths[0]}`);
  const body = await answer.text();
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name)),
  );
  const constant = await startServer("constant", { headers, body }, { cpu: 0 });
  const plans = [server, constant].map((each) => crowded(each, paths));
  const [own = Number.NaN, theirs = Number.NaN] = await alternate(plans, ({ perSecond }) => perSecond);
  await stopServer(constant);
  return {
    what: `a page of ${limit} by an indexed filter against a Fastify constant, one core`,
    ratio: own / theirs,
    aim: { atLeast: 0.5 },
    value: `${Math.round(own)}/s against ${Math.round(theirs)}/s`,
  };
}

/** Asked in the words of json-server, which the service knows too, so that both do the same: filter, sort, count, cut. */
async function compareJsonServer({ ids, server }: Subject, file: string): Promise<Figure> {
  writeFileSync(file, JSON.stringify({ articles: ids.map((id, n) => ({ id, ...articleAttributes(n) })) }));
  const other = await startServer("json-server", { file }, { cpu: 0 });
  const query = `_sort=publishedOn&_order=desc&_start=0&_end=${limit}`;
  const paths = Array.from({ length: authors }, (_, n) => `articles?author=${authorOf(n)}&${query}`);
  await requireSameArticles(`${originOf(server)}/api/v1/${paths[0]}`, `${originOf(other)}/${paths[0]}`);
  const plans = [
    crowded(
      server,
      paths.map((path) => `/api/v1/${path}`),
    ),
    crowded(
      other,
      paths.map((path) => `/${path}`),
    ),
  ];
  const [own = Number.NaN, theirs = Number.NaN] = await alternate(plans, ({ perSecond }) => perSecond);
  await stopServer(other);
  return {
    what: `a page of ${limit} of 10,000 against json-server, one core`,
    ratio: own / theirs,
    aim: { atLeast: 10 },
    value: `${Math.round(own)}/s against ${Math.round(theirs)}/s`,
  };
}

/** Two connections ask for what is nowhere, again and again, as many as there are threads for such lists. */
async function measureScan({ store, ids }: Subject): Promise<Figure> {
  const server = await startService(store, {});
  const reads = { ...crowded(server, byId({ ids, store, server })), connections: 16, durationMs: 6_000 };
  const scans = {
    ...crowded(server, ["/api/v1/articles?title=nowhere"]),
    connections: 2,
    durationMs: reads.warmUpMs + reads.durationMs,
  };
  await untilIdle(server);
  const idle = await load(reads);
  const [scanned, busy] = await Promise.all([load(scans), load(reads)]);
  await stopServer(server);
  requireStatus(idle, "200");
  requireStatus(busy, "200");
  requireStatus(scanned, "200");
  return {
    what: "GET p99 while 1,000,000 resources are scanned, against idle",
    ratio: busy.p99 / idle.p99,
    aim: { atMost: 3 },
    value: `${busy.p99.toFixed(2)} ms against ${idle.p99.toFixed(2)} ms, ${scanned.p50.toFixed(0)} ms for a scan`,
  };
}

/** Runs the plans in turn, and gives the median of each one's rounds. */
async function alternate(plans: readonly LoadPlan[], of: (result: LoadResult) => number): Promise<number[]> {
  const results: number[][] = plans.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [n, plan] of plans.entries()) {
      const result = await load(plan, { cpu: 1 });
      requireStatus(result, "200");
      results[n]?.push(of(result));
    }
  }
  return results.map(median);
}

function sequentially(server: Server, paths: readonly string[]): LoadPlan {
  return { ...crowded(server, paths), connections: 1, durationMs: 1_500 };
}

function crowded({ port }: Server, paths: readonly string[]): LoadPlan {
  const requests = paths.map((path) => requestText("GET", path));
  return { port, connections: 64, warmUpMs: 1_000, durationMs: 2_500, requests };
}

/** A cursor that is made must be the one that a client comes to. */
async function requireCursorOfWalk({ ids, server }: Subject): Promise<void> {
  let path = `/api/v1/articles?sort=author,-publishedOn&limit=${limit}`;
  for (let page = 0; page < ids.length / 2 / limit; page++) {
    const answer = await fetch(`${originOf(server)}${path}`);
    await answer.arrayBuffer();
    path = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1] ?? "";
  }
  const made = pathAfter(ids, ids.length / 2, limit);
  if (path !== made) throw new Error(`the walk came to ${path} rather than to ${made}`);
}

async function requireSameArticles(...urls: readonly string[]): Promise<void> {
  const lists = await Promise.all(urls.map(async (url) => (await fetch(url)).json()));
  const titles = lists.map((list) => (list as { publishedOn: string }[]).map((each) => each.publishedOn));
  if (titles[0]?.length !== limit || JSON.stringify(titles[0]) !== JSON.stringify(titles[1]))
    throw new Error("the two services give different lists");
}

/** A service looks for damage in its file when it starts, which takes a while where that is large. */
async function untilIdle({ child }: Server): Promise<void> {
  let before: number;
  let now = ticksOf(child.pid ?? 0);
  do {
    before = now;
    await sleep(500);
    now = ticksOf(child.pid ?? 0);
  } while (now - before > 2);
}

/** The time on processors that a process has taken; 0 where the system does not tell. */
function ticksOf(process: number): number {
  const file = `/proc/${process}/stat`;
  const [, , , ...fields] = existsSync(file) ? readFileSync(file, "utf8").split(" ") : [];
  return Number(fields[10] ?? 0) + Number(fields[11] ?? 0); // utime and stime, proc_pid_stat(5)
}

function originOf({ port }: Server): string {
  return `http://127.0.0.1:${port}`;
}
