/** Durable POST through the whole path, against the same service without group commit and a server that checks nothing. */
import {
  type Figure,
  has,
  inFolder,
  load,
  median,
  requestText,
  requireStatus,
  type ServerOptions,
  sampleAttributes,
  startServer,
  stopServer,
} from "./harness.ts";

const rounds = 3;

/** Measures creates on the disk as it is, and with 2 ms added to each flush. */
export async function measureCreates(): Promise<Figure[]> {
  const bareDisk = await rates({});
  const figures: Figure[] = [
    compare("durable POST with group commit against without", bareDisk.grouped, bareDisk.single, 3),
    compare("durable POST against a bare server with the same writer", bareDisk.grouped, bareDisk.bare, 0.5),
  ];
  if (!has("strace"))
    return [...figures, { what: "with 2 ms added to each flush", value: "skipped, needs strace" }];
  const slowDisk = await rates({ flushDelayUs: 2_000 }, ["grouped", "single"]);
  figures.push(compare("the same with 2 ms added to each flush", slowDisk.grouped, slowDisk.single, 10));
  return figures;
}

type Kind = "grouped" | "single" | "bare";

const servers: Record<Kind, (store: string) => [string, unknown]> = {
  grouped: (store) => ["holdfast", { store, declared: true }],
  single: (store) => ["holdfast", { store, declared: true, groupCommit: false }],
  bare: (store) => ["bare", { store }],
};

/** Requests per second of each kind, taken in turn. */
async function rates(
  options: ServerOptions,
  kinds: Kind[] = ["grouped", "single", "bare"],
): Promise<Record<Kind, number>> {
  const all: Record<Kind, number[]> = { grouped: [], single: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) all[kind].push(await rateOf(kind, options));
  }
  return { grouped: median(all.grouped), single: median(all.single), bare: median(all.bare) };
}

function rateOf(kind: Kind, options: ServerOptions): Promise<number> {
  return inFolder(async (folder) => {
    const [name, argument] = servers[kind](`${folder}/create.db`);
    const server = await startServer(name, argument, options);
    const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));
    const result = await load({
      port: server.port,
      connections: 64,
      warmUpMs: 1_500,
      durationMs: 3_000,
      requests: bodies.map((body) => requestText("POST", "/api/v1/articles", body)),
    });
    await stopServer(server);
    requireStatus(result, "201");
    return result.perSecond;
  });
}

function compare(what: string, ours: number, theirs: number, atLeast: number): Figure {
  return {
    what,
    ratio: ours / theirs,
    aim: { atLeast },
    value: `${Math.round(ours)}/s against ${Math.round(theirs)}/s`,
  };
}
