/** What a route responds if the service refuses a request of its client, and the function does not catch the error. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Service, startFor } from "../../http/service.ts";
import { readExposition } from "../../metrics/exposition.ts";

const source = `
import { createClient } from "${import.meta.resolve("holdfast-client")}";
import { defineConfig, forbid, refuse, respond, route } from "holdfast";

let kept;

const schema = {
  type: "object",
  properties: { name: { type: "string", maxLength: 5 } },
};
const open = { path: "", access: "public", as: "service" };
const post = { ...open, method: "POST", body: { type: "object", additionalProperties: true } };

export default defineConfig({
  metrics: "127.0.0.1:0",
  threads: 1,
  auth: { keys: true },
  collections: {
    tags: {
      schema,
      unique: ["name"],
      access: { read: "public", create: "public", update: "public", delete: { role: "clerk" } },
      hooks: {
        validate: ({ resource }) => {
          if (resource.name === "bad") refuse("name", "is bad");
          if (resource.name === "taboo") forbid("Nobody can write this.");
          if (resource.name === "fails") throw new Error("of the hook");
        },
      },
    },
  },
  routes: {
    create: route({ ...post, path: "create", run: ({ body, client }) => client.tags.create(body) }),
    createAsService: route({ ...post, path: "create-as-service", run: ({ body, service }) => service.tags.create(body) }),
    patch: route({ ...post, path: "patch/{id}", run: ({ params, body, client }) => client.tags.patch(params.id, body, { ifMatch: '"none"' }) }),
    keyed: route({ ...post, path: "keyed", run: ({ body, client }) => client.tags.create(body, { idempotencyKey: "one" }) }),
    remove: route({ ...open, method: "DELETE", path: "remove/{id}", run: ({ params, client }) => client.tags.delete(params.id) }),
    batch: route({ ...post, path: "batch", run: ({ body, client }) => client.$batch(({ tags }) => [tags.create({}), tags.create(body)]) }),
    get: route({ ...open, path: "get/{id}", run: ({ params, client }) => client.tags.get(params.id) }),
    getAsService: route({ ...open, path: "get-as-service/{id}", run: ({ params, service }) => service.tags.get(params.id) }),
    keep: route({ ...open, path: "keep", run: ({ client }) => client.tags.get("none").catch((error) => void (kept = error)) }),
    again: route({ ...open, path: "again", run: () => { throw kept; } }),
    wrapped: route({ ...open, path: "wrapped", run: ({ client }) => client.tags.get("none").catch((cause) => { throw new Error("x", { cause }); }) }),
    report: route({ ...open, path: "reports/{id}", run: ({ params }) => respond(400, params.id, { "content-type": params.id === "text" ? "text/plain" : "application/json" }) }),
    ask: route({ ...open, path: "ask/{id}", run: ({ params, client }) => client.reports.get(params.id) }),
    other: route({
      ...open,
      path: "other",
      run: () => {
        const problem = { code: "UNIQUE_VIOLATION", detail: "of another server", status: 409 };
        const fetch = async () => Response.json(problem, { status: 409 });
        return createClient({ baseUrl: "http://other.example", fetch }).tags.create({});
      },
    }),
  },
});
`;

const start = (t: TestContext) => startFor(t, { module: source, isWatched: false });

type Problem = Record<string, unknown>;

const failed = {
  status: 500,
  code: "CODE_FAILED",
  detail: "The code of this path failed. It may have changed something before.",
};

/** The problem of a response of a route; only its status if it has no body. */
async function call(
  { send }: Service,
  path: string,
  content?: object,
  method = content ? "POST" : "GET",
): Promise<Problem> {
  const answer = await send(
    { path: `/api/v1/${path}`, method, ...(content && { content }) },
    { mayFail: true },
  );
  if (answer.text === "") return { status: answer.status };
  const { type: _, title: _title, instance: _id, message: _text, ...problem } = answer.json as Problem;
  return problem;
}

test("what the service refuses to the client of a route is the response of the route", async (t) => {
  const service = await start(t);
  const { id } = await service.create("tags", { name: "One" });
  assert.deepEqual(await call(service, "create", { name: "Too long" }), {
    status: 400,
    code: "VALIDATION_FAILED",
    detail: '"name" must have at most 5 characters.',
  });
  assert.deepEqual(await call(service, "create", { name: "bad" }), {
    status: 400,
    code: "VALIDATION_FAILED",
    detail: '"name" is bad.',
  });
  assert.deepEqual(await call(service, "create", { name: "taboo" }), {
    status: 403,
    code: "INSUFFICIENT_SCOPE",
    detail: "Nobody can write this.",
  });
  assert.deepEqual(await call(service, "get/none"), { status: 404 });
  const taken = { status: 409, code: "UNIQUE_VIOLATION" };
  const { detail, ...others } = await call(service, "batch", { name: "One" });
  assert.deepEqual(others, taken);
  assert.match(String(detail), /name/);
  const { status, code } = await call(service, `patch/${id}`, { name: "Two" });
  assert.deepEqual([status, code], [412, "PRECONDITION_FAILED"]);
  await call(service, "keyed", { name: "Key" });
  assert.equal((await call(service, "keyed", { name: "Other" })).code, "IDEMPOTENCY_KEY_REUSED");
});

test("the responses that a route passes on are in the OpenAPI document", async (t) => {
  const { send } = await start(t);
  const { paths } = (await send({ path: "/openapi.json" })).json as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  const { responses = {} } = paths["/api/v1/patch/{id}"]?.post ?? {};
  const missing = [400, 403, 404, 409, 412, 422].filter((status) => !Object.hasOwn(responses, status));
  assert.deepEqual(missing, []);
});

test("a route does not pass on what the service refuses to others, or to the code", async (t) => {
  const service = await start(t);
  const { id } = await service.create("tags", { name: "One" });
  assert.deepEqual(await call(service, "create-as-service", { name: "One" }), failed, "of service");
  assert.deepEqual(await call(service, "get-as-service/none"), failed, "404 of service");
  assert.deepEqual(await call(service, `remove/${id}`, undefined, "DELETE"), failed, "401");
  assert.deepEqual(await call(service, "create", { name: "fails" }), failed, "500 of a hook");
  assert.deepEqual(await call(service, "other"), failed, "of another server");
  for (const body of [
    "text",
    "null",
    "1",
    '{"code":"OWN","detail":"x"}',
    '{"code":"toString","detail":"x"}',
    '{"code":"INTERNAL","detail":"x"}',
    '{"code":{"toString":1},"detail":"x"}',
    '{"code":["UNIQUE_VIOLATION"],"detail":"x"}',
  ])
    assert.deepEqual(await call(service, `ask/${encodeURIComponent(body)}`), failed, `of a route: ${body}`);
  assert.deepEqual(await call(service, "wrapped"), failed, "in another error");
  assert.deepEqual(await call(service, "keep"), { status: 204 });
  assert.deepEqual(await call(service, "again"), failed, "of another call");
});

test("what a route passes on is no failure of its function", async (t) => {
  const service = await start(t);
  await call(service, "get/none");
  await call(service, "create", { name: "Too long" });
  await call(service, "wrapped");
  const found = readExposition(await (await fetch(String(service.metrics))).text());
  const failures = found
    .all("holdfast_code_failures_total")
    .filter(({ labels: { kind } }) => kind === "route");
  assert.deepEqual(
    failures.map(({ labels: { name } }) => name),
    ["wrapped"],
  );
});
