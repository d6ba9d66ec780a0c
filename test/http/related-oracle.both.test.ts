/**
 * Compares embedding and filters through relations with a model in memory, for several callers. And what a caller
 * cannot list has no influence: the same requests get the same responses after it has changed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Filter, matches, type RelatedCondition } from "../../src/query/filter.ts";
import { type Compare, compareBy, type StoreSortKey } from "../../src/query/sort.ts";
import {
  compareInWorld,
  idsIn,
  type Resource,
  relatedTo,
  valuesInWorld,
  type World,
} from "../related-model.ts";
import { generator, seed } from "../seed.ts";
import { auth, type Caller, sendAs } from "./access/callers.ts";
import { itemsFrom, pagesFrom } from "./pages.ts";
import { type Service, startService } from "./service.ts";

const text = { type: "string" } as const;
const common = { name: text, n: { type: "integer" }, open: { type: "boolean" } } as const;
const number = { type: "integer" } as const;
const schema = (more: object = {}) => ({ type: "object", properties: { ...common, ...more } });
const openOnly = { where: { open: true } } as const;
const editor = { role: "editor" } as const;
const write = "authenticated";

const collections = {
  teams: { id: "integer", schema: schema(), access: { read: "public", write } },
  users: {
    schema: schema({ teamId: number }),
    references: { teamId: "teams" },
    attributes: { n: { roles: ["editor"] } },
    access: { read: [editor, openOnly], write },
  },
  tags: { schema: schema(), access: { list: openOnly, read: "public", write } },
  articles: {
    id: "integer",
    schema: schema({ authorId: text, reviewerId: text, tagIds: { type: "array", items: text } }),
    references: {
      authorId: { collection: "users", inverse: "articles" },
      reviewerId: { collection: "users", inverse: "reviewed" },
      tagIds: { collection: "tags", as: "tags" },
    },
    indexes: ["authorId"],
    attributes: { reviewerId: { roles: ["editor"] } },
    access: { read: "public", write },
  },
  comments: {
    schema: schema({ articleId: number, parentId: text }),
    references: {
      articleId: "articles",
      parentId: { collection: "comments", inverse: "replies" },
    },
    indexes: [["articleId", "-n"]],
    access: { read: [editor, openOnly], write },
  },
} as const;

type Name = keyof typeof collections;

/** A relation, as the documentation says that it is named. */
interface Known {
  name: string;
  kind: "reference" | "inverse";
  collection: Name;
  path: readonly [string];
  isList: boolean;
  /** Whether only editors can use it. */
  isForEditors?: boolean;
}

const reference = (name: string, collection: Name, attribute: string, isList = false): Known => ({
  name,
  kind: "reference",
  collection,
  path: [attribute],
  isList,
});
const inverse = (name: string, collection: Name, attribute: string): Known => ({
  name,
  kind: "inverse",
  collection,
  path: [attribute],
  isList: true,
});
const relations: Record<Name, readonly Known[]> = {
  teams: [inverse("users", "users", "teamId")],
  users: [
    reference("team", "teams", "teamId"),
    inverse("articles", "articles", "authorId"),
    { ...inverse("reviewed", "articles", "reviewerId"), isForEditors: true },
  ],
  tags: [inverse("articles", "articles", "tagIds")],
  articles: [
    reference("author", "users", "authorId"),
    { ...reference("reviewer", "users", "reviewerId"), isForEditors: true },
    reference("tags", "tags", "tagIds", true),
    inverse("comments", "comments", "articleId"),
  ],
  comments: [
    reference("article", "articles", "articleId"),
    reference("parent", "comments", "parentId"),
    inverse("replies", "comments", "parentId"),
  ],
};

const who: readonly (Caller | undefined)[] = [undefined, "ada", "eve"];
const isEditor = (caller: Caller | undefined) => caller === "eve";

