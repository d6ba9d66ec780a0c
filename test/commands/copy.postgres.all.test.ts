import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { configuration, type RunningService, run, serve, serveHere, start, stop } from "./cli.ts";

const collections = {
  topics: {
    schema: { properties: { title: { type: "string" }, n: { type: "integer" } } },
    indexes: ["n"],
    search: ["title"],
  },
  counted: { id: "integer" },
};

/** The address of an empty PostgreSQL database. */
async function makeUrl(test: TestContext): Promise<string> {
  const url = await databaseFor(test);
  return url;
}

async function ask(
  service: Pick<RunningService, "base" | "origin">,
  path: string,
  init: RequestInit = {},
  content?: object,
) {
  const response = await fetch(`${service.base}${path}`, {
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
    ...(content && { body: JSON.stringify(content) }),
  });
  const { date: _, "x-request-id": __, ...headers } = Object.fromEntries(response.headers);
  const text = await response.text();
  const told = JSON.stringify({ status: response.status, headers, text });
  return { headers, text, told: told.replaceAll(service.origin, "") };
}

const retried = { method: "POST", headers: { "idempotency-key": '"once"' } };

/** Writes resources, and returns the paths to compare between the source and its copies. */
async function write(service: Pick<RunningService, "base" | "origin">): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) {
    const { text } = await ask(service, "/topics", { method: "POST" }, { title: `topic ${n % 3}`, n: n % 5 });
    ids.push((JSON.parse(text) as { id: string }).id);
    await ask(service, "/counted", { method: "POST" }, { n });
  }
  const [changed = "", deleted = ""] = ids;
  await ask(service, `/topics/${changed}`, { method: "PUT" }, { id: changed, title: "another é", n: 7 });
  await ask(service, `/topics/${deleted}`, { method: "DELETE" });
  await ask(service, "/counted/12", { method: "DELETE" });
  await ask(service, "/topics", retried, { title: "first", n: 1 });
  const { headers } = await ask(service, "/topics?sort=-n&limit=4");
  const [, next = ""] = /<([^>]+)>; rel="next"/.exec(headers.link ?? "") ?? [];
  const pasts = [changed, deleted].flatMap((id) => [
    `/topics/${id}`,
    `/topics/${id}/_changes`,
    `/topics/${id}?version=1`,
  ]);
  const lists = ["/topics?sort=-n&limit=4", "/topics?q=topic&limit=3", "/topics?n=2", "/counted?limit=100"];
  return ["/topics", ...lists, next.slice(next.indexOf("/topics")), ...pasts];
}

async function askAll(
  service: Pick<RunningService, "base" | "origin">,
  paths: readonly string[],
): Promise<string[]> {
  const told: string[] = [];
  for (const path of paths) told.push((await ask(service, path)).told);
  told.push((await ask(service, "/topics", retried, { title: "first", n: 1 })).told);
  const { told: created } = await ask(service, "/counted", { method: "POST" }, {});
  told.push(created.replace(/"last-modified":"[^"]*",/, "")); // only a slow machine has it here
  return told;
}

test("the service on a copy, and on a copy of the copy, responds like the service on the source", async (t) => {
  const cwd = makeFolder(configuration(collections));
  const url = await makeUrl(t);
  const first = await serve(t, ["--store", "sqlite:a.db"], { cwd });
  const paths = await write(first);
  const refused = await run(t, ["copy", "--from", "sqlite:a.db", "--to", url], { cwd });
  assert.equal(refused.exitCode, 1);
  assert.match(
    refused.stderr,
    /^holdfast: \S*a\.db is in use by another Holdfast program .* restart the service with --read-only\.\n$/,
  );
  await stop(first);
  const there = await run(t, ["copy", "--store", "sqlite:a.db", "--to", url], { cwd });
  const back = await run(t, ["copy", "--from", url, "--to", "sqlite:b.db"], { cwd });
  const sums = [there, back].map(({ exitCode, stdout, stderr }) => {
    assert.deepEqual([exitCode, stdout], [0, ""], stderr);
    assert.match(
      stderr,
      /^23 resources with 28 changes, 0 keys and 1 stored response copied to \S+ in \S+ s\n/,
    );
    return /\(sha256 ([0-9a-f]{64})\)\n$/.exec(stderr)?.[1];
  });
  assert.ok(sums[0]);
  assert.equal(sums[1], sums[0]);
  const answers: string[][] = [];
  for (const store of ["sqlite:a.db", url, "sqlite:b.db"]) {
    const service = await serveHere(t, { store }, { cwd });
    answers.push(await askAll(service, paths));
    await service.stop();
  }
  assert.match(answers[0]?.at(-1) ?? "", /"status":201.*\\"id\\":13/);
  assert.match(answers[0]?.at(-2) ?? "", /"status":201/);
  for (const [n, told] of (answers[0] ?? []).entries()) {
    for (const copied of answers.slice(1)) assert.equal(copied[n], told);
  }
});

/** Whether the copy has written at least one item. */
function hasStarted(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const { mark } = database.prepare("select mark from copying").get() ?? {};
    return (JSON.parse(String(mark)) as { items: number }).items > 0;
  } catch {
    return false; // the table does not exist yet
  } finally {
    database.close();
  }
}

test("an interrupted copy prints a line, and the same command continues it", async (t) => {
  const lines = Array.from({ length: 60_000 }, (_, n) => JSON.stringify({ id: `x${n}`, n }));
  const cwd = makeFolder({ "x.ndjson": lines.join("\n") });
  const store = ["--store", "a.db"];
  await run(t, ["import", "things", "x.ndjson", ...store], { cwd });
  const copying = start(t, ["copy", ...store, "--to", "b.db"], { cwd });
  await until("the copy has begun", () => hasStarted(join(cwd, "b.db")));
  copying.process.kill("SIGINT");
  const { exitCode, stderr } = await copying.ended;
  assert.equal(exitCode, 130, stderr);
  const progress = "(?:(?:copying|verifying): .*\\n)*"; // a slow machine prints some lines
  assert.match(
    stderr,
    new RegExp(`^${progress}holdfast: interrupted; run the same command again to continue\n$`),
  );
  const again = await run(t, ["copy", ...store, "--to", "b.db"], { cwd });
  assert.equal(again.exitCode, 0, again.stderr);
  const summary = "60,000 resources with 60,000 changes, .*\\([0-9,]+ of them by an earlier run\\)";
  assert.match(again.stderr, new RegExp(`^${progress}${summary}`));
});

test("copy refuses wrong stores in one line", async (t) => {
  const cwd = makeFolder();
  await run(t, ["keys", "create", "--name", "k", "--store", "a.db"], { cwd });
  const refusals: [string[], RegExp][] = [
    [["--from", "a.db"], /required option '--to <address>'/],
    [["--from", "a.db", "--to", "mysql://x"], /^holdfast: --to: this is not a store address/],
    [["--from", "a.db", "--to", "a.db"], /^holdfast: --from and --to are the same store\.\n$/],
    [["--from", "a.db", "--store", "b.db", "--to", "c.db"], /--from and --store both name the store to copy/],
    [["--from", "none.db", "--to", "c.db"], /^holdfast: The store \S+none\.db does not exist\.\n$/],
  ];
  for (const [args, told] of refusals) {
    const { exitCode, stdout, stderr } = await run(t, ["copy", ...args], { cwd });
    assert.deepEqual([exitCode, stdout], [1, ""]);
    assert.match(stderr, told);
    assert.equal(stderr.split("\n").length, 2);
  }
});
