/** The defaults of new resources, over real sockets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineCollection } from "../../src/collection/declaration.ts";
import { StartError } from "../../src/errors.ts";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const at = Date.parse("2026-01-31T09:14:05.250Z");
const schema = {
  type: "object",
  required: ["title", "status"],
  properties: {
    title: { type: "string" },
    status: { enum: ["draft", "open", null] },
    day: { type: "string", format: "date" },
    moment: { $ref: "#/$defs/moment" },
    millis: { type: "integer", format: "unix-millis" },
    any: { format: "date-value" },
  },
  $defs: { moment: { type: "string", format: "date-time" } },
} as const;
const now = { day: "$now", moment: "$now", millis: "$now", any: "$now" } as const;
const times = {
  day: "2026-01-31",
  moment: "2026-01-31T09:14:05.250Z",
  millis: at,
  any: "2026-01-31T09:14:05.250Z",
} as const;

let later = 0;

const service = await startServiceForFile({
  now: () => at + later,
  collections: {
    posts: { schema, defaults: { status: "draft", ...now } },
    notes: {
      schema: {
        properties: { post: { type: "string" } },
        oneOf: [{ required: ["a"] }, { required: ["post"] }],
      },
      defaults: { post: "00000000-0000-7000-8000-000000000000" },
      references: { post: "posts" },
    },
    tasks: {
      schema: {
        type: "object",
        required: ["state", "tags", "note"],
        properties: {
          state: { type: "string", default: "open" },
          tags: { type: "array", default: [] },
          note: { type: ["string", "null"], default: null },
          price: { type: "string", default: "$now" },
          title: { type: "string", default: "schema" },
          size: { type: "object", properties: { width: { type: "integer", default: 5 } } },
        },
      },
      defaults: { title: "option" },
    },
    holds: {
      schema: {
        properties: {
          until: { type: "string", format: "date-time" },
          since: { type: "string", format: "date" },
          reminder: { type: "integer", format: "unix-millis" },
        },
      },
      defaults: { until: "$now+15m", since: "$today-1w", reminder: "$now-90s" },
    },
    loose: { defaults: { tags: ["$now", { n: 1 }], since: "$now", price: "$$5" } },
  },
});

const path = "/api/v1/posts";

test("a create gives what was not sent, and $now in the form that the schema asks for", async () => {
  const answer = await service.send({ method: "POST", path, content: { title: "a" } });
  const { id } = answer.json as { id: string };
  const json = { id, title: "a", status: "draft", ...times };
  check(answer, { status: 201, json });
  check(await service.send({ method: "GET", path: `${path}/${id}` }), { status: 200, json });
  const list = await service.send({ method: "GET", path: `${path}?day=2026-01-31` });
  assert.deepEqual(list.json, [json]);
});

test("what was sent stays, null too, and what has no default must be sent", async () => {
  const content = { title: "b", status: null, ...times, day: "2020-02-02" };
  const answer = await service.send({ method: "POST", path, content });
  check(answer, { status: 201, json: { id: (answer.json as { id: string }).id, ...content } });
  const bad = await service.send({ method: "POST", path, content: {} });
  check(bad, { status: 400, problem: "VALIDATION_FAILED", violations: [{ pointer: "#/title" }] });
});

test("the defaults in the schema are defaults as they stand, and the option comes first", async () => {
  const path = "/api/v1/tasks";
  const answer = await service.send({ method: "POST", path, content: { size: {} } });
  const { id, ...others } = answer.json as Record<string, unknown>;
  const given = { state: "open", tags: [], note: null, price: "$now", title: "option" };
  check(answer, { status: 201 });
  assert.deepEqual(others, { size: {}, ...given });
  const sent = await service.send({ method: "POST", path, content: { state: "done", title: "own" } });
  const { id: _, ...own } = sent.json as Record<string, unknown>;
  assert.deepEqual(own, { ...given, state: "done", title: "own" });
  const put = { method: "PUT", path: `${path}/${id}`, content: { id, note: null, tags: [] } };
  check(await service.send(put), { status: 400, violations: [{ pointer: "#/state", code: "required" }] });
  const document = (await service.send({ path: "/openapi.json" })).json as {
    components: { schemas: Record<string, { required?: string[]; properties?: object }> };
  };
  const input = document.components.schemas.TaskInput;
  assert.ok(input?.properties);
  assert.equal(input.required, undefined);
});

test("a default can be a time before or after the create, and a repeated create gets that of the first one", async () => {
  const held = { until: "2026-01-31T09:29:05.250Z", since: "2026-01-24", reminder: at - 90_000 };
  const send = () =>
    service.send({
      method: "POST",
      path: "/api/v1/holds",
      content: {},
      headers: { "idempotency-key": "once" },
    });
  const first = await send();
  const { id, ...others } = first.json as Record<string, unknown>;
  assert.deepEqual(others, held);
  later = 60_000;
  assert.deepEqual((await send()).json, { id, ...held });
  const operations = [{}, {}].map((body) => ({ method: "POST", path: "/holds", body }));
  const batch = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  const made = (batch.json as { results: { body: { until: string } }[] }).results.map(
    ({ body }) => body.until,
  );
  assert.deepEqual(made, ["2026-01-31T09:30:05.250Z", "2026-01-31T09:30:05.250Z"]);
  later = 0;
});

test("creates in a batch get the same", async () => {
  const operations = [{ method: "POST", path: "/posts", body: { title: "c", status: "open" } }];
  const answer = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  assert.equal(answer.status, 200, answer.text);
  const { id, ...others } = (answer.json as { results: { body: { id: string } }[] }).results[0]?.body ?? {};
  assert.deepEqual(others, { title: "c", status: "open", ...times });
});

test("PUT and PATCH add nothing", async () => {
  const made = await service.create("posts", { title: "d" });
  const content = { id: made.id, title: "d", status: "open" };
  check(await service.send({ method: "PUT", path: made.path, content }), { status: 200, json: content });
  const patched = await service.send({ method: "PATCH", path: made.path, content: { title: "e" } });
  check(patched, { status: 200, json: { ...content, title: "e" } });
  const without = await service.send({ method: "PATCH", path: made.path, content: { status: null } });
  check(without, { status: 400, problem: "VALIDATION_FAILED" });
});

test("without a schema $now is a timestamp, inside of values it is a text, and two dollar signs are one", async () => {
  const answer = await service.send({ method: "POST", path: "/api/v1/loose", content: {} });
  const { id } = answer.json as { id: string };
  const json = { id, tags: ["$now", { n: 1 }], since: times.moment, price: "$5" };
  check(answer, { status: 201, json });
});

test("a default is held to references like what was sent", async () => {
  const path = "/api/v1/notes";
  const answer = await service.send({ method: "POST", path, content: {} });
  check(answer, { status: 400, problem: "REFERENCE_NOT_FOUND", violations: [{ pointer: "#/post" }] });
  const { id } = await service.create("posts", { title: "f" });
  check(await service.send({ method: "POST", path, content: { post: id } }), { status: 201 });
});

const refused: readonly (readonly [unknown, RegExp])[] = [
  [true, /^collections\.posts\.defaults must be an object/],
  [{ status: "dratf" }, /^collections\.posts\.defaults\.status: .* must be one of/],
  [{ stauts: "draft" }, /^collections\.posts\.defaults\.stauts: .* Did you mean "status"/],
  [{ status: "$now" }, /^collections\.posts\.defaults\.status: .* does not allow a date/],
  [{ millis: "$subject" }, /^collections\.posts\.defaults\.millis: the schema does not allow a string here/],
  [
    { title: "$nwo" },
    /\.title: "\$nwo" is not known\. Use "\$subject", or a time such as "\$now", "\$now\+15m" .* write "\$\$nwo"\.$/,
  ],
  [{ title: "$now+15min" }, /\.title: "\$now\+15min" is not known/],
  [{ moment: "now+15m" }, /the schema refuses it: .* For a time from now, write "\$now\+15m"\.$/],
  [{ status: "$now+15m" }, /\.status: .* does not allow a date here, but "\$now\+15m" is one/],
  [{ id: "1" }, /^collections\.posts\.defaults\.id: the service sets the id/],
  [{ title: undefined }, /^collections\.posts\.defaults\.title must be a JSON value/],
  [{ millis: 2 ** 60 }, /^collections\.posts\.defaults\.millis: .*integer/i],
  [
    { title: "\ud800" },
    /^collections\.posts\.defaults\.title: "title" contains half of a surrogate pair: remove it\.$/,
  ],
  [{ millis: Number.NaN }, /^collections\.posts\.defaults\.millis must be a JSON value/],
];
for (const [defaults, message] of refused) {
  test(`the service does not start with the defaults ${JSON.stringify(defaults)}`, async () => {
    const declaration = { schema, defaults } as Parameters<typeof defineCollection>[1];
    await assert.rejects(
      defineCollection("posts", declaration),
      (error) => error instanceof StartError && message.test(error.message),
    );
  });
}

for (const [property, message] of [
  [
    { type: "integer", default: "a" },
    /^collections\.posts\.schema at properties\/n\/default: the schema refuses it: #\/n must be an integer\.$/,
  ],
  [{ default: 2 ** 60 }, /^collections\.posts\.schema at properties\/n\/default: /],
] as const)
  test(`the service does not start with the attribute ${JSON.stringify(property)}`, async () => {
    await assert.rejects(
      defineCollection("posts", { schema: { type: "object", properties: { n: property } } }),
      (error) => error instanceof StartError && message.test(error.message),
    );
  });
