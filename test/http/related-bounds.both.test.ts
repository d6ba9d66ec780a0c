/** The costs of `embed`: one query for each relation. `related-memory` is about memory and the event loop. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { pagesFrom } from "./pages.ts";
import { idList, idOf, objects, seeds, text } from "./related-seeds.ts";
import { type ServiceOptions, startFor } from "./service.ts";
import { watchQueries } from "./store-spy.ts";

// The test would hold up the thread if it compared such responses with the OpenAPI document.
const start = (t: TestContext, options: ServiceOptions) => startFor(t, { isWatched: false, ...options });

test("embedding 100 resources takes one query, and one for each relation at each level", async (t) => {
  const service = await start(t, {
    collections: {
      teams: { schema: { type: "object", properties: { objects } } },
      users: {
        schema: { type: "object", properties: { objects, teamId: text } },
        references: { teamId: "teams" },
      },
      tags: { schema: { type: "object", properties: { objects } } },
      articles: {
        schema: { type: "object", properties: { objects, authorId: text, tagIds: idList } },
        references: { authorId: "users", tagIds: { collection: "tags", as: "tags" } },
      },
      comments: {
        schema: { type: "object", properties: { objects, articleId: text, userId: text } },
        references: { articleId: "articles", userId: "users" },
      },
    },
    seeds: {
      teams: seeds(5, 0),
      tags: seeds(10, 0),
      users: seeds(50, 0, (n) => ({ teamId: idOf(n % 5) })),
      articles: seeds(100, 0, (n) => ({
        authorId: idOf(n % 50),
        tagIds: [idOf(n % 10), idOf((n + 1) % 10)],
      })),
      comments: seeds(700, 0, (n) => ({ articleId: idOf(n % 100), userId: idOf(n % 50) })),
    },
  });
  const made = watchQueries(t);
  for (const [embed, most] of [
    ["author", 1],
    ["author,tags,comments", 3],
    ["author.team,tags,comments.user.team", 6],
    ["author.comments(limit:9),comments(limit:9)", 3],
  ] as const) {
    made.length = 0;
    const answer = await service.send({ path: `/api/v1/articles?limit=100&embed=${embed}` });
    assert.equal((answer.json as unknown[]).length, 100, answer.text.slice(0, 300));
    assert.ok(made.length <= 1 + most, `${embed}: ${made}`);
  }
  made.length = 0;
  const one = await service.send({ path: `/api/v1/articles/${idOf(0)}?embed=author.team,comments` });
  assert.equal(one.status, 200);
  assert.ok(made.length <= 4, String(made));
});

test("a page ends where a relation has 1,000 resources or takes 10 queries, and its link leads to the rest", async (t) => {
  const of = (name: string) => ({
    schema: { type: "object", properties: { objects, [`${name}Id`]: text } },
    references: { [`${name}Id`]: `${name}s` },
  });
  const service = await start(t, {
    collections: {
      teams: { schema: { type: "object", properties: { objects } } },
      users: of("team"),
      notes: of("user"),
      lists: {
        schema: { type: "object", properties: { objects, noteIds: idList } },
        references: { noteIds: { collection: "notes", as: "notes" } },
      },
    },
    seeds: {
      teams: seeds(100, 0),
      users: seeds(1_500, 0, (n) => ({ teamId: idOf(n % 100) })),
      notes: seeds(1_500, 0, (n) => ({ userId: idOf(n) })),
      lists: seeds(100, 0, (n) => ({ noteIds: Array.from({ length: 15 }, (_, m) => idOf(n * 15 + m)) })),
    },
  });
  const made = watchQueries(t);
  /** The number of queries for each page, and how often a text occurs on all of them and where their arrays go on. */
  const walk = async (path: string, counted: RegExp) => {
    const queries: number[] = [];
    const ids: string[] = [];
    const texts: string[] = [];
    made.length = 0;
    for await (const answer of pagesFrom(service.send, `/api/v1/${path}`)) {
      queries.push(made.length);
      ids.push(...(answer.json as { id: string }[]).map(({ id }) => id));
      texts.push(answer.text);
      for (const [, rest = ""] of answer.text.matchAll(/"_next":\{"\w+":"([^"]+)"/g))
        texts.push((await service.send({ path: rest })).text);
      made.length = 0;
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 100 }, (_, n) => idOf(n)),
      path,
    );
    return { queries, count: texts.join().match(counted)?.length };
  };
  const many = await walk("teams?limit=100&embed=users(limit:20),users.notes", /"teamId":/g);
  assert.equal(many.count, 1_500);
  assert.equal(many.queries.length, 2);
  assert.ok(Math.max(...many.queries) <= 21, String(many.queries));
  const large = await walk("teams?limit=100&embed=users(limit:1000)", /"teamId":/g);
  assert.equal(large.count, 1_500);
  assert.equal(large.queries.length, 10);
  assert.ok(Math.max(...large.queries) <= 11, String(large.queries));
  const listed = await walk("lists?limit=100&embed=notes(limit:15)", /"userId":/g);
  assert.equal(listed.count, 1_500);
  assert.equal(listed.queries.length, 2);
});

test("the text of a resource is parsed as often for ten references as for one", async (t) => {
  const names = Array.from({ length: 10 }, (_, n) => `r${n}`);
  const service = await start(t, {
    collections: {
      articles: {
        schema: {
          type: "object",
          properties: { objects, ...Object.fromEntries(names.map((name) => [`${name}Id`, text])) },
        },
        references: Object.fromEntries(names.map((name) => [`${name}Id`, { collection: "users", as: name }])),
      },
      users: { schema: { type: "object", properties: { objects } } },
    },
    seeds: {
      users: seeds(1, 0),
      articles: seeds(3, 0, () => Object.fromEntries(names.map((name) => [`${name}Id`, idOf(0)]))),
    },
  });
  const parse = t.mock.method(JSON, "parse");
  const parsesFor = async (embed: string) => {
    parse.mock.resetCalls();
    const { status } = await service.send({ path: `/api/v1/articles?embed=${embed}` });
    assert.equal(status, 200);
    return parse.mock.calls.filter(({ arguments: [given] }) => String(given).includes('"r9Id"')).length;
  };
  const once = await parsesFor("r0");
  assert.ok(once > 0);
  assert.equal(await parsesFor(names.join()), once);
});