function canList(caller: Caller | undefined, collection: Name, { open }: Resource): boolean {
  if (collection === "tags") return open === true;
  if (collection === "users" || collection === "comments") return isEditor(caller) || open === true;
  return true;
}

function shown(caller: Caller | undefined, collection: Name, resource: Resource): Resource {
  const hidden = isEditor(caller) ? [] : { users: ["n"], articles: ["reviewerId"] }[String(collection)];
  return Object.fromEntries(Object.entries(resource).filter(([name]) => hidden?.includes(name) !== true));
}

const random = generator();
const below = (n: number) => Math.floor(random() * n);
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T;

let service: Service;
const world: Record<Name, Resource[]> = { teams: [], users: [], tags: [], articles: [], comments: [] };
const sizes: Record<Name, number> = { teams: 3, users: 6, tags: 5, articles: 12, comments: 40 };

/** What every world has, for the tests: a team with a user that all callers can list and one that only editors can. */
function certain(users: number): object {
  return users < 2 ? { teamId: world.teams[0]?.id, open: users === 0 } : {};
}

async function make(collection: Name): Promise<void> {
  const maybe = (name: string, target: Name) => {
    const all = world[target];
    return all.length === 0 || below(4) === 0 ? {} : { [name]: oneOf(all).id };
  };
  const own: Resource = { name: oneOf(["a", "b", "c"]), n: below(5), open: below(3) > 0 };
  if (collection === "users") Object.assign(own, maybe("teamId", "teams"), certain(world.users.length));
  if (collection === "articles")
    Object.assign(own, maybe("authorId", "users"), maybe("reviewerId", "users"), {
      tagIds: [...new Set(Array.from({ length: below(5) }, () => oneOf(world.tags).id))],
    });
  if (collection === "comments")
    Object.assign(own, maybe("articleId", "articles"), maybe("parentId", "comments"));
  const path = `/api/v1/${collection}`;
  const { status, json, text: body } = await sendAs(service, "eve", { method: "POST", path, content: own });
  assert.equal(status, 201, body);
  world[collection].push(json as Resource);
}

before(async () => {
  // The document does not describe paths that some callers cannot use.
  service = await startService({ auth, collections, isWatched: false });
  for (const collection of Object.keys(sizes) as Name[])
    for (let n = 0; n < sizes[collection]; n++) await make(collection);
});
after(() => service.stop());

/** A relation in a request, with those below it. */
interface Node {
  relation: Known;
  limit: number;
  sort: readonly string[];
  inner: Node[];
}

function usable(caller: Caller | undefined, collection: Name): Known[] {
  return relations[collection].filter(({ isForEditors }) => isForEditors !== true || isEditor(caller));
}

function randomNodes(caller: Caller | undefined, collection: Name, depth: number): Node[] {
  const all = usable(caller, collection);
  const chosen = all.filter(() => below(2) === 0).slice(0, 2);
  return chosen.map((relation) => ({
    relation,
    limit: relation.isList ? 1 + below(4) : 1,
    sort: relation.kind === "inverse" && below(2) === 0 ? [oneOf(["name", "-name", "-id", "open"])] : [],
    inner: depth < 3 ? randomNodes(caller, relation.collection, depth + 1) : [],
  }));
}

function toText(nodes: readonly Node[], path = ""): string[] {
  return nodes.flatMap(({ relation, limit, sort, inner }) => {
    const options = [`limit:${limit}`, ...sort.map((key) => `sort:${key}`)];
    const own = `${path}${relation.name}${relation.isList ? `(${options.join(",")})` : ""}`;
    return [own, ...toText(inner, `${path}${relation.name}.`)];
  });
}

const countOf = (nodes: readonly Node[]): number =>
  nodes.reduce((sum, { inner }) => sum + 1 + countOf(inner), 0);

const keysOf = (sort: readonly string[]) =>
  sort.map((key) => ({ path: [key.replace("-", "")] as const, descending: key.startsWith("-") }));

