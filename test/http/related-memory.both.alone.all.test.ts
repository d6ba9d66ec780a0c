/**
 * Embedded resources stay within the bounds of memory and event loop. Each service has a probe for these bounds. The texts of the resources
 * are close to the limit of a page.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { maxPageBytes } from "../../src/store/port/page.ts";
import { staysResponsive } from "./probe.ts";
import { idOf, objects, seeds, text } from "./related-seeds.ts";
import { type ServiceOptions, startFor } from "./service.ts";

// The test would hold up the thread if it compared such responses with the OpenAPI document.
const start = (t: TestContext, options: ServiceOptions) => startFor(t, { isWatched: false, ...options });

const nearlyFull = maxPageBytes - 20_000;
const hidden = { secret: { roles: ["nobody"] } };

test("1,000 embedded resources with almost 2 MiB at each end stay within the bounds", async (t) => {
  const service = await start(t, {
    collections: {
      users: { schema: { type: "object", properties: { objects } } },
      articles: {
        schema: { type: "object", properties: { objects, authorId: text } },
        references: { authorId: "users" },
      },
      comments: {
        schema: { type: "object", properties: { objects, articleId: text, secret: text } },
        references: { articleId: "articles" },
        attributes: hidden,
      },
    },
    seeds: {
      users: seeds(100, nearlyFull),
      articles: seeds(100, nearlyFull, (n) => ({ authorId: idOf(n) })),
      comments: seeds(1_000, nearlyFull, (n) => ({ articleId: idOf(n % 100), secret: "x" })),
    },
    probe: { rssBytes: 400_000_000 },
  });
  for (const embed of [
    "comments(limit:10)",
    "author,comments(limit:10),comments.article.author",
    "comments(limit:10,sort:-id)",
  ]) {
    let limit = 100; // another page for each try, because the service keeps the response
    await staysResponsive(async () => {
      const answer = await service.send({ path: `/api/v1/articles?limit=${limit--}&embed=${embed}` });
      assert.equal(answer.status, 200, embed);
      assert.ok(answer.bytes.length <= 2 * maxPageBytes, `${embed}: ${answer.bytes.length}`);
      assert.equal(answer.text.includes("secret"), false);
      assert.match(answer.headers.link ?? "", /rel="next"/);
    });
  }
});

const relations = Array.from({ length: 10 }, (_, n) => `r${n}`);

for (const [what, count, bytes] of [
  ["100 resources of almost 2 MiB", 100, nearlyFull],
  ["two resources of almost 1 MiB each", 2, nearlyFull],
] as const)
  test(`10 relations of ${what} stay within the bounds`, async (t) => {
    const names = relations.map((name) => [`${name}Id`, text] as const);
    const service = await start(t, {
      collections: {
        articles: {
          schema: { type: "object", properties: { objects, ...Object.fromEntries(names) } },
          references: Object.fromEntries(
            relations.map((name) => [`${name}Id`, { collection: "users", as: name }]),
          ),
        },
        users: {
          schema: { type: "object", properties: { objects, secret: text } },
          attributes: hidden,
        },
      },
      seeds: {
        users: seeds(count, bytes, () => ({ secret: "x" })),
        articles: seeds(count, bytes, (n) =>
          Object.fromEntries(relations.map((name) => [`${name}Id`, idOf(n)])),
        ),
      },
      probe: { rssBytes: 600_000_000 },
    });
    // Another path for each try, because the service keeps the response.
    for (const pathOf of [
      (n: number) => `articles?limit=${100 - n}&`,
      (n: number) => `articles/${idOf(n % count)}?`,
    ]) {
      let n = 0;
      await staysResponsive(async () => {
        const path = pathOf(n++);
        const answer = await service.send({ path: `/api/v1/${path}embed=${relations.join(",")}` });
        assert.equal(answer.status, 200, path);
        assert.equal(answer.text.includes("secret"), false);
      });
    }
  });
