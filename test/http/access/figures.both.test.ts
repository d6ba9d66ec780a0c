/**
 * Figures reveal nothing that a caller cannot list: for every kind of caller and rule, they are the figures of the list
 * that the same caller gets, and what the caller cannot see has no effect on any part of the response.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type AccessDeclaration, owner } from "../../../src/access/access-declaration.ts";
import type { DateUnit, Figure, GroupKey } from "../../../src/query/figures.ts";
import { computeFigures } from "../../store/contract/figures-oracle.ts";
import { type Answer, startServiceForFile } from "../service.ts";
import { auth, type Caller, callers, outcome, sendAs } from "./callers.ts";

const rules: Readonly<Record<string, AccessDeclaration>> = {
  world: { read: "public" },
  members: { read: "authenticated" },
  shut: {},
  editors: { read: { role: "editor" } },
  owned: { read: owner("authorId") },
  shared: { read: [owner("authorId"), { role: "editor" }] },
  partly: { list: owner("authorId"), read: "public" },
  unlisted: { list: "nobody", read: "public" },
  drafts: { read: [{ where: { status: "draft" } }, { role: "editor" }], write: { role: "editor" } },
};

const schema = {
  properties: {
    authorId: { type: "string" },
    status: { type: "string" },
    total: { type: "number" },
    at: { type: "string" },
    salary: { type: "number" },
    secret: { type: "string" },
  },
};

const resources = ["ada", "bob", "bob", "eve"].flatMap((authorId, n) =>
  ["draft", "open"].map((status, m) => ({
    id: `r${n}${m}`,
    authorId,
    status,
    total: n * 2 + m,
    at: `2026-0${n + 1}-01`,
    salary: 1_000 + n,
    secret: `s${n}`,
  })),
);

const service = await startServiceForFile({
  auth,
  collections: Object.fromEntries(
    Object.entries(rules).map(([name, access]) => [
      name,
      {
        schema,
        access,
        indexes: ["status", ["status", "total"]],
        attributes: { salary: { roles: ["hr"] }, secret: { writeOnly: true } },
      },
    ]),
  ),
  seeds: Object.fromEntries(Object.keys(rules).map((name) => [name, resources])),
});

const who = [undefined, ...(Object.keys(callers) as Caller[])];
const pathOf = (collection: string) => `/api/v1/${collection}`;
const ask = (caller: Caller | undefined, collection: string, query: string, headers = {}): Promise<Answer> =>
  sendAs(service, caller, { path: `${pathOf(collection)}?${query}`, headers });

const count: Figure = { kind: "count", name: "count" };
const of = (kind: "sum" | "avg" | "min" | "max", name: string): Figure => ({
  kind,
  path: [name],
  name: `${kind}(${name})`,
});
const by = (name: string, unit?: DateUnit): GroupKey => ({
  name: unit === undefined ? name : `${name}:${unit}`,
  path: [name],
  unit,
});
const figures = [count, of("sum", "total"), of("avg", "total"), of("min", "at"), of("max", "authorId")];
const groups = [[], [by("status")], [by("authorId"), by("status")], [by("at", "month")]];
const filters = ["", "&total:gte=3", "&status=open"];
const matchesOf = (filter: string) => (resource: Record<string, unknown>) =>
  filter === "" || (filter.includes("total") ? Number(resource.total) >= 3 : resource.status === "open");

describe("figures are those of the list of the same caller:", () => {
  for (const collection of Object.keys(rules))
    for (const caller of who)
      test(`the figures of ${collection} are those of the list of ${caller ?? "nobody in particular"}`, async () => {
        const list = await ask(caller, collection, "limit=100");
        for (const group of groups)
          for (const filter of filters) {
            const keys = group.map(({ name }) => name).join(",");
            const names = figures.map(({ name }) => name).join(",");
            const answer = await ask(
              caller,
              collection,
              `aggregate=${names}${keys && `&group=${keys}`}&sort=-sum(total)${filter}`,
            );
            assert.equal(outcome(answer), outcome(list));
            if (list.status !== 200) continue;
            const listed = (list.json as Record<string, unknown>[]).filter(matchesOf(filter));
            const sort = [{ of: "figures" as const, place: 1, descending: true }];
            const expected = computeFigures(listed, { figures, group, sort, limit: 100, offset: 0 });
            const rows = (answer.json as Record<string, unknown>[]).map((each) =>
              [...group, ...figures].map(({ name }) => JSON.stringify(each[name])),
            );
            assert.deepEqual(rows, expected.groups);
          }
      });
});

describe("a hidden attribute does not exist in figures:", () => {
  const asked = (name: string) => [
    `aggregate=sum(${name})`,
    `aggregate=max(${name})`,
    `aggregate=count&group=${name}`,
    `aggregate=count&group=${name}:month`,
    `distinct=${name}`,
    `aggregate=count&${name}=1`,
    `aggregate=count&group=status&sort=${name}`,
  ];
  for (const [hidden, caller] of [
    ["salary", "ada"],
    ["salary", undefined],
    ["secret", "hans"],
    ["secret", "ada"],
  ] as const)
    test(`${hidden}, ${caller ?? "nobody in particular"}`, async () => {
      for (const [n, query] of asked(hidden).entries()) {
        const answer = await ask(caller, "world", query);
        assert.equal(outcome(answer), "400 INVALID_PARAMETER", query);
        // The same text as for an attribute that does not exist.
        const none = await ask(caller, "world", asked("zzzzzz")[n] as string);
        const detailsOf = ({ json }: Answer, name: string) =>
          (json as { violations: { detail: string }[] }).violations.map(({ detail }) =>
            detail.replaceAll(name, "x"),
          );
        assert.deepEqual(detailsOf(answer, hidden), detailsOf(none, "zzzzzz"));
      }
    });

  test("but does for whom it is", async () => {
    const answer = await ask("hans", "world", "aggregate=max(salary)");
    assert.deepEqual(answer.json, [{ "max(salary)": 1_003 }]);
  });
});

describe("a change that a caller cannot see changes nothing in the response:", () => {
  test("not the figures, not the ETag, and the old one is still current", async () => {
    for (const query of ["aggregate=count,sum(total)", "distinct=status", "distinct=status&total:gte=1"]) {
      const before = await ask("ada", "drafts", query);
      const path = `${pathOf("drafts")}/r01`; // not a draft
      const change = { method: "PATCH", path, content: { total: 1_000 + query.length } };
      assert.equal((await sendAs(service, "eve", change)).status, 200);
      const now = await ask("ada", "drafts", query);
      assert.deepEqual(
        [now.text, now.headers.etag, now.headers.link],
        [before.text, before.headers.etag, before.headers.link],
      );
      const again = await ask("ada", "drafts", query, { "If-None-Match": before.headers.etag });
      assert.equal(again.status, 304);
    }
  });
});
