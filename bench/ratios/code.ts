/** What the code of a configuration costs others: creates with a hook, and all requests beside a hook that never ends. */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { RunOptions } from "../harness/commands.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, median, showMicroseconds, showMs, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type TurnOptions } from "../harness/turns.ts";
import { untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes, sampleSchema } from "./sample.ts";

/** Measures creates with and without a hook, and reads and creates beside hooks that loop for ever. */
export async function measureCode(effort: Effort): Promise<Figure[]> {
  return [
    ...(await measureHooks(effort, "one processor", { cpu: 0 }, { loadCpu: 1 })),
    ...(await measureHooks(effort, "all processors", {}, {})),
    ...(await measureLoops(effort)),
  ];
}

const bodies = Array.from({ length: 1_000 }, (_, n) => JSON.stringify(sampleAttributes(n)));
const creates = bodies.map((body) => requestText("POST", "/api/v1/articles", body));

const validate = `({ resource }) => { if (resource.rating > 4.9 && resource.tags.length < 2) refuse("tags", "needs two tags"); }`;

/** Measures creates, a round of each side in turn. */
function measureHooks(
  effort: Effort,
  where: string,
  options: RunOptions,
  turnOptions: Omit<TurnOptions, "connections">,
): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const start = (name: string, hooks: string) => {
      const articles = `articles: { schema: ${JSON.stringify(sampleSchema)}${hooks} }`;
      const config = configuration(`${folder}/${name}`, `collections: { ${articles} }`);
      return startServer("holdfast", { store: `${folder}/${name}.db`, config }, options);
    };
    const hooked = await start("hooked", `, hooks: { validate: ${validate} }`);
    const plain = await start("plain", "");
    const status = "201";
    const turns = await measureInTurn(
      {
        hooked: { server: hooked, requests: creates, status },
        plain: { server: plain, requests: creates, status },
      },
      effort,
      { connections: 64, ...turnOptions },
    );
    await stopServer(hooked);
    await stopServer(plain);
    const what = `creates with a validate hook against those without, 64 connections, ${where}`;
    return [
      figureOf(
        what,
        { ours: turns.hooked.rates, theirs: turns.plain.rates },
        { aim: { atLeast: 0.75 }, show: showRate },
      ),
      figureOf(
        `processor time of ${what}`,
        { ours: turns.hooked.costs, theirs: turns.plain.costs },
        { show: showMicroseconds },
      ),
    ];
  });
}

/** Writes a module, and returns its path. */
function configuration(path: string, members: string): string {
  const file = `${path}.config.ts`;
  const library = JSON.stringify(pathToFileURL("src/index.ts").href);
  writeFileSync(file, `import { refuse } from ${library};\nexport default { ${members} };\n`);
  return file;
}

/** A hook that has ended its worker five times in a minute is not called for a while, so each write takes the next collection. */
const loops = Array.from({ length: 200 }, (_, n) => `loop${n}`);

/** The longest time until the response to a write whose hook loops for ever, in milliseconds. */
const aimMs = 500;

/** Measures the p99 of requests without a hook, idle and while one client writes into collections whose hooks loop for ever. */
function measureLoops(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const store = `${folder}/loops.db`;
    const ids = await fillStore(store, shareOf(effort, 100_000), sampleAttributes);
    const looping = loops.map((name) => `${name}: { hooks: { validate: () => { while (true); } } }`);
    const collections = [...looping, "articles: {}"].join(", ");
    const config = configuration(`${folder}/loops`, `collections: { ${collections} }`);
    const server = await startServer("holdfast", { store, config });
    const reads = Array.from({ length: 5_000 }, (_, n) =>
      requestText("GET", `/api/v1/articles/${ids[(n * 7919) % ids.length]}`),
    );
    const figures: Figure[] = [];
    for (const [name, requests] of Object.entries({ GET: reads, POST: creates })) {
      const plan = {
        port: server.port,
        connections: 16,
        warmUpMs: Math.max(1_000, effort.warmUpMs), // requests during compilation would be the slowest hundredth
        durationMs: 2 * effort.durationMs, // enough requests for a slowest hundredth
        requests,
        inOrder: true, // autocannon counts whole milliseconds, and an idle read takes less than one
      };
      const rounds = { ours: [] as number[], theirs: [] as number[], times: [] as number[] };
      for (let round = 0; round < effort.rounds; round++) {
        await untilIdle(server);
        rounds.theirs.push((await load(plan)).p99);
        const loop = keepLooping(`${originOf(server)}/api/v1`);
        rounds.ours.push((await load(plan)).p99);
        rounds.times.push(...(await loop.end()));
      }
      const what = `${name} p99 beside a hook that loops for ever against idle`;
      const figure = figureOf(what, rounds, { aim: { atMost: 2 }, show: showMs });
      figures.push({ ...figure, value: `${figure.value}, beside ${rounds.times.length} loops` });
      figures.push(slowestOf(name, rounds.times));
    }
    await stopServer(server);
    return figures;
  });
}

function slowestOf(name: string, times: readonly number[]): Figure {
  const slowest = Math.max(...times);
  return {
    what: `slowest response to a write whose hook loops for ever, beside ${name}, in ${aimMs} ms`,
    value: `${showMs(slowest)}, middle ${showMs(median(times))}`,
    ratio: slowest / aimMs,
    aim: { atMost: 1 },
  };
}

let written = 0;

/** Writes into one collection after the other. Each response must be 500. `end` returns their times in milliseconds. */
function keepLooping(api: string): { end(): Promise<number[]> } {
  const times: number[] = [];
  let isOver = false;
  const ended = (async () => {
    while (!isOver) {
      const begun = performance.now();
      const path = `${api}/${loops[written++ % loops.length]}`;
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(path, { method: "POST", headers, body: "{}" });
      if (status !== 500) throw new Error(`${path} got ${status}`);
      times.push(performance.now() - begun);
    }
  })();
  ended.catch(() => {}); // `end` throws it
  const end = async () => {
    isOver = true;
    await ended;
    return times;
  };
  return { end };
}
