/** Related resources in responses (`embed`), and filters through references. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { auth } from "./access/callers.ts";
import { check } from "./check.ts";
import { linkOf } from "./follow.ts";
import { startFor, startService, startServiceForFile } from "./service.ts";
import { openTestStore } from "./test-store.ts";

const text = { type: "string", maxLength: 4_000_000 } as const;
const list = { type: "array", items: text } as const;
const collections = {
  teams: { schema: { type: "object", properties: { name: text } } },
  users: {
    schema: { type: "object", properties: { name: text, teamId: text } },
    references: { teamId: "teams" },
  },
  tags: { schema: { type: "object", properties: { name: text } } },
  articles: {
    schema: { type: "object", properties: { title: text, authorId: text, tagIds: list } },
    references: { authorId: "users", tagIds: { collection: "tags", as: "tags" } },
  },
  comments: {
    schema: { type: "object", properties: { text, articleId: text, n: { type: "integer" } } },
    indexes: [["articleId", "-n"]],
    references: { articleId: "articles" },
  },
  kinds: { schema: { type: "object", properties: { name: text } } },
  // No relation leads back to the kinds, because two references do.
  things: {
    schema: { type: "object", properties: { kindId: text, otherKindId: text } },
    references: { kindId: "kinds", otherKindId: "kinds" },
  },
  bare: { references: { userId: "users", by: { collection: "tags", inverse: "bare" } } },
  lonely: { schema: { type: "object", properties: { text } } },
  loose: {
    schema: { type: "object", properties: { userId: text }, additionalProperties: true },
    references: { userId: { collection: "users", as: "user", inverse: "loose" } },
  },
} as const;

type Json = Record<string, unknown>;

const service = await startServiceForFile({ collections, limits: { bodyBytes: 4_000_000 } });
const make = async (collection: string, attributes: Json) =>
  (await service.create(collection, attributes)).id;
const team = await make("teams", { name: "core" });
const ada = await make("users", { name: "Ada", teamId: team });
const bob = await make("users", { name: "Bob" });
const red = await make("tags", { name: "red" });
const blue = await make("tags", { name: "blue" });
const first = await make("articles", { title: "first", authorId: ada, tagIds: [blue, red] });
const second = await make("articles", { title: "second", authorId: bob });
await make("articles", { title: "third" });
const comments: string[] = [];
for (let n = 0; n < 7; n++) comments.push(await make("comments", { text: `c${n}`, articleId: first, n }));

const get = (path: string, headers = {}) => service.send({ method: "GET", path: `/api/v1${path}`, headers });
const read = async (path: string) => {
  const answer = await get(path);
  check(answer, { status: 200 });
  return answer.json as Json & Json[];
};
const refused = async (path: string, detail: RegExp) => {
  const answer = await get(path);
  check(answer, { status: 400, problem: "INVALID_PARAMETER", violations: [{}] });
  assert.match(String((answer.json as { detail: string }).detail), detail);
};

describe("embed", () => {
  test("puts related resources under the names of the relations", async () => {
    const [one, two, three] = await read(
      "/articles?embed=author.team,tags,comments(limit:2,sort:-n)&sort=title",
    );
    assert.deepEqual(one, {
      id: first,
      title: "first",
      authorId: ada,
      tagIds: [blue, red],
      author: { id: ada, name: "Ada", teamId: team, team: { id: team, name: "core" } },
      tags: [
        { id: blue, name: "blue" },
        { id: red, name: "red" },
      ],
      comments: [6, 5].map((n) => ({ id: comments[n], text: `c${n}`, articleId: first, n })),
      _next: (one as { _next: unknown })._next,
    });
    assert.deepEqual(two, {
      id: second,
      title: "second",
      authorId: bob,
      author: { id: bob, name: "Bob", team: null },
      tags: [],
      comments: [],
    });
    assert.deepEqual(Object.entries(three ?? {}).slice(2), [
      ["author", null],
      ["tags", []],
      ["comments", []],
    ]);
    const next = String((one as { _next: Json })._next.comments);
    const rest = await read(next.slice("/api/v1".length).replace("limit=2", "limit=9"));
    assert.deepEqual(
      rest.map(({ n }) => n),
      [4, 3, 2, 1, 0],
    );
  });

  test("chooses the attributes of embedded resources by their names in fields", async () => {
    const path = `/articles/${first}?embed=author.team,comments(limit:1)`;
    const c0 = { id: comments[0], text: "c0" };
    const named = await read(`${path}&fields=title,author.name,comments.text,author.team.name`);
    const { _next, ...shown } = named;
    assert.deepEqual(shown, {
      id: first,
      title: "first",
      author: { id: ada, name: "Ada", team: { id: team, name: "core" } },
      comments: [c0],
    });
    const whole = await read(`${path}&fields=title,author,author.team`);
    assert.deepEqual(whole.author, { id: ada, team: { id: team, name: "core" } });
    assert.equal("articleId" in ((whole.comments as Json[])[0] ?? {}), true);
    const without = await read(`/articles/${first}?embed=author&fields=-tagIds,-author.teamId`);
    assert.deepEqual(without, { id: first, title: "first", authorId: ada, author: { id: ada, name: "Ada" } });
    const mixed = await read(`/articles/${first}?embed=author.team&fields=*,-tagIds,author.team.name`);
    assert.deepEqual(mixed, {
      id: first,
      title: "first",
      authorId: ada,
      author: { id: ada, team: { id: team, name: "core" } },
    });
    for (const fields of ["-tagIds,author.name,author.*", "author.name,author.*,-tagIds", "-tagIds,author.*"])
      assert.deepEqual(await read(`/articles/${first}?embed=author&fields=${fields}`), {
        ...without,
        author: { id: ada, name: "Ada", teamId: team },
      });
    await refused("/articles?embed=author&fields=-author.*", /Name the attributes to leave out/);
    const list = await get("/articles?embed=author&fields=author.name&sort=title&limit=1");
    check(list, { status: 200, json: [{ id: first, author: { id: ada, name: "Ada" } }] });
    assert.match(String(list.headers.link), /_events\?fields=id&since/);
    await refused(
      "/articles?fields=author.name",
      /a relation that "embed" does not name. Add "embed=author"/,
    );
    await refused("/articles?embed=author&fields=author.nam", /Did you mean "name"/);
    await refused("/articles?embed=author&fields=-author", /Leave it out there/);
    await refused(
      "/articles?embed=author&fields=author.name,-author.teamId",
      /both names attributes and leaves out "author.teamId"/,
    );
  });

  test("embeds the resources that meet conditions, and links to the next ones", async () => {
    const path = `/articles/${first}?embed=comments(n:gte=2,n:lte=5,text:in=c2,c3,c5,sort:-n,limit:2)`;
    const one = await read(path);
    assert.deepEqual(
      (one.comments as Json[]).map(({ n }) => n),
      [5, 3],
    );
    const next = String((one._next as Json).comments);
    assert.deepEqual(
      (await read(next.slice("/api/v1".length))).map(({ n }) => n),
      [2],
    );
    const content = { filter: { id: first }, embed: ["comments(n=6)"] };
    const query = await service.send({ method: "QUERY", path: "/api/v1/articles", content });
    assert.deepEqual((query.json as { comments: Json[] }[])[0]?.comments.length, 1);
    const none = await read(`/articles/${second}?embed=comments(n=6)`);
    assert.deepEqual(none.comments, []);
    await refused(`/articles?embed=comments(limit=2)`, /Write "limit:2".*write "limit:eq=2"/);
    await refused(`/articles?embed=comments(m=2)`, /names "m", which is not an attribute of "comments"/);
    await refused(`/articles?embed=comments(n:around=2)`, /is not understood/);
    await refused(`/articles?embed=comments(n=two)`, /number/);
    await refused(`/articles?embed=comments(article.title=x)`, /only the filters of lists/);
    await refused(`/articles?embed=tags(name=red)`, /has all resources of the ids in "tagIds"/);
    await refused(`/articles?embed=author(name=Ada)`, /has options/);
    await refused(`/articles?embed=comments(open,n=2)`, /has the option "open"/);
  });

  test("works on one resource, on nested paths, in QUERY, in an envelope and as NDJSON", async () => {
    const one = await read(`/articles/${first}?embed=comments(limit:1)&fields=title`);
    assert.deepEqual(one, {
      id: first,
      title: "first",
      comments: [{ id: comments[0], text: "c0", articleId: first, n: 0 }],
      _next: one._next,
    });
    const [nested] = await read(`/users/${ada}/articles?embed=author&fields=title`);
    assert.deepEqual(nested, { id: first, title: "first", author: { id: ada, name: "Ada", teamId: team } });
    const content = { filter: { title: "second" }, embed: ["author", "comments(limit:3)"], envelope: true };
    const query = await service.send({ method: "QUERY", path: "/api/v1/articles", content });
    check(query, { status: 200 });
    const { items } = query.json as { items: Json[] };
    assert.deepEqual(items[0]?.author, { id: bob, name: "Bob" });
    const again = await service.send({ method: "GET", path: query.headers.location ?? "" });
    assert.equal(JSON.stringify((again.json as { items: Json[] }).items), JSON.stringify(items));
    const lines = (await get("/articles?embed=author", { Accept: "application/x-ndjson" })).text.split("\n");
    assert.equal(JSON.parse(lines[0] as string).author.name, "Ada");
    const head = await service.send({ method: "HEAD", path: "/api/v1/articles?embed=author" });
    assert.equal(head.headers["content-length"], String((await get("/articles?embed=author")).bytes.length));
  });

  test("follows the pages of a list", async () => {
    const answer = await get("/articles?embed=author&limit=1&sort=title");
    const next = linkOf(answer, "next");
    assert.match(next, /embed=author/);
    const [two] = (await service.send({ method: "GET", path: next })).json as Json[];
    assert.deepEqual(two?.author, { id: bob, name: "Bob" });
    assert.match(answer.headers.link ?? "", /<\/api\/v1\/articles\/_events\?since=[^>]+>; rel="monitor"/);
  });

  test("has an entity tag of its content, and no time", async () => {
    const user = await service.create("users", { name: "Carl" });
    const article = await service.create("articles", { title: "tagged", authorId: user.id });
    for (const path of [`/articles/${article.id}?embed=author`, "/articles?title=tagged&embed=author"]) {
      const before = await get(path);
      const { etag = "", "last-modified": time } = before.headers;
      assert.match(etag, /^W\/"e-/);
      assert.equal(time, undefined);
      check(await get(path, { "If-None-Match": etag }), { status: 304 });
      await service.send({ method: "PATCH", path: user.path, content: { name: `${path}` } });
      const changed = await get(path, { "If-None-Match": etag });
      check(changed, { status: 200 });
      assert.notEqual(changed.headers.etag, etag);
    }
  });

  test("shows every change at once, however often the list was read before", async () => {
    const path = `/articles?id=${first}&embed=author.team,comments(limit:1,sort:-n)`;
    const shown = async () => {
      const answers = [];
      for (let n = 0; n < 4; n++) answers.push(await get(path));
      const [{ headers, text: content }] = answers as [(typeof answers)[0]];
      for (const again of answers) {
        assert.equal(again.text, content);
        assert.equal(again.headers.etag, headers.etag);
      }
      check(await get(path, { "If-None-Match": String(headers.etag) }), { status: 304 });
      return JSON.parse(content) as Json[];
    };
    const [before] = (await shown()) as [Json & { author: Json & { team: Json }; comments: Json[] }];
    for (const [at, name] of [
      [`/users/${ada}`, "Ada L."],
      [`/teams/${team}`, "kernel"],
      [`/users/${ada}`, "Ada"],
      [`/teams/${team}`, "core"],
    ]) {
      check(await service.send({ method: "PATCH", path: `/api/v1${at}`, content: { name } }), {
        status: 200,
      });
      const [now] = (await shown()) as [typeof before];
      assert.equal(at?.startsWith("/users") ? now.author.name : now.author.team.name, name);
    }
    const { id } = await service.create("comments", { text: "late", articleId: first, n: 99 });
    const [more] = (await shown()) as [typeof before];
    assert.deepEqual(
      more.comments.map((comment) => comment.text),
      ["late"],
    );
    check(await service.send({ method: "DELETE", path: `/api/v1/comments/${id}` }), { status: 205 });
    assert.deepEqual(await shown(), [before]);
    const [other] = await read(`/articles?id=${first}&embed=comments(limit:2,sort:-n)`);
    assert.deepEqual([other?.comments].flat().length, 2);
  });

  test("shows where a list of references ends", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.push((await service.create("tags", { name: `t${n}` })).id);
    const { path } = await service.create("articles", { tagIds: ids });
    const one = await read(`${path.slice("/api/v1".length)}?embed=tags`);
    assert.deepEqual(
      (one.tags as Json[]).map(({ name }) => name),
      ["t0", "t1", "t2", "t3", "t4"],
    );
    assert.deepEqual(one._next, { tags: `/api/v1/tags?id:in=${ids.slice(5).join(",")}` });
    const all = await read(`${path.slice("/api/v1".length)}?embed=tags(limit:7)`);
    assert.equal((all.tags as Json[]).length, 7);
    assert.equal(all._next, undefined);
  });

  test("two lists inside each other need no limits", async () => {
    const count = async (embed: string) => {
      const { text: body } = await get(`/teams?embed=${embed}`);
      return body.match(/"text":"c\d"/g)?.length;
    };
    assert.equal(await count("users.articles.comments"), 5);
    const all = "users(limit:1000),users.articles(limit:1000),users.articles.comments(limit:1000)";
    assert.equal(await count(all), 7);
    assert.equal(await count(all.replaceAll("1000", "max")), 7);
  });

  test("refuses what it does not understand, and what would be too much", async () => {
    await refused(
      "/articles?embed=writer",
      /"writer", which is not a relation of "articles"\. Its relations: author, tags, comments\. To declare this one, give "articles" the option "references", such as "references": \{"writerId":\{"collection":"writers","as":"writer","inverse":"articles"\}\}/,
    );
    await refused(
      "/articles?embed=likes",
      /To declare this one, give "likes" the option "references", such as "references": \{"articleId":\{"collection":"articles","as":"article","inverse":"likes"\}\}/,
    );
    await refused("/articles?embed=autor", /Did you mean "author"\?/);
    await refused("/articles?embed=", /has the part ""/);
    await refused("/articles?embed=author,", /has the part ""/);
    await refused(
      "/articles?embed=author(limit:2)",
      /has options in "author\(limit:2\)", which is a single resource/,
    );
    await refused(
      "/articles?embed=comments(limit:0)",
      /limit of "0" in "comments\(limit:0\)"\. It must be a whole number of at least 1, or max/,
    );
    await refused(
      "/articles?embed=comments(max:2)",
      /has the option "max:2" in "comments\(max:2\)"\. The options are "limit:5"/,
    );
    await refused("/articles?embed=comments(limit:2", /has the part/);
    await refused("/articles?embed=comments(sort:nothing)", /"nothing".*is not an attribute of "comments"/);
    await refused("/articles?embed=tags(sort:name)", /has the order of the ids/);
    await refused("/articles?embed=author,author", /names "author" twice/);
    await refused("/articles?embed=author.articles.author.articles&limit=1", /at most 3 deep/);
    await refused(
      `/articles/${first}?embed=comments(limit:1001)`,
      /has a limit of 1001 in "comments\(limit:1001\)"\. At most 1,000 are possible/,
    );
    const many =
      "author.team,author.articles.tags,author.articles.author,author.articles.comments,tags.articles,comments.article.author,comments.article.tags";
    await refused(`/articles?limit=1&embed=${many}`, /names 12 relations, but can name at most 10/);
    await refused(`/articles/${first}?embed=author&version=1`, /cannot be used together with "version"/);
    await refused(`/articles/${first}?embed=author&at=2030-01-01`, /cannot be used together with "at"/);
    await refused("/articles?embed=author&at=2030-01-01", /cannot be used together with "embed"/);
    await refused("/articles/_events?embed=author", /events contain only the resource itself/);
    check(await get("/articles?embed=author", { Accept: "text/csv" }), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name: "embed" }],
    });
    check(await service.send({ method: "POST", path: "/api/v1/articles?embed=author", content: {} }), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ name: "embed" }],
    });
  });

  test("says that a reference leads to a resource that the caller cannot see, and not whether it exists", async (t) => {
    const open = await openTestStore(makeFolder({}));
    t.after(() => open.release());
    const store = { store: open.address };
    const before = await startService({ ...store, openCollections: true });
    const names = ["shown", "hidden", "gone"];
    const people = await Promise.all(names.map((name) => before.create("people", { name })));
    const [shown, hidden, gone] = people.map(({ id }) => id);
    await before.send({ method: "DELETE", path: `/api/v1/people/${gone}` });
    for (const [n, id] of [shown, hidden, gone, undefined].entries())
      await before.create("issues", { n, ...(id !== undefined && { assigneeId: id, watcherIds: [id] }) });
    await before.stop();
    const closed = await startFor(t, {
      ...store,
      accept: true,
      auth,
      collections: {
        people: {
          schema: { type: "object", properties: { name: text } },
          access: { read: { where: { name: "shown" } } },
        },
        issues: {
          schema: {
            type: "object",
            properties: { n: { type: "integer" }, assigneeId: text, watcherIds: list },
          },
          references: {
            assigneeId: { collection: "people", as: "assignee" },
            watcherIds: { collection: "people", as: "watchers" },
          },
          access: { read: "public" },
        },
      },
    });
    const path = "/api/v1/issues?sort=n&fields=n&embed=watchers,assignee";
    const expected = [
      { n: 0, watchers: [{ id: shown, name: "shown" }], assignee: { id: shown, name: "shown" } },
      { n: 1, watchers: [], assignee: null, _hidden: ["assignee"] },
      { n: 2, watchers: [], assignee: null, _hidden: ["assignee"] },
      { n: 3, watchers: [], assignee: null },
    ];
    const withoutIds = (found: unknown) => (found as Json[]).map(({ id: _, ...others }) => others);
    const found = await closed.send({ path });
    assert.deepEqual(withoutIds(found.json), expected);
    const content = { sort: ["n"], fields: ["n"], embed: ["watchers", "assignee"] };
    const queried = await closed.send({ method: "QUERY", path: "/api/v1/issues", content });
    assert.deepEqual(withoutIds(queried.json), expected);
    for (const [n, { id }] of (found.json as { id: string }[]).entries()) {
      const one = await closed.send({ path: `/api/v1/issues/${id}?fields=n&embed=watchers,assignee` });
      assert.deepEqual(withoutIds([one.json]), [expected[n]]);
    }
  });

  test("a written member that was embedded is named as such", async () => {
    const { path } = await service.create("articles", { title: "x", authorId: ada });
    const one = await read(`${path.slice("/api/v1".length)}?embed=author`);
    const members = { _hidden: ["author"], _next: { comments: "/" } };
    const answer = await service.send({ method: "PUT", path, content: { ...one, ...members } });
    const detail = "is not an attribute of the schema: it was embedded in a response. Leave it out";
    const violations = ["author", "_hidden", "_next"].map((name) => ({
      pointer: `#/${name}`,
      code: "unknownAttribute",
      detail,
    }));
    check(answer, { status: 400, problem: "VALIDATION_FAILED", violations });
  });

  test("works where no relation leads back", async () => {
    const kind = await service.create("kinds", { name: "k" });
    const { path } = await service.create("things", { kindId: kind.id });
    const one = await read(`${path.slice("/api/v1".length)}?embed=kind,otherKind`);
    assert.deepEqual([one.kind, one.otherKind], [{ id: kind.id, name: "k" }, null]);
    const advice =
      /To name the relation to "things", set "inverse" of the reference "kindId" in "things" to "things"/;
    await refused(`/kinds/${kind.id}?embed=things`, advice);
    await refused(`/kinds?things.n=1`, advice);
  });

  test("says how to name a relation that has no name, and how to declare one", async () => {
    await refused(
      "/bare?embed=user",
      /"user", which is not a relation of "bare"\. To name the relation to "users", set "as" of the reference "userId" in "bare" to "user"/,
    );
    await refused("/bare?embed=writer", /set "as" of the reference "userId" in "bare" to "user"/);
    await refused(
      "/bare?embed=by",
      /set "as" of the reference "by" in "bare" to a name that no attribute has/,
    );
    const none =
      /The collection has no relations\. To declare this one, give "comments" the option "references", such as "references": \{"lonelyId":/;
    await refused("/lonely?embed=comments", none);
    for (const name of ["_embed", "_expand"]) await refused(`/lonely?${name}=comments`, none);
    for (const name of ["_populate", "populate"]) {
      await refused(
        `/lonely?${name}=comments`,
        /Write "embed" with a relation\. "comments" is not a relation of "lonely"\./,
      );
      await refused(`/lonely?${name}=comments`, none);
    }
    await refused(
      "/articles?_populate=comments,autor",
      /"autor" is not a relation of "articles"\. Did you mean "author"\?/,
    );
    await refused("/articles?_populate=comments,author.team", /Write "embed=comments,author\.team"/);
    await refused(
      `/articles/${first}?_populate=comment`,
      /"comment" is not a relation .* Did you mean "comments"\?/,
    );
  });

  test("replaces an attribute with the name of the relation", async () => {
    const { path } = await service.create("loose", { userId: ada, user: "own" });
    const one = await service.send({ method: "GET", path: `${path}?embed=user` });
    assert.equal(one.text.match(/"user":/g)?.length, 1);
    assert.deepEqual((one.json as Json).user, { id: ada, name: "Ada", teamId: team });
  });

  test("ends where its texts are too long for a response", async () => {
    const long = await service.create("users", { name: "x".repeat(900_000) });
    for (let n = 0; n < 5; n++) await service.create("articles", { title: `long ${n}`, authorId: long.id });
    const answer = await get("/articles?title:startsWith=long&embed=author");
    const found = answer.json as { author: Json | null }[];
    assert.ok(found.length === 3 && found.every(({ author }) => author !== null), String(found.length));
    assert.match(answer.headers.link ?? "", /rel="next"/);
    const user = await read(`/users/${long.id}?embed=articles.author`);
    const articles = user.articles as { author: Json | null }[];
    assert.ok(
      articles.length === 2 && articles.every(({ author }) => author !== null),
      String(articles.length),
    );
    assert.match(String((user._next as { articles: string }).articles), /\/articles\?limit=5&cursor=/);
  });
});

describe("a filter through a relation", () => {
  const titles = async (query: string) =>
    (await read(`/articles?sort=title&${query}`)).map(({ title }) => title);

  test("finds resources by attributes of related ones", async () => {
    assert.deepEqual(await titles("author.name=Ada"), ["first", "x"]);
    assert.deepEqual(await titles("author.name:in=Bob,Nobody"), ["second"]);
    assert.deepEqual(await titles("author.name:startsWith=b"), ["second"]);
    assert.deepEqual(await titles("tags.name=red"), ["first"]);
    assert.deepEqual(await titles("comments.n:gte=6"), ["first"]);
    assert.deepEqual(await titles("comments.n:gte=7"), []);
    assert.deepEqual(await titles("comments:exists=true"), ["first"]);
    assert.deepEqual(await titles("title:in=first,second,third&comments:exists=false"), ["second", "third"]);
    assert.deepEqual(await titles("title:in=first,second,third&author.name:ne=Ada"), ["second", "third"]);
    assert.deepEqual(await titles("title:in=first,second,third&author.teamId:exists=false"), [
      "second",
      "third",
    ]);
    assert.deepEqual(await titles(`author.id=${bob}`), ["second"]);
    assert.deepEqual(
      await titles(
        `filter=${JSON.stringify({ or: [{ "author.name": "Bob" }, { tags: { exists: true }, title: "first" }] })}`,
      ),
      ["first", "second"],
    );
    const content = { filter: { "author.name": ["Ada"], title: "first" }, count: "exact" };
    const query = await service.send({ method: "QUERY", path: "/api/v1/articles", content });
    check(query, { status: 200, headers: { "x-total-count": "1" } });
    assert.deepEqual(
      (await read("/users?sort=name&articles.title=first")).map(({ name }) => name),
      ["Ada"],
    );
  });

  test("goes through two relations", async () => {
    assert.deepEqual(await titles("author.team.name=core"), ["first", "x"]);
    assert.deepEqual(await titles("title:in=first,second,third&author.team.name:ne=core"), [
      "second",
      "third",
    ]);
    assert.deepEqual(await titles("title:in=first,second,third&author.team:exists=false"), [
      "second",
      "third",
    ]);
    const texts = await read("/comments?sort=n&article.author.name=Ada&n:lte=1");
    assert.deepEqual(
      texts.map((each) => each.text),
      ["c0", "c1"],
    );
    assert.deepEqual(
      (await read("/users?sort=name&articles.comments.n=6")).map(({ name }) => name),
      ["Ada"],
    );
    assert.deepEqual(await read("/articles?aggregate=count&author.team.name=core&title=first"), [
      { count: 1 },
    ]);
  });

  test("changes the entity tag of the list, and has no monitor link", async () => {
    const user = await service.create("users", { name: "Dora" });
    await service.create("articles", { title: "y", authorId: user.id });
    const path = "/articles?author.name=Dora";
    const before = await get(path);
    assert.doesNotMatch(before.headers.link ?? "", /monitor/);
    check(await get(path, { "If-None-Match": before.headers.etag ?? "" }), { status: 304 });
    await service.send({ method: "PATCH", path: user.path, content: { name: "Eve" } });
    const changed = await get(path, { "If-None-Match": before.headers.etag ?? "" });
    check(changed, { status: 200 });
    assert.deepEqual(changed.json, []);
  });

  test("is refused where it cannot be answered", async () => {
    await refused(
      "/articles?author.nme=Ada",
      /is not an attribute of "users", the collection of "author"\. Did you mean "author\.name"\?/,
    );
    await refused(
      "/articles?author=Ada",
      /is a relation\. Name an attribute of the related resources, such as "author\.id", or write "author:exists"/,
    );
    await refused("/comments?article.author.team.name=core", /A filter can go through 2 relations/);
    await refused("/articles?fields=author.name", /Add "embed=author"/);
    await refused("/articles/_events?author.name=Ada", /only the filters of lists/);
    for (const filter of ["user.name=Ada", "user.name:exists=true", "user:exists=true"])
      await refused(`/loose/_events?${filter}`, /"user" is a relation, and only the filters of lists/);
    await refused(
      "/articles?author.name=Ada&at=2030-01-01",
      /cannot be used together with a filter by related resources/,
    );
    for (const [collection, name] of [
      ["articles", "author.name"],
      ["loose", "user.name"],
    ]) {
      const webhook = {
        url: "https://127.0.0.1/",
        collections: [collection],
        filter: { [`${name}`]: "Ada" },
      };
      const answer = await service.send({ method: "POST", path: "/api/v1/_webhooks", content: webhook });
      assert.equal(answer.status, 400);
      assert.match(answer.text, /only the filters of lists/);
    }
  });
});

describe("a sort and groups through a reference", () => {
  const some = "title:in=first,second,third";

  test("use the attribute of the resource that the reference names", async () => {
    const titles = async (query: string) =>
      (await read(`/articles?${some}&${query}`)).map(({ title }) => title);
    assert.deepEqual(await titles("sort=author.name"), ["third", "first", "second"]);
    assert.deepEqual(await titles("sort=-author.name,title"), ["second", "first", "third"]);
    assert.deepEqual(await titles("_sort=author.name&_order=desc"), ["second", "first", "third"]);
    assert.deepEqual(await titles('sort=["author.name","DESC"]'), ["second", "first", "third"]);
    const content = { filter: { title: ["first", "second", "third"] }, sort: ["-author.name"], limit: 1 };
    const query = await service.send({ method: "QUERY", path: "/api/v1/articles", content });
    check(query, { status: 200 });
    assert.deepEqual((query.json as Json[])[0]?.title, "second");
    assert.deepEqual(await read(`/articles?${some}&aggregate=count&group=author.name&sort=-author.name`), [
      { "author.name": "Bob", count: 1 },
      { "author.name": "Ada", count: 1 },
      { count: 1 },
    ]);
    assert.deepEqual(await read("/comments?distinct=article.title"), [
      { "article.title": "first", count: 7 },
    ]);
    const nested = await read(`/users/${ada}/articles?${some}&sort=author.name`);
    assert.deepEqual(
      nested.map(({ title }) => title),
      ["first"],
    );
  });

  test("continue after a change of the related resource where the page ended", async () => {
    const users: { id: string; path: string }[] = [];
    for (const name of ["ka", "kb", "kc"]) {
      const user = await service.create("users", { name });
      users.push(user);
      await service.create("articles", { title: "paged", authorId: user.id });
    }
    const page = await get("/articles?title=paged&sort=author.name&limit=2");
    const next = linkOf(page, "next");
    // The position of the page is that of the time of the page.
    await service.send({ method: "PATCH", path: users[1]?.path ?? "", content: { name: "kz" } });
    const rest = await service.send({ method: "GET", path: next });
    check(rest, { status: 200 });
    const authors = (rest.json as Json[]).map(({ authorId }) => authorId);
    assert.deepEqual(authors, [users[2]?.id, users[1]?.id]);
    const other = { method: "GET", path: next.replace("sort=author.name", "sort=author.id") };
    check(await service.send(other), { status: 400, problem: "INVALID_CURSOR", violations: [{}] });
    // The entity tag includes the position where the next page begins.
    const ask = (tag: string) =>
      get("/articles?title=paged&sort=author.name&limit=2", { "If-None-Match": tag });
    const current = await ask("");
    check(await ask(current.headers.etag ?? ""), { status: 304 });
    await service.send({ method: "PATCH", path: users[2]?.path ?? "", content: { name: "kd" } });
    check(await ask(current.headers.etag ?? ""), { status: 200 });
  });

  test("are refused where they cannot be answered", async () => {
    await refused("/articles?sort=author", /is a relation\. Name an attribute .* such as "author\.id"/);
    await refused("/articles?sort=comments.n", /"comments" can be several resources/);
    await refused("/articles?sort=tags.name", /"tags" can be several resources/);
    await refused("/articles?sort=author.team.name", /"sort" and "group" through one/);
    await refused("/articles?sort=author.nme", /Did you mean "author\.name"/);
    await refused("/articles?sort=author.name,author.name", /names "author\.name" twice/);
    await refused("/articles?sort=author.name&at=2030-01-01", /together with a sort by related resources/);
    await refused("/articles/_events?sort=author.name", /cannot be used here/);
    await refused("/users?embed=articles(sort:author.name)", /only the filters of lists/);
    await refused("/articles?aggregate=count&group=comments.n", /"comments" can be several resources/);
    await refused("/articles?aggregate=count&group=author.team.name", /"sort" and "group" through one/);
    await refused("/articles?aggregate=max(author.name)", /only the filters of lists/);
    await refused(
      "/articles?aggregate=count&group=author.name&cursor=x",
      /Page through groups with "offset"/,
    );
  });
});

test("figures count by related resources, also on a nested path", async () => {
  const figures = await read("/articles?aggregate=count&comments.n:gte=6");
  assert.deepEqual(figures, [{ count: 1 }]);
  const nested = await read(`/articles/${first}/comments?aggregate=count,max(n)`);
  assert.deepEqual(nested, [{ count: 7, "max(n)": 6 }]);
  const query = {
    method: "QUERY",
    path: `/api/v1/articles/${first}/comments`,
    content: { aggregate: ["count"] },
  };
  assert.deepEqual((await service.send(query)).json, [{ count: 7 }]);
  await refused("/articles?aggregate=count&embed=author", /Figures contain no resources/);
});

test("a bulk change finds resources by related ones", async () => {
  const content = {
    filter: { "author.name": "Ada" },
    update: { title: { $set: "y" } },
    max: 9,
    dryRun: true,
  };
  const bulk = await service.send({ method: "POST", path: "/api/v1/articles/_bulk", content });
  check(bulk, { status: 200 });
  const found = await read("/articles?author.name=Ada&aggregate=count");
  assert.deepEqual([{ count: (bulk.json as { changed: number }).changed }], found);
  assert.notDeepEqual(found, [{ count: 0 }]);
});
