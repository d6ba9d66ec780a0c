/** Whatever a database contains, the configuration for it is accepted, and everything is imported and comes back. */
import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { runCli } from "../../src/commands/run.ts";
import { inShell } from "../../src/commands/shell.ts";
import { makeFolder } from "../folder.ts";
import { generator } from "../seed.ts";

const runs = Math.max(25, Number(process.env.HOLDFAST_TEST_RUNS ?? 0));

const random = generator();
const below = (n: number) => Math.floor(random() * n);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
const many = <T>(most: number, make: (n: number) => T) =>
  Array.from({ length: below(most + 1) }, (_, n) => make(n));

const collectionNames = ["posts", "people", "blog-posts", "categories", "data", "Boxes", "x_y", "status"];

const attributeNames = [
  ..."title post posts postId postIds post_id personId blogPostId blog_post_id categoryId categoryIDs boxId statusId x_yId".split(
    " ",
  ),
  ..."dataId a.b __proto__ constructor toString _id _embed password createdAt select Id _id2 comments".split(
    " ",
  ),
  "odd name",
  'quote"',
  "line\u2028break",
  "*/ //",
  "",
  "ü".repeat(40),
  "long".repeat(60),
];

const scalars: readonly (() => unknown)[] = [
  () => below(5),
  () => String(below(5)),
  () => random() * 10,
  () => -1e300,
  () => random() < 0.5,
  () => null,
  () => "",
  () => "2024-01-02",
  () => "2024-01-02T10:00:00.000Z",
  () => "2024-02-30",
  () => "a text with */ in it\n",
];

function anyValue(depth = 0): unknown {
  const kind = random();
  if (depth > 3 || kind < 0.75) return pick(scalars)();
  if (kind < 0.87) return many(3, () => anyValue(depth + 1));
  return Object.fromEntries(many(4, () => [pick(attributeNames), anyValue(depth + 1)]));
}

/** Attributes that have one kind of value each: otherwise almost none would. */
function collectionOf() {
  const idKind = below(4);
  const kinds = new Map(
    attributeNames.map((name) => [name, random() < 0.7 ? pick(scalars) : () => anyValue()]),
  );
  return many(6, (n) => {
    const id = idKind === 0 ? n : idKind === 1 ? `k${n}` : idKind === 2 ? pick([n, `k${n}`]) : undefined;
    const attributes = many(8, () => {
      const name = pick(attributeNames);
      return [name, kinds.get(name)?.()];
    });
    return { ...Object.fromEntries(attributes), ...(id !== undefined && { id }) };
  });
}

/** Runs a command in this process. The configuration of each folder is a module of its own. */
async function runHere(args: readonly string[], cwd: string) {
  let text = "";
  const stream = () => new PassThrough().setEncoding("utf8").on("data", (more: string) => (text += more));
  const streams = { stdin: new PassThrough(), stdout: stream(), stderr: stream() };
  const exitCode = await inShell({ ...streams, cwd: () => cwd }, () => runCli(args, process.env));
  return { exitCode, text };
}

test("the configuration for any database is accepted, and its import loses nothing", async () => {
  let references = 0;
  for (let n = 0; n < runs; n++) {
    const names = collectionNames.filter(() => random() < 0.5);
    const database = Object.fromEntries([...names, "always"].map((name) => [name, collectionOf()]));
    const cwd = makeFolder({ "db.json": JSON.stringify(database) });
    await mkdir(join(cwd, "node_modules"));
    await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
    const written = await runHere(["init", "db.json"], cwd);
    const shown = JSON.stringify(database);
    assert.equal(written.exitCode, 0, `${written.text}\n${shown}`);
    references += written.text.match(/ refers to /g)?.length ?? 0;
    for (const [, words = ""] of written.text.matchAll(/^ {2}npx holdfast (import .*)$/gm)) {
      const { exitCode, text } = await runHere(words.split(" "), cwd);
      assert.equal(exitCode, 0, `${words}\n${text}\n${shown}`);
    }
    for (const [name, resources] of Object.entries(database)) {
      const { text } = await runHere(["export", name], cwd);
      assert.equal(text.split("\n").length - 1, resources.length, `${name}: ${text}\n${shown}`);
    }
  }
  assert.ok(references > 0);
});
