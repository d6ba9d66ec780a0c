/** Callers who see different attributes of a resource get different representations, each with its own ETag. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../../folder.ts";
import { check } from "../check.ts";
import { type Request, type ServiceOptions, startService, startServiceForFile } from "../service.ts";
import { auth, type Caller, createAs, outcome, sendAs } from "./callers.ts";

const collections = {
  people: {
    attributes: { salary: { roles: ["hr"] } },
    access: { read: "public", write: "authenticated" },
  },
} as const;
const path = "/api/v1/people";

const service = await startServiceForFile({ auth, collections });
const { path: target, id } = await createAs(service, "hans", "people", { name: "Eva", salary: 5 });
await sendAs(service, "hans", { method: "PATCH", path: target, content: { salary: 6 } });

/** What every answer to a read says to caches. */
const headers = { Vary: /\bAuthorization\b/, "Cache-Control": "private, no-cache" };

const tagFor = async (who: Caller | undefined, request: Request): Promise<string> => {
  const answer = await sendAs(service, who, request);
  check(answer, { status: 200, headers });
  return answer.headers.etag ?? "";
};

describe("a caller who sees a part of a resource gets another ETag for", () => {
  const reads: Record<string, () => Request> = {
    "the resource": () => ({ path: target }),
    "the resource cut down": () => ({ path: `${target}?fields=name` }),
    "a version": () => ({ path: `${target}?version=1` }),
    "the resource at a time": () => ({ path: `${target}?at=2100-01-01` }),
    "a list": () => ({ path }),
    "a filtered list": () => ({ path: `${path}?name=Eva` }),
    "a list asked for by content": () => ({ method: "QUERY", path, content: { filter: { name: "Eva" } } }),
    "a table": () => ({ path, headers: { Accept: "text/csv" } }),
    lines: () => ({ path, headers: { Accept: "application/x-ndjson" } }),
  };
  for (const [name, request] of Object.entries(reads))
    test(name, async () => {
      const tags = { hans: await tagFor("hans", request()), ada: await tagFor("ada", request()) };
      assert.notEqual(tags.hans, tags.ada);
      assert.equal(await tagFor("bob", request()), tags.ada, "another caller with the same view");
      assert.equal(await tagFor(undefined, request()), tags.ada, "nobody in particular");
      const with_ = (etag: string) => ({
        ...request(),
        headers: { ...request().headers, "If-None-Match": etag },
      });
      for (const who of ["hans", "ada"] as const)
        for (const whose of ["hans", "ada"] as const) {
          const answer = await sendAs(service, who, with_(tags[whose]));
          check(answer, {
            status: who === whose ? 304 : 200,
            headers: { ...headers, ETag: tags[who] },
          });
        }
    });

  test("a write, alone and in a batch", async () => {
    const grade = (n: number) => ({ method: "PATCH", path: target, content: { grade: n } });
    for (const who of ["hans", "ada"] as const) {
      const alone = await sendAs(service, who, grade(who === "ada" ? 1 : 2));
      assert.equal(alone.headers.etag, await tagFor(who, { path: target }));
      const operations = [3, 4, 5].map((n) => ({
        method: "PATCH",
        path: `/people/${id}`,
        headers: { Prefer: "return=minimal" },
        body: { grade: `${who}${n}` },
      }));
      const answer = await sendAs(service, who, {
        method: "POST",
        path: "/api/v1/_batch",
        content: { operations },
      });
      const { results } = answer.json as { results: { headers: { ETag: string } }[] };
      const tag = await tagFor(who, { path: target });
      assert.deepEqual(
        results.map(({ headers }) => headers.ETag),
        [tag, tag, tag],
      );
    }
  });
});

