/**
 * Lists on PostgreSQL: pages by an indexed filter and sort against reads of single resources, and with a hundred times as many
 * resources. Pages that are asked for again and again, and pages that are asked for once.
 */
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { databaseFor } from "../harness/postgres.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { articleAttributes, articles, authorOf, authors, indexes } from "./articles.ts";
import { fillStore } from "./fill.ts";

const sizes = { small: 10_000, large: 1_000_000 };
const limit = 20;

/** The service with a number of resources. */
interface Subject {
  ids: readonly string[];
  server: Server;
}

/** Measures lists on PostgreSQL, a round of each kind in turn. */
export function measurePostgresLists(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const large = await startFilled(`${folder}/large`, shareOf(effort, sizes.large));
    const small = await startFilled(`${folder}/small`, sizes.small);
    const rates = {
      read: [[], []],
      repeated: [[], []],
      different: [[], []],
    } as Record<keyof typeof asks, [number[], number[]]>;
    for (let round = 0; round < effort.rounds; round++) {
      for (const name of Object.keys(asks) as (keyof typeof asks)[]) {
        for (const [n, subject] of [small, large].entries())
          rates[name][n]?.push(await rateOf(effort, subject, asks[name](subject)));
      }
    }
    for (const { server } of [small, large]) await stopServer(server);
    const { read, repeated, different } = rates;
    return [
      compare("a repeated page of 20 against GET by id", [repeated[0], read[0]], { atLeast: 0.35 }),
      compare("different pages of 20 against GET by id", [different[0], read[0]]),
      compare(`a repeated page, 10,000 resources against ${countOf(large)}`, repeated, { atMost: 1.5 }),
      compare(`different pages, 10,000 resources against ${countOf(large)}`, different, { atMost: 1.5 }),
    ];
  });
}

async function startFilled(folder: string, count: number): Promise<Subject> {
  const store = await databaseFor(folder);
  const ids = await fillStore(store, count, articleAttributes, { collection: articles });
  return { ids, server: await startServer("holdfast", { store, declared: true, indexes }, { cpu: 0 }) };
}

/** The paths to request, in a circle. */
const asks = {
  read: ({ ids }: Subject) =>
    Array.from({ length: 10_000 }, (_, n) => `/api/v1/articles/${ids[(n * 7919) % ids.length]}`),
  repeated: () => Array.from({ length: authors }, (_, n) => pageOf(n, "")),
  /** So many that no page is in a cache when it comes again. All are full. */
  different: () =>
    Array.from({ length: 30 * authors }, (_, n) =>
      pageOf(n % authors, `&publishedOn:gte=2016-01-${String(1 + Math.floor(n / authors)).padStart(2, "0")}`),
    ),
};

function pageOf(author: number, more: string): string {
  return `/api/v1/articles?author=${authorOf(author)}&sort=-publishedOn&limit=${limit}${more}`;
}

async function rateOf(effort: Effort, { server }: Subject, paths: readonly string[]): Promise<number> {
  const { warmUpMs, durationMs } = effort;
  const requests = paths.map((path) => requestText("GET", path));
  const result = await load(
    { port: server.port, connections: 64, warmUpMs, durationMs, requests, counts: true },
    { cpu: 1 },
  );
  requireStatus(result, "200");
  return result.perSecond;
}

function compare(what: string, [ours, theirs]: readonly [number[], number[]], aim?: Aim): Figure {
  return figureOf(`PostgreSQL: ${what}`, { ours, theirs }, { aim, show: showRate });
}

function countOf({ ids }: Subject): string {
  return ids.length.toLocaleString("en");
}
