/** Imports by a unique key: `POST <collection>/_import?on=email` changes the resources that have the values, and makes the others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const text = { type: "string", maxLength: 100 } as const;
const service = await startServiceForFile({
  collections: {
    users: {
      schema: {
        type: "object",
        required: ["email", "name"],
        additionalProperties: false,
        properties: {
          email: text,
          name: { type: "string", minLength: 1 },
          login: text,
          state: { enum: ["new", "old"] },
          visits: { type: ["integer", "null"] },
          bossId: { type: "string" },
          teamId: text,
          slug: text,
        },
      },
      defaults: { state: "new" },
      unique: [{ attribute: "email", ignoreCase: true }, "login", ["teamId", "slug"]],
      references: { bossId: "users" },
      search: ["name"],
      indexes: ["visits"],
    },
    items: {
      id: "integer",
      schema: { properties: { code: text, n: { type: "integer" } } },
      unique: ["code"],
      timestamps: true,
    },
    partly: { schema: { properties: { code: text } }, unique: [{ attribute: "code", where: { code: "a" } }] },
  },
});

interface Report {
  resources: number;
  invalid: number;
  imported: number;
  made: number;
  changed: number;
  same: number;
  errors: { line: number; pointer: string; code: string; detail: string }[];
  generatedIds: { count: number };
  stringIds: { count: number };
}

let number = 0;
const fresh = () => `u${++number}@x.org`;
const send = (name: string, rows: readonly object[] | string, query = "on=email") =>
  service.send({
    method: "POST",
    path: `/api/v1/${name}/_import?${query}`,
    headers: { "Content-Type": typeof rows === "string" ? "text/csv" : "application/x-ndjson" },
    body: typeof rows === "string" ? rows : rows.map((each) => `${JSON.stringify(each)}\n`).join(""),
  });
const report = async (...given: Parameters<typeof send>): Promise<Report> => {
  const answer = await send(...given);
  check(answer, { status: 200 });
  return answer.json as Report;
};
const counts = ({ made, changed, same, invalid, imported }: Report) => {
  assert.equal(imported, made + changed);
  return [made, changed, same, invalid];
};
const list = async (path: string) =>
  (await service.send({ path: `/api/v1/${path}` })).json as Record<string, unknown>[];
const refused = async (...given: Parameters<typeof send>): Promise<Report> => {
  const answer = await send(...given);
  check(answer, { status: 400, problem: "INVALID_IMPORT", more: ["report"] });
  return (answer.json as { report: Report }).report;
};
const faults = ({ errors }: Report) => errors.map(({ line, pointer, code }) => [line, pointer, code]);

describe("an import by a unique key", () => {
  test("makes, changes, and leaves what is the same", async () => {
    const [a, b, c] = [fresh(), fresh(), fresh()];
    const first = await service.create("users", { email: a, name: "Ada", state: "old", visits: 1 });
    await service.create("users", { email: b, name: "Bo" });
    const rows = [
      { email: a.toUpperCase(), name: "Ada L", visits: 2 },
      { email: b, name: "Bo" },
      { email: c, name: "Cy" },
    ];
    const done = await report("users", rows);
    assert.deepEqual(counts(done), [1, 1, 1, 0]);
    assert.equal(done.generatedIds.count, 1);
    const [changed] = await list(`users?id=${first.id}`);
    assert.deepEqual(changed, { id: first.id, ...rows[0], state: "old" });
    assert.equal((await list(`users?email=${c}`))[0]?.state, "new", "a new one has defaults");
    assert.deepEqual(counts(await report("users", rows)), [0, 0, 3, 0], "a second time, all are the same");
    const many = Array.from({ length: 1_000 }, (_, n) => ({ email: `${n}@many.org`, name: "N" }));
    const late = await refused("users", [rows[1] as object, ...many, { email: b, name: "Late" }]);
    assert.deepEqual(faults(late), [[1_002, "#/email", "unique"]], "also far behind a line that is the same");
    const changes = await service.send({ path: `${first.path}/_changes` });
    assert.deepEqual(
      (changes.json as { kind: string; version: number }[]).map(({ kind, version }) => [kind, version]),
      [
        ["updated", 2],
        ["created", 1],
      ],
    );
    assert.deepEqual(
      (await list("users?q=Ada+L")).map(({ id }) => id),
      [first.id],
    );
    assert.deepEqual((await list(`users?visits=2&email=${a.toUpperCase()}`)).length, 1);
  });

  test("keeps what an item leaves out, and removes nothing but with null", async () => {
    const email = fresh();
    const { id } = await service.create("users", { email, name: "Ada", visits: 1, login: `l${email}` });
    assert.deepEqual(counts(await report("users", `email,visits\n${email},5\n`)), [0, 1, 0, 0]);
    assert.deepEqual(counts(await report("users", [{ email, visits: null }])), [0, 1, 0, 0]);
    const [found] = await list(`users?id=${id}`);
    assert.deepEqual(found, { id, email, name: "Ada", visits: null, login: `l${email}`, state: "new" });
  });

  test("by a combination, in a collection with integer ids and timestamps", async () => {
    const teamId = fresh();
    const rows = [1, 2].map((n) => ({ email: fresh(), name: "A", teamId, slug: `s${n}` }));
    assert.deepEqual(counts(await report("users", rows, "on=slug,teamId")), [2, 0, 0, 0]);
    const changed = rows.map((row) => ({ ...row, email: fresh() }));
    assert.deepEqual(counts(await report("users", changed, "on=teamId,slug")), [0, 2, 0, 0]);
    const made = await service.create("items", { code: "a" });
    const { createdAt, updatedAt } = made.body as unknown as { createdAt: string; updatedAt: string };
    const old = "2020-01-01T00:00:00.000Z";
    const done = await report(
      "items",
      [
        { code: "a", n: 1, createdAt: old },
        { code: "b", createdAt: old },
        { id: 900, code: "c" },
      ],
      "on=code",
    );
    assert.deepEqual(counts(done), [2, 1, 0, 0]);
    const items = await list("items?sort=code");
    assert.deepEqual(
      items.map((each) => [each.id, each.code, each.createdAt === old]),
      [
        [Number(made.id), "a", false],
        [items[1]?.id, "b", true],
        [900, "c", false],
      ],
    );
    assert.equal(items[0]?.createdAt, createdAt);
    assert.ok(String(items[0]?.updatedAt) >= updatedAt);
    assert.deepEqual(counts(await report("items", [{ code: "a", n: 1 }], "on=code")), [0, 0, 1, 0]);
  });

  test("refuses items without the key, repeated ones, and ids of other resources", async () => {
    const [a, b, login] = [fresh(), fresh(), fresh()];
    const { id } = await service.create("users", { email: a, name: "Ada" });
    await service.create("users", { email: fresh(), name: "Bo", login });
    const rows = [
      { name: "Ada" },
      { email: a, name: "Ada", visits: 7 },
      { email: a.toUpperCase(), name: "Ada" },
      { email: b, name: "Bo", id: "mine" },
      { email: fresh(), name: "Cy", id },
      { email: fresh() },
      { email: fresh(), name: "Dy", login },
      { email: fresh(), name: "Ed", bossId: "none" },
    ];
    const done = await refused("users", rows);
    assert.deepEqual(
      faults(done).sort(),
      [
        [1, "#/email", "required"],
        [3, "#/email", "unique"],
        [5, "#/id", "unique"],
        [6, "#/name", "required"],
        [7, "#/login", "unique"],
      ].sort(),
    );
    const other = await refused("users", [
      { email: a, name: "Ada", id: "other" },
      { email: a, name: "" },
    ]);
    assert.deepEqual(faults(other), [
      [1, "#/id", "const"],
      [2, "#/email", "unique"],
    ]);
    assert.deepEqual(faults(await refused("users", [{ email: a, name: "", login }])), [
      [1, "#/name", "minLength"],
    ]);
    assert.deepEqual(faults(await refused("users", [{ email: a, id: "a b" }])), [[1, "#/id", "id"]]);
    const taken = await refused("users", [{ email: a, login }]);
    assert.deepEqual(faults(taken), [[1, "#/login", "unique"]]);
    const [same] = await list(`users?id=${id}`);
    assert.deepEqual(same, { id, email: a, name: "Ada", state: "new" }, "nothing was written");
    const skipped = await report("users", rows.slice(0, 4), "on=email&skipInvalid=true");
    assert.deepEqual(counts(skipped), [1, 1, 0, 2]);
    assert.deepEqual((await list(`users?email=${b}`))[0]?.id, "mine");
  });

  test("a repeated key is refused also far behind the first", async () => {
    const rows = Array.from({ length: 1_500 }, () => ({ email: fresh(), name: "A" }));
    const repeated = [...rows, { ...rows[7], name: "B" }];
    const done = await refused("users", repeated);
    assert.deepEqual(faults(done), [[1_501, "#/email", "unique"]]);
    assert.deepEqual(counts(await report("users", rows)), [1_500, 0, 0, 0]);
    const next = rows.map((row, n) => (n % 2 === 0 ? row : { ...row, visits: n }));
    assert.deepEqual(counts(await report("users", next)), [0, 750, 750, 0]);
    assert.deepEqual(
      faults(await refused("users", [...next.map((row) => ({ ...row, visits: 1 })), { ...rows[7] }])),
      [[1_501, "#/email", "unique"]],
    );
  });

  test("a dry run reports the same and writes nothing", async () => {
    const [a, b] = [fresh(), fresh()];
    const { id } = await service.create("users", { email: a, name: "Ada" });
    const rows = [{ email: a, visits: 1 }, { email: b, name: "Bo" }, { email: b }];
    assert.deepEqual(counts(await report("users", rows.slice(0, 2), "on=email&dryRun=true")), [1, 1, 0, 0]);
    const invalid = await report("users", rows, "on=email&dryRun=true&skipInvalid=true");
    assert.deepEqual(counts(invalid), [1, 1, 0, 1]);
    assert.deepEqual(await list(`users?id=${id}`), [{ id, email: a, name: "Ada", state: "new" }]);
    assert.deepEqual(await list(`users?email=${b}`), []);
  });

  test("with writers at the same time, no change is lost and there is one resource for each key", async () => {
    const emails = Array.from({ length: 50 }, fresh);
    const one = (email: string, n: number) =>
      service.send({
        method: "PUT",
        path: `/api/v1/users?email=${email}`,
        content: { email, name: "P", visits: n },
      });
    const [done, ...answers] = await Promise.all([
      report(
        "users",
        emails.map((email) => ({ email, name: "I" })),
      ),
      ...emails.map(one),
    ]);
    const [madeHere, changedHere] = counts(done);
    for (const answer of answers) assert.ok([200, 201].includes(answer.status), answer.text);
    const madeThere = answers.filter(({ status }) => status === 201).length;
    assert.equal(madeThere + (madeHere ?? 0), 50);
    assert.equal(changedHere, 50 - (madeHere ?? 0));
    for (const email of emails) assert.equal((await list(`users?email=${email}`)).length, 1);
  });

  for (const [name, on] of [
    ["users", "name"],
    ["users", "teamId"],
    ["users", "email,login"],
    ["users", ""],
    ["partly", "code"],
  ] as const)
    test(`?on=${on} of ${name} is a 400 with the keys`, async () => {
      const answer = await send(name, [], `on=${on}`);
      check(answer, {
        status: 400,
        problem: "INVALID_PARAMETER",
        violations: [{ in: "query", name: "on", code: "uniqueKey" }],
      });
    });

  test("an empty import has the three numbers too, and an import without a key does not", async () => {
    assert.deepEqual(counts(await report("users", [])), [0, 0, 0, 0]);
    const { made, changed, same } = await report("users", [{ email: fresh(), name: "A" }], "");
    assert.deepEqual([made, changed, same], [undefined, undefined, undefined]);
  });
});