describe("a precondition of a write names the version, in the ETag of any view:", () => {
  const conditions: [name: string, headers: (tags: Tags) => Record<string, string>, expected: string][] = [
    ["If-Match with the caller's own", ({ own }) => ({ "If-Match": own }), "200"],
    ["If-Match with another view's", ({ other }) => ({ "If-Match": other }), "200"],
    ["If-Match with the version alone", ({ version }) => ({ "If-Match": `"${version}"` }), "200"],
    ["If-Match among others", ({ other }) => ({ "If-Match": `"77", ${other}` }), "200"],
    ["If-Match with an earlier version", ({ version }) => ({ "If-Match": `"${version - 1}"` }), "412"],
    ["If-Match with an earlier version of the view", ({ earlier }) => ({ "If-Match": earlier }), "412"],
    ["If-Match that is weak", ({ own }) => ({ "If-Match": `W/${own}` }), "412"],
    ["If-Match with another beginning", ({ version }) => ({ "If-Match": `"0${version}"` }), "412"],
    ["If-None-Match with the caller's own", ({ own }) => ({ "If-None-Match": own }), "412"],
    ["If-None-Match with another view's", ({ other }) => ({ "If-None-Match": `W/${other}` }), "412"],
    ["If-None-Match with an earlier version", ({ earlier }) => ({ "If-None-Match": earlier }), "200"],
  ];
  type Tags = { own: string; other: string; earlier: string; version: number };
  for (const [name, headersOf, expected] of conditions)
    for (const who of ["hans", "ada"] as const)
      test(`${name}, by ${who}`, async () => {
        const other = who === "hans" ? "ada" : "hans";
        const tag = await tagFor(who, { path: target });
        const version = Number(/\d+/.exec(tag)?.[0]);
        const tags: Tags = {
          own: tag,
          other: await tagFor(other, { path: target }),
          earlier: tag.replace(/\d+/, String(version - 1)),
          version,
        };
        const headers = headersOf(tags);
        const content = { id, name: `${name} ${who}` };
        for (const request of [
          { method: "PATCH", path: target, content, headers },
          {
            method: "POST",
            path: "/api/v1/_batch",
            content: { operations: [{ method: "PATCH", path: `/people/${id}`, headers, body: { n: 1 } }] },
          },
        ]) {
          const answer = await sendAs(service, who, request);
          assert.equal(outcome(answer).slice(0, 3), expected, answer.text);
          if (expected === "412") assert.equal(answer.headers.etag, tag);
          if (expected === "200") break; // the version is another one now
        }
      });
});

test("a restored resource has the ETag of the caller's view", async () => {
  const answer = await sendAs(service, "ada", {
    method: "POST",
    path: `${target}/_restore`,
    content: { version: 1 },
    headers: { "If-Match": await tagFor("hans", { path: target }) },
  });
  check(answer, { status: 200, headers: { ETag: await tagFor("ada", { path: target }) } });
});

test("the ETag of a view stays after a restart, differs in another store, and reveals no hidden value", async () => {
  const folder = makeFolder();
  const tags: string[] = [];
  const open = async (name: string, more: Partial<ServiceOptions> = {}) => {
    const store = { kind: "sqlite", path: join(folder, name) } as const;
    const opened = await startService({ auth, collections, store, ...more });
    try {
      const list = await sendAs(opened, "ada", { path });
      const [first] = list.json as { id: string }[];
      const place =
        first === undefined
          ? await createAs(opened, "hans", "people", { salary: 1 })
          : { path: `${path}/${first.id}` };
      tags.push((await sendAs(opened, "ada", { path: place.path })).headers.etag ?? "");
    } finally {
      await opened.stop();
    }
  };
  await open("a.db");
  await open("a.db");
  await open("b.db");
  const attributes = { salary: { roles: ["hr"] }, grade: { roles: ["hr"] } };
  await open("a.db", { collections: { people: { ...collections.people, attributes } } });
  const [first, again, elsewhere, hidesMore] = tags;
  assert.match(first ?? "", /^"1-[\w-]{8}"$/);
  assert.equal(again, first);
  assert.notEqual(elsewhere, first);
  assert.notEqual(hidesMore, first);
  for (const names of ['["salary"]', "salary", '["view",["salary"]]'])
    assert.ok(!first?.includes(createHash("sha256").update(names).digest("base64url").slice(0, 8)));
});
