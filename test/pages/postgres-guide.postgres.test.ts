/** Runs the statements and commands of the guide to PostgreSQL as printed. Only names and addresses differ. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { configuration, run, serve, stop } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { databaseFor, query } from "../postgres/databases.ts";
import { nodesOf, readPage } from "./markdown.ts";

const blocks = nodesOf(readPage("docs/how-to/postgres.md"), "code");

test("the statements of the guide make a database that a store can be copied to and served from", async (t) => {
  const own = `guide_${randomUUID().slice(0, 8)}`;
  const url = await databaseFor(t);
  const [sql = ""] = blocks.filter(({ lang }) => lang === "sql").map(({ value }) => value);
  const [before = "", after = ""] = sql.replaceAll(/\b(?:shop|holdfast)\b/g, own).split(`\\c ${own}\n`);
  assert.notEqual(after, "");
  t.after(async () => {
    await query(url, `drop database if exists ${own} with (force)`);
    await query(url, `drop role if exists ${own}`);
  });
  for (const statement of before.split(";")) await query(url, statement); // a database is made outside of transactions
  const admin = new URL(url);
  admin.pathname = `/${own}`;
  await query(admin.href, after);

  const address = new URL(admin);
  [address.username, address.password] = [own, "choose-one"];
  const cwd = makeFolder({ topics: '{"id":"a","title":"A"}', ...configuration({ topics: {} }) });
  await run(t, ["import", "topics", "topics", "--store", "sqlite:shop.db"], { cwd });
  const commands = blocks
    .flatMap(({ value }) => value.split("\n"))
    .filter((line) => line.startsWith("$ npx holdfast "))
    .map((line) =>
      line
        .replace("$ npx holdfast ", "")
        .replace(/'?postgres:\/\/[^\s']+'?/, address.href)
        .split(" "),
    );
  const [copy, ...others] = commands.toSorted(([a], [b]) => Number(a === "serve") - Number(b === "serve"));
  assert.equal(copy?.[0], "copy");
  assert.equal((await run(t, copy ?? [], { cwd })).exitCode, 0);
  for (const [command, ...flags] of others) {
    assert.equal(command, "serve");
    const service = await serve(t, flags, { cwd });
    assert.equal((await fetch(`${service.base}/topics/a`)).status, 200);
    await stop(service);
  }
});