/** The resource as a response contains it. `_next` has only the names. */
function embedded(
  caller: Caller | undefined,
  collection: Name,
  resource: Resource,
  nodes: readonly Node[],
): Resource {
  const result: Resource = shown(caller, collection, resource);
  const cut: string[] = [];
  const hidden: string[] = [];
  for (const { relation, limit, sort, inner } of nodes) {
    const all = relatedTo(world as World, resource, relation);
    const listed = all.filter((each) => canList(caller, relation.collection, each));
    const own = (each: Resource) => embedded(caller, relation.collection, each, inner);
    if (!relation.isList) {
      result[relation.name] = listed[0] === undefined ? null : own(listed[0]);
      if (listed[0] === undefined && idsIn(resource, relation.path).length > 0) hidden.push(relation.name);
    } else if (relation.kind === "reference") {
      // The limit is about the ids, which the caller can see.
      const some = all.slice(0, limit).filter((each) => listed.includes(each));
      result[relation.name] = some.map(own);
      if (all.length > limit) cut.push(relation.name);
    } else {
      const sorted = [...listed].sort(compareBy(keysOf(sort)));
      result[relation.name] = sorted.slice(0, limit).map(own);
      if (sorted.length > limit) cut.push(relation.name);
    }
  }
  if (hidden.length > 0) result._hidden = hidden;
  if (cut.length > 0) result._next = cut.sort();
  return result;
}

/** A response with the names of `_next` instead of its links. Collects the links. */
function withNames(value: unknown, links: string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => withNames(each, links));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name !== "_next") return [name, withNames(inner, links)];
      links.push(...Object.values(inner as Record<string, string>));
      return [name, Object.keys(inner as object).sort()];
    }),
  );
}

/** A filter as a parameter, and as the reading evaluates it. */
function randomFilter(
  caller: Caller | undefined,
  collection: Name,
): [parameter: string, fits: (each: Resource) => boolean] {
  const relation = oneOf(usable(caller, collection));
  const chain = [relation, ...(below(2) === 0 ? [oneOf(usable(caller, relation.collection))] : [])];
  const name = chain.map((each) => each.name).join(".");
  const related = (each: Resource) =>
    chain.reduce<readonly Resource[]>(
      (all, next) =>
        all
          .flatMap((one) => relatedTo(world as World, one, next))
          .filter((one) => canList(caller, next.collection, one)),
      [each],
    );
  const path = ["name"] as const;
  const value = oneOf(["a", "b", "c"]);
  switch (below(5)) {
    case 0:
      return [`${name}:exists=true`, (each) => related(each).length > 0];
    case 1:
      return [`${name}:exists=false`, (each) => related(each).length === 0];
    case 2:
      return [`${name}.name:ne=${value}`, (each) => !related(each).some((one) => one.name === value)];
    case 3:
      return [
        `${name}.name:gt=${value}`,
        (each) => related(each).some((one) => matches({ kind: "gt", path, values: [value] }, one)),
      ];
    default:
      return [`${name}.name=${value}`, (each) => related(each).some((one) => one.name === value)];
  }
}

/** Keys of related resources, as a request names them and as the reading evaluates them. */
function randomKeys(
  caller: Caller | undefined,
  collection: Name,
): { name: string; key: StoreSortKey & { through: RelatedCondition } }[] {
  const single = usable(caller, collection).filter(({ isList }) => !isList);
  return single.slice(0, below(3)).map((relation) => {
    const attribute = oneOf(["name", "open", "id", ...(isEditor(caller) ? ["n"] : [])]);
    const isFull = isEditor(caller) || canList(caller, relation.collection, { open: false });
    const filter: Filter = isFull
      ? { kind: "and", filters: [] }
      : { kind: "in", path: ["open"], values: [true] };
    const through = { kind: "related", relation, filter } as const;
    return {
      name: `${relation.name}.${attribute}`,
      key: { path: [attribute], descending: below(2) === 0, through },
    };
  });
}

