import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { ProblemError } from "holdfast-client";
import { StartError } from "../../src/errors.ts";
import { defineConfig, forbid, owner, refuse, route } from "../../src/index.ts";
import { start } from "../../src/testing.ts";
import { startInMemoryFor } from "./service.ts";

const config = defineConfig({
  auth: { keys: true, administrators: [{ role: "ops" }] },
  collections: {
    topics: {
      schema: {
        type: "object",
        properties: {
          title: { type: "string", maxLength: 100 },
          words: { type: "integer" },
          authorId: { type: "string" },
        },
        required: ["title"],
      },
      search: ["title"],
      unique: ["title"],
      access: {
        read: "public",
        create: "authenticated",
        update: owner("authorId"),
        delete: { role: "editor" },
      },
      hooks: {
        before: ({ resource }) => ({ ...resource, words: String(resource.title).split(" ").length }),
        validate: ({ operation, resource, caller }) => {
          if (resource.title === "spam") refuse("title", "is spam", { code: "spam" });
          if (operation === "delete" && !caller?.roles.includes("chief")) forbid("Only the chief deletes.");
        },
      },
    },
  },
});

test("callers create, read, list, change and delete with their rights", async (t) => {
  const service = await startInMemoryFor(t, config);
  const ada = service.client({ subject: "ada" });
  const made = await ada.topics.create({ title: "two words", authorId: "ada" });
  assert.equal(made.words, 2);
  const nobody = service.client();
  assert.deepEqual(await nobody.topics.get(made.id), made);
  assert.deepEqual(
    (await nobody.topics.list({ q: "word", sort: "-title" }).all()).map(({ id }) => id),
    [made.id],
  );
  const changed = await ada.topics.patch(made.id, { title: "three short words" });
  assert.equal(changed.words, 3);
  const bob = service.client({ subject: "bob", roles: ["editor"] });
  await assert.rejects(bob.topics.patch(made.id, { title: "bob's" }), { status: 403 });
  await assert.rejects(nobody.topics.create({ title: "no" }), { status: 401 });
  await assert.rejects(bob.topics.delete(made.id), { status: 403, message: /Only the chief deletes/ });
  await service.client({ subject: "eve", roles: ["editor", "chief"] }).topics.delete(made.id);
  assert.equal((await service.fetch(`/api/v1/topics/${made.id}`)).status, 404);
});

test("a hook refuses, and nothing of a batch is written", async (t) => {
  const service = await startInMemoryFor(t, config);
  const ada = service.client({ subject: "ada" });
  await assert.rejects(ada.topics.create({ title: "spam" }), (error: unknown) => {
    assert.ok(error instanceof ProblemError);
    assert.deepEqual(error.problem?.violations, [
      { in: "body", pointer: "#/title", code: "spam", detail: "is spam" },
    ]);
    return true;
  });
  await assert.rejects(
    ada.$batch(({ topics }) => [topics.create({ title: "a" }), topics.create({ title: "spam" })]),
  );
  assert.equal((await ada.topics.list({}).all()).length, 0);
  await ada.$batch(({ topics }) => [topics.create({ title: "a" }), topics.create({ title: "b" })]);
  await assert.rejects(ada.topics.create({ title: "a" }), { status: 409 });
  const figures = await service.fetch("/api/v1/topics?aggregate=count,sum(words)");
  assert.deepEqual(await figures.json(), [{ count: 2, "sum(words)": 2 }]);
});

test("fetch takes a path or a URL, and the credential in its headers", async (t) => {
  const service = await startInMemoryFor(t, config);
  const ops = service.client({ subject: "root", roles: ["ops"] });
  const { key } = await ops.$keys.create({ name: "program", roles: ["editor"] });
  const body = JSON.stringify({ title: "by a key" });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const made = await service.fetch("/api/v1/topics", { method: "POST", headers, body });
  assert.equal(made.status, 201, await made.clone().text());
  const address = new URL(made.headers.get("location") ?? "", "http://localhost:3000");
  assert.equal(((await (await service.fetch(address)).json()) as { title: string }).title, "by a key");
  const wrong = await service.fetch("/api/v1/topics", { headers: { authorization: "Bearer hf_no" } });
  assert.equal(wrong.status, 401);
  const foreign = service.fetch("/api/v1/topics", { signal: AbortSignal.abort(new Error("late")) });
  await assert.rejects(foreign, { message: "late" });
});

