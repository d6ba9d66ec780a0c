/** The callers who can manage webhooks, and the view of a webhook. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { auth, sendWith } from "../../../http/access/callers.ts";
import { type Request, startFor, startServiceForFile } from "../../../http/service.ts";
import { until } from "../../../until.ts";
import { startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";
const ops = { sub: "olga", roles: ["ops"] };
const others: readonly (readonly [string, Record<string, unknown>])[] = [
  ["without the role", { sub: "ada", roles: ["admin"] }],
  ["with the role and a scope", { ...ops, scope: "articles:write" }],
];

const service = await startServiceForFile({
  auth: { ...auth, administrators: [{ role: "ops" }] },
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: {
          title: { type: "string" },
          salary: { type: "integer" },
          pin: { type: "string", writeOnly: true },
        },
      },
      attributes: { salary: { roles: ["hr"] } },
    },
  },
});
const receiver = await startReceiver();
after(() => receiver.close());

const as = (who: Record<string, unknown> | undefined, request: Request) =>
  who === undefined ? service.send(request) : sendWith(service, who, request);

describe("the paths of webhooks", () => {
  test("exist for administrators", async () => {
    const content = { url: receiver.url, collections: ["articles"] };
    const made = await as(ops, { method: "POST", path: hooks, content });
    assert.equal(made.status, 201, made.text);
    const path = `${hooks}/${(made.json as { id: string }).id}`;
    for (const each of [hooks, path, `${path}/_status`, `${path}/_deliveries`])
      assert.equal((await as(ops, { method: "GET", path: each })).status, 200, each);
    assert.equal((await as(ops, { method: "DELETE", path: hooks })).status, 405);
    assert.equal((await as(ops, { method: "DELETE", path })).status, 205);
  });

  for (const [what, who] of [["without a credential", undefined], ...others] as const)
    test(`do not exist for a caller ${what}`, async () => {
      const content = { url: receiver.url, collections: ["articles"] };
      const made = await as(ops, { method: "POST", path: hooks, content });
      const path = `${hooks}/${(made.json as { id: string }).id}`;
      const requests: Request[] = [
        { method: "GET", path: hooks },
        { method: "POST", path: hooks, content },
        { method: "DELETE", path: hooks },
        { method: "GET", path },
        { method: "PATCH", path, content: { enabled: false } },
        { method: "DELETE", path },
        { method: "GET", path: `${path}/_status` },
        { method: "POST", path: `${path}/_status` },
        { method: "GET", path: `${path}/_deliveries?unknown=1` },
        { method: "POST", path: `${path}/_test` },
        { method: "POST", path: `${path}/_rotate` },
        { method: "POST", path: `${path}/_deliveries/1/_retry` },
      ];
      for (const request of requests) {
        const answer = await as(who, request);
        const name = `${request.method} ${request.path}`;
        assert.deepEqual([answer.status, answer.text], [404, ""], name);
        assert.equal(answer.headers["www-authenticate"], undefined, name);
      }
      assert.equal((await as(ops, { method: "GET", path })).status, 200);
      await as(ops, { method: "DELETE", path });
    });

  test("are described without 403, because they do not exist for others", async () => {
    const { paths } = (await as(ops, { path: "/openapi.json" })).json as {
      paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
    };
    const described = Object.entries(paths).filter(([path]) => path.startsWith(hooks));
    assert.equal(described.length, 7);
    for (const [path, item] of described)
      for (const [method, { responses }] of Object.entries(item))
        assert.deepEqual(
          [responses["403"], responses["404"] !== undefined],
          [undefined, true],
          `${method} ${path}`,
        );
  });

  test("do not exist without the rule", async (t) => {
    const without = await startFor(t, { auth, collections: {} });
    const answer = await sendWith(without, ops, { method: "GET", path: hooks });
    assert.deepEqual([answer.status, answer.text], [404, ""]);
  });
});

test("a webhook gets the attributes of its roles, and never write-only ones", async () => {
  const seen: Record<string, unknown> = {};
  for (const roles of [[], ["hr"]]) {
    receiver.received = [];
    const content = { url: receiver.url, collections: ["articles"], roles };
    const made = await as(ops, { method: "POST", path: hooks, content });
    const hr = { sub: "hans", roles: ["hr"] };
    const article = { title: "A", salary: 7, pin: "1234" };
    await sendWith(service, hr, { method: "POST", path: "/api/v1/articles", content: article });
    await until("a delivery", () => receiver.received.length >= 1);
    const { id: _, ...data } = receiver.received[0]?.event.data ?? {};
    seen[roles.join()] = data;
    await as(ops, { method: "DELETE", path: `${hooks}/${(made.json as { id: string }).id}` });
  }
  assert.deepEqual(seen, { "": { title: "A" }, hr: { title: "A", salary: 7 } });
});

test("the fields of a webhook never show an attribute that it does not see", async () => {
  const content = { url: receiver.url, collections: ["articles"] };
  const paths: string[] = [];
  for (const fields of [["title", "salary", "pin"], ["-title"]]) {
    const made = await as(ops, { method: "POST", path: hooks, content: { ...content, fields } });
    paths.push(`${hooks}/${(made.json as { id: string }).id}`);
  }
  receiver.received = [];
  const resource = { title: "Fields", salary: 5, pin: "1234" };
  await as({ sub: "hans", roles: ["hr"] }, { method: "POST", path: "/api/v1/articles", content: resource });
  await until("both got it", () => receiver.received.length >= 2);
  const texts = receiver.received.map(
    ({
      event: {
        data: { id: _, ...shown },
      },
    }) => JSON.stringify(shown),
  );
  assert.deepEqual(texts.sort(), ['{"title":"Fields"}', "{}"]);
  for (const path of paths) await as(ops, { method: "DELETE", path });
  for (const [fields, detail] of [
    [["title", "-pin"], /Do one of them/],
    [["-id"], /leaves out/],
  ] as const) {
    const refused = await as(ops, { method: "POST", path: hooks, content: { ...content, fields } });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, detail);
  }
});

test("a filter cannot use an attribute that the webhook does not see", async () => {
  const content = { url: receiver.url, collections: ["articles"], filter: { salary: { gt: 5 } } };
  assert.equal((await as(ops, { method: "POST", path: hooks, content })).status, 400);
});

test("without a history, a webhook cannot be created", async (t) => {
  const without = await startFor(t, { history: "none" });
  const content = { url: receiver.url, collections: ["a"] };
  const answer = await without.send({ method: "POST", path: hooks, content });
  assert.deepEqual([answer.status, (answer.json as { code: string }).code], [409, "WEBHOOKS_UNAVAILABLE"]);
});

test("a service has at most 100 webhooks", async (t) => {
  const own = await startFor(t);
  const content = { url: receiver.url, collections: ["a"], enabled: false };
  for (let n = 0; n < 100; n++)
    assert.equal((await own.send({ method: "POST", path: hooks, content })).status, 201);
  const answer = await own.send({ method: "POST", path: hooks, content });
  assert.deepEqual([answer.status, (answer.json as { code: string }).code], [409, "WEBHOOKS_UNAVAILABLE"]);
});