/** A sort as a parameter, and as the reading evaluates it. The last key is the name. */
function randomSort(caller: Caller | undefined, collection: Name): [parameter: string, compare: Compare] {
  const keys = randomKeys(caller, collection);
  const names = keys.map(({ name, key: { descending } }) => `${descending ? "-" : ""}${name}`);
  const own = { path: ["name"] as const, descending: true };
  return [
    `sort=${[...names, "-name"].join(",")}`,
    compareInWorld(world as World, [...keys.map(({ key }) => key), own]),
  ];
}

/** Groups by attributes of related resources. */
function groupQuestion(caller: Caller | undefined, collection: Name): Question | undefined {
  const keys = randomKeys(caller, collection);
  if (keys.length === 0) return undefined;
  const filters = below(2) === 0 ? [] : [randomFilter(caller, collection)];
  const counts = new Map<string, { values: unknown[]; count: number }>();
  for (const each of world[collection]) {
    if (!canList(caller, collection, each) || !filters.every(([, fits]) => fits(each))) continue;
    const values = valuesInWorld(
      world as World,
      each,
      keys.map(({ key }) => key),
    );
    const known = counts.get(JSON.stringify(values)) ?? { values, count: 0 };
    counts.set(JSON.stringify(values), { values, count: known.count + 1 });
  }
  const order = compareBy(keys.map((_, n) => ({ path: ["values", String(n)], descending: false })));
  const expected = [...counts.values()]
    .map((each) => ({ ...each, values: { ...each.values } as Record<number, unknown> }))
    .sort(order)
    .map(({ values, count }) => ({
      ...Object.fromEntries(
        keys.flatMap(({ name }, n) => (values[n] === undefined ? [] : [[name, values[n]]])),
      ),
      count,
    }));
  const group = `group=${keys.map(({ name }) => name).join(",")}`;
  const parameters = ["aggregate=count", group, ...filters.map(([parameter]) => parameter)];
  return { caller, path: `/api/v1/${collection}?${parameters.join("&")}`, expected };
}

interface Question {
  caller: Caller | undefined;
  path: string;
  /** The body that the response has. */
  expected: unknown;
}

function randomQuestion(): Question {
  const caller = oneOf(who);
  const collection = oneOf(Object.keys(sizes) as Name[]);
  const groups = below(4) === 0 ? groupQuestion(caller, collection) : undefined;
  if (groups !== undefined) return groups;
  const nodes = randomNodes(caller, collection, 1);
  const embeds = countOf(nodes) > 10 || nodes.length === 0 ? [] : nodes;
  const embed = embeds.length === 0 ? [] : [`embed=${toText(embeds).join(",")}`];
  const listed = (each: Resource) => canList(caller, collection, each);
  const known = world[collection].filter(listed);
  const one = oneOf(known);
  if (one !== undefined && below(3) === 0)
    return {
      caller,
      path: `/api/v1/${collection}/${one.id}?${embed.join("&")}`,
      expected: embedded(caller, collection, one, embeds),
    };
  const filters = below(3) === 0 ? [] : [randomFilter(caller, collection)];
  const [sort, compare] = randomSort(caller, collection);
  const parameters = [...embed, ...filters.map(([parameter]) => parameter), "limit=10", sort];
  const found = known
    .filter((each) => filters.every(([, fits]) => fits(each)))
    .sort(compare)
    .slice(0, 10)
    .map((each) => embedded(caller, collection, each, embeds));
  return { caller, path: `/api/v1/${collection}?${parameters.join("&")}`, expected: found };
}

/** A list with a cut array in every world: an editor can list two users of the first team. */
function cutQuestion(): Question {
  const relation = relations.teams.find(({ collection }) => collection === "users") as Known;
  const nodes: Node[] = [{ relation, limit: 1, sort: [], inner: [] }];
  const expected = world.teams.map((each) => embedded("eve", "teams", each, nodes));
  return { caller: "eve", path: `/api/v1/teams?embed=${toText(nodes).join(",")}`, expected };
}

