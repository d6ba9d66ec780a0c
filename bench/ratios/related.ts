/** What related resources cost: a page of articles with their authors and comments, against the page alone. */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineCollection } from "../../src/collection/declaration.ts";
import { node } from "../harness/commands.ts";
import type { Effort } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, type Server, startProgram, startServer, stopServer } from "../harness/server.ts";
import { installOpponents } from "../opponents/packages.ts";
import { makeKey, rateOf } from "./auth.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const counts = { users: 200, articles: 10_000 };
const commentsOfEach = 4;
const string = { type: "string" };

const collections = {
  users: { schema: { type: "object", properties: { name: string }, additionalProperties: true } },
  articles: {
    schema: { type: "object", properties: { authorId: string }, additionalProperties: true },
    references: { authorId: { collection: "users", as: "author" } },
  },
  comments: {
    schema: { type: "object", properties: { articleId: string, text: string }, additionalProperties: true },
    references: { articleId: { collection: "articles", inverse: "comments" } },
  },
};

/** Measures pages of 20 articles, a round of each kind in turn. */
export function measureRelated(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const store = `${folder}/related.db`;
    const config = `${folder}/related.json`;
    writeFileSync(config, JSON.stringify({ auth: { keys: true }, collections }));
    const fill = async (name: keyof typeof collections, count: number, attributesOf: (n: number) => object) =>
      fillStore(store, count, (n) => ({ ...attributesOf(n) }), {
        collection: await defineCollection(name, { schema: collections[name].schema }),
      });
    const users = await fill("users", counts.users, (n) => ({ name: `user ${n}` }));
    const articles = await fill("articles", counts.articles, (n) => ({
      ...sampleAttributes(n),
      authorId: users[n % users.length],
    }));
    await fill("comments", counts.articles * commentsOfEach, (n) => ({
      text: `comment ${n}`.repeat(8),
      articleId: articles[Math.floor(n / commentsOfEach)],
    }));
    const key = await makeKey(store, "reader");
    const writer = await makeKey(store, "writer");
    const server = await startServer("holdfast", { store, config }, { cpu: 0 });
    const byHand = await startByHand(`${folder}/by-hand.db`);
    // Offsets that need no scan.
    const pages = Array.from({ length: 50 }, (_, n) => `limit=20&offset=${n * 20}`);
    const articlesPath = "/api/v1/articles";
    const embed = "count=none&embed=author,comments(limit:3)";
    const embedded = pages.map((page) => `${articlesPath}?${page}&${embed}`);
    const measures: Record<string, () => Promise<number>> = {
      alone: () =>
        rateOf(
          effort,
          server,
          pages.map((page) => `${articlesPath}?${page}&count=none`),
          key,
        ),
      embedded: () => rateOf(effort, server, embedded, key),
      changing: () =>
        whileWriting(server, { key: writer, articleId: articles[0] as string }, () =>
          rateOf(effort, server, embedded, key),
        ),
    };
    for (const kind of byHand === undefined ? [] : ["joined", "rows"])
      measures[kind] = () =>
        rateOf(
          effort,
          byHand as Server,
          pages.map((page) => `/${kind}?${page}`),
        );
    const rates = new Map<string, number[]>();
    // In turns, since the first of two that are measured has had the longer rest.
    for (let round = 0; round < effort.rounds; round++) {
      const entries = Object.entries(measures);
      for (const [kind, measure] of round % 2 === 0 ? entries : entries.toReversed())
        rates.set(kind, [...(rates.get(kind) ?? []), await measure()]);
    }
    await stopServer(server);
    if (byHand !== undefined) await stopServer(byHand);
    const compare = (kind: string, other: string, { what, aim }: { what: string; aim?: Aim }): Figure =>
      figureOf(
        `a page of 20 articles with authors and 3 comments each ${what}, one processor`,
        { ours: rates.get(kind) ?? [], theirs: rates.get(other) ?? [] },
        { aim, show: showRate },
      );
    const against = "against Express and better-sqlite3";
    return [
      compare("embedded", "alone", { what: "against the page alone", aim: { atLeast: 0.12 } }),
      compare("changing", "alone", { what: "while comments change, against the page alone" }),
      ...(byHand === undefined
        ? []
        : [
            compare("embedded", "joined", { what: `${against} with joins by hand`, aim: { atLeast: 2 } }),
            compare("changing", "joined", {
              what: `while comments change, ${against} with joins by hand`,
            }),
            compare("embedded", "rows", {
              what: `${against} with a query for each row`,
              aim: { atLeast: 5 },
            }),
          ]),
    ];
  });
}

/** Starts the program by hand, where its packages can be installed. */
async function startByHand(file: string): Promise<Server | undefined> {
  const missing = installOpponents();
  if (missing !== undefined) {
    process.stderr.write(`bench: ${missing}\n`);
    return undefined;
  }
  const task = JSON.stringify({ file, ...counts, commentsOfEach });
  return startProgram([...node, "bench/opponents/servers/express-related.ts", task], { cpu: 0 });
}

/** Creates 100 comments a second meanwhile, so that nothing that is kept stays current. */
async function whileWriting<T>(
  server: Server,
  { key, articleId }: { key: string; articleId: string },
  measure: () => Promise<T>,
): Promise<T> {
  let isOver = false;
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };
  const writing = (async () => {
    while (!isOver) {
      const body = JSON.stringify({ text: "new", articleId });
      const { status } = await fetch(`${originOf(server)}/api/v1/comments`, {
        method: "POST",
        headers,
        body,
      });
      if (status !== 201) throw new Error(`A comment got ${status}.`);
      await sleep(10);
    }
  })();
  const result = await measure();
  isOver = true;
  await writing;
  return result;
}