test("events arrive as a stream, which ends with the service", async (t) => {
  const service = await start(config);
  t.after(() => service.stop());
  const ada = service.client({ subject: "ada" });
  const response = await service.fetch("/api/v1/topics/_events", {
    headers: { accept: "text/event-stream" },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  await ada.topics.create({ title: "streamed" });
  let text = "";
  while (!text.includes("streamed")) text += (await reader?.read())?.value;
  await service.stop();
  for (let isDone = false; !isDone; ) isDone = (await reader?.read())?.done === true;
});

test("an import that is refused leaves no resource, and others read meanwhile", async (t) => {
  const service = await startInMemoryFor(t, config);
  const ops = service.client({ subject: "root", roles: ["ops"] });
  await ops.topics.create({ title: "0" });
  const rows = (end: string) =>
    [...Array(50).keys()].map((n) => JSON.stringify({ title: `${n + 1}` })).join("\n") + end;
  const send = (body: string) =>
    ops.topics.import(body, { type: "application/x-ndjson" }).then(
      () => 200,
      ({ status }: { status: number }) => status,
    );
  const [status, page] = await Promise.all([
    send(rows(`\n${JSON.stringify({ title: "0" })}`)),
    ops.topics.list({}).all(),
  ]);
  assert.equal(status, 400);
  assert.equal(page.length, 1);
  assert.equal(await send(rows("")), 200);
  assert.equal((await ops.topics.list({ limit: 100 }).all()).length, 51);
});

const routed = defineConfig({
  auth: { keys: true },
  collections: {
    topics: {
      schema: { type: "object", properties: { title: { type: "string" } } },
      access: { read: "public", create: { role: "author" } },
    },
  },
  routes: {
    publish: route({
      method: "POST",
      path: "publish/{title}",
      access: "public",
      run: ({ params, client }) => client.topics?.create({ title: params.title }),
    }),
    suggest: route({
      method: "POST",
      path: "suggest",
      access: "authenticated",
      as: "service",
      run: ({ caller, service }) => service.topics?.create({ title: caller?.subject }),
    }),
  },
});

test("routes run with the rights of their caller, and code that acts as the service with its own", async (t) => {
  const lines: string[] = [];
  const add = (...line: unknown[]) => void lines.push(line.map((each) => inspect(each)).join(" "));
  const service = await startInMemoryFor(t, routed, { log: { warn: add, error: add } });
  const author = service.client({ subject: "ada", roles: ["author"] });
  const reader = service.client({ subject: "bob" });
  await author.$call.publish({ title: "one" }, undefined);
  assert.deepEqual(lines, []);
  await assert.rejects(reader.$call.publish({ title: "two" }, undefined), { status: 403 });
  assert.deepEqual(lines, []);
  await assert.rejects(service.client().$call.suggest({}, undefined), { status: 401 });
  await reader.$call.suggest({}, undefined);
  const titles = (await reader.topics.list({}).all()).map(({ title }) => title);
  assert.deepEqual(titles, ["one", "bob"]);
});

test("without auth, a caller is an error", async (t) => {
  const service = await startInMemoryFor(t, { collections: { notes: {} } });
  assert.throws(() => service.client({ subject: "ada" }), /has no auth/);
  assert.equal((await service.client().notes.create({ text: "free" })).text, "free");
});

test("options about the machine have no effect", async (t) => {
  const service = await startInMemoryFor(t, {
    store: "postgres://nobody@nowhere.example/none",
    port: 1,
    threads: 16,
    metrics: 9464,
    publicUrl: "https://shop.example",
    trustProxy: ["10.0.0.0/8"],
    requireTls: true,
    auth: { jwt: { issuer: "https://id.example", audience: "shop", jwks: "https://id.example/keys" } },
    collections: {
      notes: { access: { read: { where: { tenant: "$claims.tenant" } }, create: "authenticated" } },
    },
  });
  const ofAcme = service.client({ subject: "ada", claims: { tenant: "acme" } });
  await ofAcme.notes.create({ tenant: "acme" });
  await ofAcme.notes.create({ tenant: "other" });
  assert.equal((await ofAcme.notes.list({}).all()).length, 1);
});

test("a faulty configuration does not start", async () => {
  await assert.rejects(start({ collections: { notes: { unique: [7] as never } } }), StartError);
  await assert.rejects(start({ readOnly: true }), { message: /readOnly: a service for tests is empty/ });
  await assert.rejects(start({}, { now: new Date("never") }), { message: /now must be/ });
});

test("after its stop, a service answers nothing", async () => {
  const service = await start(config);
  await service.stop();
  await service.stop();
  await assert.rejects(service.fetch("/api/v1/topics"), { message: /has stopped/ });
  await assert.rejects(service.advance(1), { message: /has stopped/ });
});

test("an option that does not exist is refused, also in JavaScript", async (t) => {
  await assert.rejects(
    start({}, { nwo: 0 } as object),
    /^TypeError: start has no option "nwo"\. Its options: now, env, log\.$/,
  );
  const service = await start({ auth: { keys: true }, collections: { notes: {} } });
  t.after(() => service.stop());
  assert.throws(
    () => service.client({ subject: "ann", role: "editor" } as never),
    /^TypeError: client has no option "role"\. Did you mean "roles"\?/,
  );
  assert.throws(() => service.client({ subject: "ann", roles: "editor" } as never), /roles must be a list/);
});
