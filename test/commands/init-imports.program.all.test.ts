/** What `holdfast init` has written fits the data: the next commands import files, and stores are served as they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { run, serve, serveHere, stop } from "./cli.ts";
import { collectionsIn, database, folderWith, follow, init } from "./init-fixture.ts";

test("the data of a database comes back as it was, with its relations", async (t) => {
  const cwd = await folderWith({ "db.json": JSON.stringify(database) });
  await follow(t, cwd, await init(t, cwd, "db.json"));
  const service = await serveHere(t, {}, { cwd });
  const read = async (path: string) => (await fetch(`${service.base}/${path}`)).json();
  assert.deepEqual(await read("posts"), database.posts);
  assert.deepEqual(await read("profile/1"), { id: 1, ...database.profile });
  const [comment] = database.comments;
  assert.deepEqual(await read("posts/1/comments?embed=post"), [{ ...comment, post: database.posts[0] }]);
});

test("ids of several kinds become texts, and those that cannot be ids are named with the option that imports them", async (t) => {
  const cwd = await folderWith({
    "db.json": JSON.stringify({
      posts: [{ id: 1 }, { id: "b" }],
      items: [{ id: "shop:1" }, { id: "x" }],
      lines: [
        { id: 1, itemId: "shop:1", postId: 1 },
        { id: 2, itemId: "x", postId: "b" },
      ],
    }),
  });
  const outcome = await init(t, cwd, "db.json");
  const text = collectionsIn(cwd);
  assert.match(
    text,
    /\/\/ Some ids are numbers and others are texts, so all of them become texts\.\n {4}posts: \{\},/,
  );
  assert.match(text, /\/\/ 1 of the ids cannot be ids here, such as "shop:1"\./);
  assert.match(text, /lines: \{\n {6}id: "integer",/);
  assert.match(outcome.stdout, /npx holdfast import db\.json --ids keep-in:oldId$/m);
  await follow(t, cwd, outcome);
  const service = await serveHere(t, {}, { cwd });
  const lines = (await (await fetch(`${service.base}/lines?embed=item,post`)).json()) as {
    item: { oldId?: string };
    post: { id: string };
  }[];
  assert.deepEqual(
    lines.map(({ item, post }) => [item.oldId, post.id]),
    [
      ["shop:1", "1"],
      [undefined, "b"],
    ],
  );
});

test("files that refer to each other say which reference must wait, and both can be imported", async (t) => {
  const cwd = await folderWith({
    "teams.json": '[{"id":1,"userId":1}]',
    "users.json": '[{"id":1,"teamId":1}]',
  });
  const outcome = await init(t, cwd, "teams.json", "users.json");
  assert.match(
    collectionsIn(cwd).replaceAll(/\n\s*\/\/ /g, " "),
    /"userId" refers to "users", which is imported later because it refers to "teams" itself\. Declare the reference after both imports\./,
  );
  await follow(t, cwd, outcome);
  const together = await folderWith({
    "db.json": '{"teams":[{"id":1,"userId":1}],"users":[{"id":1,"teamId":1}]}',
  });
  await follow(t, together, await init(t, together, "db.json"));
  assert.equal(collectionsIn(together).match(/onDelete/g)?.length, 2);
});

test("what cannot be a collection is left out with a comment, and so does the import", async (t) => {
  const cwd = await folderWith({
    "db.json": JSON.stringify({ version: 1, words: ["a"], "my posts": [{ id: 1 }], posts: [{ id: 1 }, 7] }),
  });
  const outcome = await init(t, cwd, "db.json");
  const text = collectionsIn(cwd);
  for (const comment of [
    '// "version" in db.json is not a list of objects, so it is left out.',
    '// "words" in db.json is not a list of objects, so it is left out.',
    '// "my posts" in db.json cannot be the name of a collection, so it is left out.',
    "// 1 item cannot be imported. The first is in line 1: is not a JSON object",
  ])
    assert.ok(text.includes(comment), `${comment}\n${text}`);
  await follow(t, cwd, outcome);
  assert.equal((await run(t, ["export", "posts"], { cwd })).stdout, '{"id":1}\n');
});

test("ids in _id of a database are imported list by list", async (t) => {
  const cwd = await folderWith({
    "db.json": '{"comments":[{"_id":"c","postId":"a"}],"posts":[{"_id":"a"},{"_id":"b"}]}',
  });
  const outcome = await init(t, cwd, "db.json");
  await follow(t, cwd, outcome);
  const service = await serveHere(t, {}, { cwd });
  assert.deepEqual(await (await fetch(`${service.base}/comments?embed=post`)).json(), [
    { id: "c", postId: "a", post: { id: "a" } },
  ]);
});

test("an open store becomes declared as it is, while its service runs", async (t) => {
  const cwd = await folderWith({});
  const open = await serve(t, [], { cwd });
  const create = async (name: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${open.base}/${name}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as { id: string };
  };
  const { id } = await create("posts", { title: "One" });
  await create("comments", { text: "x", postId: id });
  const { stdout } = await init(t, cwd, "holdfast.db");
  assert.match(stdout, /^Next:\n {2}npx holdfast serve\n$/m);
  assert.equal((await stop(open)).exitCode, 0);
  const service = await serveHere(t, {}, { cwd });
  const [comment] = (await (await fetch(`${service.base}/comments?_expand=post`)).json()) as {
    post: object;
  }[];
  assert.deepEqual(comment?.post, { id, title: "One" });
  assert.equal((await fetch(`${service.base}/others`)).status, 404);
  const [found] = (await (await fetch(`${service.base}/posts?q=one`)).json()) as object[];
  assert.deepEqual(found, { id, title: "One" });
});

test("options that an import needs are taken, and are in the next commands", async (t) => {
  const cwd = await folderWith({
    "prices.csv": "sku;price\nA;1.5\n",
    "map.json": '{"type":"FeatureCollection","data":{"features":[{"id":1,"name":"x"}]}}',
  });
  const outcome = await init(
    t,
    cwd,
    "prices.csv",
    "map.json",
    "--delimiter",
    ";",
    "--at",
    "data.features",
  ).catch(() => undefined);
  assert.equal(outcome, undefined, "--at is for JSON");
  const csv = await init(t, cwd, "prices.csv", "--delimiter", ";", "-o", "a.mjs");
  assert.match(csv.stdout, /npx holdfast import prices prices\.csv --delimiter ';' --config a\.mjs$/m);
  const json = await init(t, cwd, "map.json", "--at", "data.features");
  assert.match(json.stdout, /npx holdfast import map map\.json --at data\.features$/m);
  await follow(t, cwd, json);
});
test("files are imported in the order of the next commands", async (t) => {
  const cwd = await folderWith({
    "books.ndjson":
      '{"id":"b1","title":"x","author_id":1}\n{"id":"b2","author_id":"2","at":"2024-01-01T00:00:00.000Z"}\n',
    "reviews.json": '[{"_id":"r1","bookIds":["b1","b2"],"books":"taken"},{"_id":"r2","bookIds":[]}]',
    "authors.csv":
      'id,name,born,active,score,zip,count,address.city,list\n1,Ada,1815-12-10,true,1.5,00123,1,Oslo,"[""a"",1]"\n2,Bob,,false,2,9999,x,,\n',
  });
  const outcome = await init(t, cwd, "books.ndjson", "reviews.json", "authors.csv");
  await follow(t, cwd, outcome);
  const { stdout } = await run(t, ["check"], { cwd });
  assert.match(stdout, /everything fits/);
});
