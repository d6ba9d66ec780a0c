/**
 * Figures of groups over the whole collection, against SQL that a person would write by hand on the same file: without an
 * index, and with an index on both attributes. Both sides are measured by their processor time, because the service reads
 * figures in a thread of low priority.
 */
import { execFileSync } from "node:child_process";
import { defineCollection } from "../../src/collection/declaration.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, startServer, stopServer } from "../harness/server.ts";
import { cpuSeconds, untilIdle } from "../harness/usage.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 1_000_000;
const path = "/api/v1/articles?aggregate=count,sum(rating)&group=author&limit=1000";
const table = "resources_1";
const author = "doc ->> '$.author'";
const rating = "doc ->> '$.rating'";
const sqlOn = (from: string) =>
  `select ${author} as author, count(*), sum(${rating}) from ${from} group by author order by author`;

/** Runs SQL on a file in a separate process, and prints the processor seconds and the number of rows. */
const program = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec("pragma mmap_size = 268435456; pragma cache_size = -32768");
  const statement = database.prepare(process.argv[2]);
  const before = process.cpuUsage();
  const { length } = statement.all();
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1e6, length);
`;

/** Measures figures without and with an index. */
export async function measureFigures(effort: Effort): Promise<Figure[]> {
  return [
    await compare(effort, { what: "without an index", indexes: [], aim: { atMost: 1.3 } }),
    await compare(effort, {
      what: "with an index on both attributes",
      indexes: [["author", "rating"]],
      aim: { atMost: 1.3 },
    }),
    await compare(effort, {
      what: "with an index on both attributes, and SQL with an index of its own",
      indexes: [["author", "rating"]],
      ddl: `create index by_hand on ${table} (${author}, ${rating})`,
      sql: sqlOn(`${table} indexed by by_hand`),
    }),
  ];
}

/** One comparison. */
interface Case {
  what: string;
  /** The indexes that the collection declares. */
  indexes: string[][];
  aim?: Aim;
  /** An index for the SQL by hand, which the service does not use. */
  ddl?: string;
  sql?: string;
}

function compare(effort: Effort, { what, indexes, ddl, aim, sql = sqlOn(table) }: Case): Promise<Figure> {
  return inFolder(async (folder) => {
    const store = `${folder}/figures.db`;
    const count = shareOf(effort, resources);
    const collection = await defineCollection("articles", { indexes });
    await fillStore(store, count, sampleAttributes, { collection });
    const server = await startServer("holdfast", { store, declared: true, indexes, queryMs: 60_000 }, {});
    const ask = async () => {
      const before = cpuSeconds(server);
      const answer = await fetch(`${originOf(server)}${path}`);
      const { length } = (await answer.json()) as unknown[];
      return { seconds: cpuSeconds(server) - before, groups: length };
    };
    await ask(); // the thread starts
    await untilIdle(server);
    if (ddl !== undefined) run(store, ddl); // the service removes an unknown index when it starts
    const seconds: Record<"ours" | "theirs", number[]> = { ours: [], theirs: [] };
    for (let round = 0; round < effort.rounds; round++) {
      const [ours, theirs] = [await ask(), run(store, sql)];
      if (ours.groups !== theirs.groups) throw new Error(`${ours.groups} groups against ${theirs.groups}`);
      seconds.ours.push(ours.seconds);
      seconds.theirs.push(theirs.seconds);
    }
    await stopServer(server);
    return figureOf(
      `processor time of a count and sum of ${count.toLocaleString("en")} resources by 1,000 groups ${what}, against SQL by hand`,
      seconds,
      { aim, show: (each) => `${each.toFixed(2)} s` },
    );
  });
}

function run(store: string, statement: string): { seconds: number; groups: number } {
  const output = execFileSync(process.execPath, ["-e", program, store, statement], { encoding: "utf8" });
  const [seconds = 0, groups = 0] = output.trim().split(" ").map(Number);
  return { seconds, groups };
}