const runs = Number(process.env.HOLDFAST_TEST_RELATED_RUNS ?? 160);

test("random lists and resources contain what a reading of everything in memory says", async () => {
  let followed = 0;
  for (let n = 0; n < runs; n++) {
    const { caller, path, expected } = n === 0 ? cutQuestion() : randomQuestion();
    const answer = await sendAs(service, caller, { method: "GET", path });
    const context = `HOLDFAST_TEST_SEED=${seed} ${caller} ${path}`;
    assert.equal(answer.status, 200, `${context} ${answer.text}`);
    const links: string[] = [];
    assert.deepEqual(withNames(answer.json, links), expected, context);
    for (const link of links.slice(0, 2)) {
      const next = await sendAs(service, caller, { method: "GET", path: link });
      assert.equal(next.status, 200, `${context} ${link} ${next.text}`);
      followed++;
    }
  }
  assert.ok(followed > 0);
});

test("the pages of a list that related resources sort have each resource once, in its order", async () => {
  let pages = 0;
  for (let n = 0; n < runs / 8; n++) {
    const caller = oneOf(who);
    const collection = oneOf(["users", "articles", "comments"] as const);
    const [sort, compare] = randomSort(caller, collection);
    const expected = world[collection].filter((each) => canList(caller, collection, each)).sort(compare);
    const seen: unknown[] = [];
    const path = `/api/v1/${collection}?${sort}&limit=3`;
    for await (const { json } of pagesFrom((request) => sendAs(service, caller, request), path)) {
      seen.push(...(json as Resource[]).map(({ id }) => id));
      pages++;
    }
    const context = `HOLDFAST_TEST_SEED=${seed} ${caller} ${collection} ${sort}`;
    assert.deepEqual(
      seen,
      expected.map(({ id }) => id),
      context,
    );
  }
  assert.ok(pages > runs / 8);
});

test("callers that read the same list again and again each get their own", async () => {
  // Every caller sees the same teams, but not the same users of them.
  const relation = relations.teams.find(({ collection }) => collection === "users") as Known;
  const nodes: Node[] = [{ relation, limit: 5, sort: [], inner: [] }];
  const path = `/api/v1/teams?embed=${relation.name}`;
  const pages = new Set<string>();
  for (let n = 0; n < 4; n++)
    for (const caller of who) {
      const { json, text: body } = await sendAs(service, caller, { method: "GET", path });
      const expected = world.teams.map((each) => embedded(caller, "teams", each, nodes));
      assert.deepEqual(withNames(json, []), expected, `HOLDFAST_TEST_SEED=${seed} ${caller}`);
      pages.add(body);
    }
  assert.ok(pages.size > 1);
});

test("the links of cut arrays lead to the rest", async () => {
  const relation = relations.articles.find(({ name }) => name === "comments") as Known;
  for (const caller of who)
    for (const article of world.articles) {
      const all = relatedTo(world as World, article, relation)
        .filter((each) => canList(caller, "comments", each))
        .sort(compareBy(keysOf(["-n"])))
        .map(({ id }) => id);
      const path = `/api/v1/articles/${article.id}?embed=comments(limit:1,sort:-n)`;
      const one = (await sendAs(service, caller, { method: "GET", path })).json as {
        comments: Resource[];
        _next?: { comments: string };
      };
      const seen = [...one.comments];
      const link = one._next?.comments;
      if (link !== undefined)
        seen.push(...(await itemsFrom<Resource>((request) => sendAs(service, caller, request), link)));
      assert.deepEqual(
        seen.map(({ id }) => id),
        all,
      );
    }
});

