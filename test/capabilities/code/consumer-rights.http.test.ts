/** What a consumer sees, and what its client can do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "../../../src/http/service.ts";
import { until } from "../../until.ts";
import { testClock } from "../webhooks/http/clock.ts";
import { World } from "./consumers/world.ts";

const auth = { more: "auth: { keys: true }, " };

const access = `access: { read: { where: { public: true } }, write: "public" },
  attributes: { salary: { roles: ["staff"] }, pin: { writeOnly: true } },`;

const noteAs = (name: string, members: string) =>
  `${name}: { ${members} run: ({ event: { type, data } }) => note({ name: "${name}", type, data }) }`;

interface Call {
  name: string;
  type: string;
  data: Record<string, unknown>;
}

test("with roles, a consumer gets what such a caller may see; as the service, everything but write-only attributes", async () => {
  const world = new World();
  const after = [
    noteAs("reader", 'as: { roles: ["reader"] },'),
    noteAs("staff", 'as: { roles: ["reader", "staff"] },'),
    noteAs("sees", 'as: "service", roles: ["reader"],'),
    noteAs("service", 'as: "service",'),
    noteAs("nobody", ""),
  ];
  const seed = `seed: { as: "service", run: async ({ client }) => {
    await client.people.create({ public: false, name: "Ada", salary: 1 });
    await client.people.create({ public: true, name: "Bob", salary: 2, pin: "1234" });
  } }`;
  const { create } = await world.start(
    `people: { ${access} after: { ${after.join(", ")} } },
     seeds: { access: { read: "public", write: "public" }, after: { ${seed} } }`,
    auth,
  );
  await create("seeds");
  const calls = await world.called<Call>(3 + 4);
  const seenBy = (name: string) =>
    calls.filter((each) => each.name === name).map(({ data: { id: _, ...others } }) => others);
  const bob = { public: true, name: "Bob" };
  assert.deepEqual(seenBy("reader"), [bob]);
  assert.deepEqual(seenBy("staff"), [{ ...bob, salary: 2 }]);
  assert.deepEqual(seenBy("sees"), [bob]);
  for (const name of ["service", "nobody"])
    assert.deepEqual(seenBy(name), [
      { public: false, name: "Ada", salary: 1 },
      { ...bob, salary: 2 },
    ]);
});

test("a consumer with roles gets no content of a resource that was withdrawn before the call", async () => {
  const clock = testClock();
  const warnings: string[] = [];
  const log = {
    info: () => {},
    error: () => {},
    warn: (text: string) => warnings.push(text),
  } as unknown as Log;
  const world = new World();
  const { send } = await world.start(
    `people: { ${access} after: { reader: { as: { roles: ["reader"] }, run: (call) => {
      noteEvent(call);
      if (call.event.type === "people.created") throw new Error("later");
    } } } }`,
    { ...auth, log, now: clock.now, codeParts: { clock, random: () => 0.5 } },
  );
  const path = "/api/v1/people";
  const created = await send({ method: "POST", path, content: { public: true, name: "Ada" } });
  assert.equal(created.status, 201, created.text);
  await until("the first attempt has failed", () => warnings.length === 1);
  const { location = "" } = created.headers;
  await send({ method: "PATCH", path: location, content: { public: false } });
  await world.called(2); // the resource has left
  clock.moveTo(clock.now() + 5_000);
  await until("the second attempt is given up", () => warnings.length === 2);
  assert.match(
    String(warnings[1]),
    /attempt 2: Its roles could see the resource at the change, and cannot see it now/,
  );
  const calls = world.calls.read();
  assert.deepEqual(
    calls.map(({ type }) => type),
    ["people.created", "people.deleted"],
  );
});

test("the client of a consumer has the rights of its roles, and without them there is no client", async () => {
  const world = new World();
  const write = `run: async ({ client }) => {
    if (client === undefined) return note({ status: "no client" });
    await client.reports.create({}).then(() => note({ status: 201 }), (error) => note({ status: error.status }));
  }`;
  const after = [
    `none: { ${write} }`,
    `reader: { as: { roles: ["reader"] }, ${write} }`,
    `editor: { as: { roles: ["editor"] }, ${write} }`,
    `service: { as: "service", ${write} }`,
  ];
  const { create } = await world.start(
    `people: { access: { read: "public", write: "public" }, after: { ${after.join(", ")} } },
     reports: { access: { read: "nobody", write: { role: "editor" } } }`,
    auth,
  );
  await create("people");
  const calls = await world.called<{ status: unknown }>(4);
  assert.deepEqual(calls.map(({ status }) => String(status)).sort(), ["201", "201", "403", "no client"]);
});

test("a consumer whose roles can read nothing says so", async () => {
  const warnings: string[] = [];
  const log = {
    info: () => {},
    error: () => {},
    warn: (text: string) => warnings.push(text),
  } as unknown as Log;
  const world = new World();
  const forReaders = access.replace("{ where", '{ role: "reader", where');
  await world.start(
    `people: { ${forReaders} after: { mail: { as: { roles: ["raeder"] }, run: noteEvent } } }`,
    {
      ...auth,
      log,
    },
  );
  await until("the service says it", () => warnings.length > 0);
  assert.deepEqual(warnings, [
    'the consumer people/mail delivers nothing: Callers with the roles "raeder" cannot read the collection "people". Give the consumer a role that can, or as: "service".',
  ]);
});