test("what a caller cannot list has no influence on what they get", async () => {
  const compared = ["etag", "link", "x-total-count", "content-range", "content-length"];
  const ask = async ({ caller, path }: Question) => {
    const { status, text: body, headers } = await sendAs(service, caller, { method: "GET", path });
    const some = Object.fromEntries(
      compared.map((name) => [name, headers[name]?.replace(/since=[\w-]+/, "")]),
    );
    return { status, body: body.replace(/"(?:instance)":"[^"]*",/, ""), headers: some };
  };
  const asked = Array.from({ length: runs / 4 }, randomQuestion).filter(({ caller }) => !isEditor(caller));
  const nested = world.users
    .filter((each) => canList("ada", "users", each))
    .map(({ id }) => ({
      caller: "ada" as const,
      path: `/api/v1/users/${id}/articles?count=exact`,
      expected: [],
    }));
  const all = [...asked, ...nested];
  const before = await Promise.all(all.map(ask));
  for (const collection of ["users", "comments", "tags"] as const)
    for (const each of world[collection].filter((one) => !canList("ada", collection, one))) {
      const path = `/api/v1/${collection}/${each.id}`;
      const content = { name: oneOf(["a", "b", "c", "x"]), n: below(9) };
      const { status } = await sendAs(service, "eve", { method: "PATCH", path, content });
      assert.equal(status, 200);
      Object.assign(each, content);
    }
  const isOwnList = ({ path }: Question) => /\/(?:teams|articles)\?/.test(path);
  for (const [n, question] of all.entries()) {
    const again = await ask(question);
    const first = before[n];
    assert.deepEqual(
      again.body,
      first?.body,
      `HOLDFAST_TEST_SEED=${seed} ${question.caller} ${question.path}`,
    );
    if (isOwnList(question)) assert.deepEqual(again.headers, first?.headers, question.path);
  }
});

test("a relation by a hidden attribute does not exist", async () => {
  const user = oneOf(world.users.filter((each) => canList("ada", "users", each)));
  const asked: [path: string, unknown: string][] = [
    ["/articles?embed=reviewer", "/articles?embed=revviewer"],
    ["/articles?reviewer.name=a", "/articles?revviewer.name=a"],
    ["/articles?reviewer:exists=true", "/articles?revviewer:exists=true"],
    ["/articles?reviewer.team.name=a", "/articles?revviewer.team.name=a"],
    ["/articles?sort=reviewer.name", "/articles?sort=revviewer.name"],
    ["/articles?aggregate=count&group=reviewer.name", "/articles?aggregate=count&group=revviewer.name"],
    ["/comments?article.reviewer.name=a", "/comments?article.revviewer.name=a"],
    [`/users/${user.id}?embed=reviewed`, `/users/${user.id}?embed=revviewed`],
    ["/users?reviewed.name=a", "/users?revviewed.name=a"],
    ["/users?reviewed:exists=false", "/users?revviewed:exists=false"],
    [`/users/${user.id}/reviewed`, `/users/${user.id}/revviewed`],
  ];
  for (const [hidden, unknown] of asked) {
    const ask = async (path: string) => {
      const { status, text: body } = await sendAs(service, "ada", { method: "GET", path: `/api/v1${path}` });
      return `${status} ${body.replaceAll("revview", "review").replace(/"instance":"[^"]*",/, "")}`;
    };
    assert.equal(await ask(hidden), await ask(unknown));
    const { status } = await sendAs(service, "eve", { method: "GET", path: `/api/v1${hidden}` });
    assert.equal(status, 200, hidden);
  }
  for (const query of ["sort=author.n", "aggregate=count&group=author.n", "author.n=1"])
    for (const [caller, expected] of [["ada", 400] as const, ["eve", 200] as const]) {
      const answer = await sendAs(service, caller, { method: "GET", path: `/api/v1/articles?${query}` });
      assert.equal(answer.status, expected, `${caller} ${query}`);
    }
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "QUERY"]) {
    const path = `/api/v1/users/${user.id}/reviewed`;
    const { status } = await sendAs(service, "ada", { method, path, content: {} });
    assert.equal(status, 404, method);
  }
});
