/** Collections whose resources are older than the option, and imported resources with timestamps. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { changeFile } from "../store/mend-checksums.ts";
import { machineTime } from "../until.ts";
import { configuration, jsonLines, type RunningService, run, serveHere } from "./cli.ts";

const schema = { type: "object", properties: { title: { type: "string" } } };
const without = { posts: {} };
const withTimestamps = { posts: { schema, timestamps: true } };
const form = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

async function declare(cwd: string, collections: object): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections)))
    await writeFile(join(cwd, name), text);
}

async function withPosts(t: TestContext, posts: string, collections: object = without) {
  const cwd = makeFolder({ "posts.ndjson": posts, ...configuration(collections) });
  const { exitCode, stderr } = await run(t, ["import", "posts", "posts.ndjson"], { cwd });
  assert.equal(exitCode, 0, stderr);
  return cwd;
}

async function patch({ base }: Pick<RunningService, "base">, id: string, content: object) {
  const headers = { "content-type": "application/merge-patch+json" };
  const answer = await fetch(`${base}/posts/${id}`, {
    method: "PATCH",
    headers,
    body: JSON.stringify(content),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()) as Record<string, string>;
}

const read = async ({ base }: Pick<RunningService, "base">, id: string) =>
  (await fetch(`${base}/posts/${id}`)).text();

test("what is older than the option lacks the times until it is written, and then takes that of its version", async (t) => {
  const cwd = await withPosts(t, '{"id":"a","title":"x"}\n{"id":"b"}\n');
  await changeFile(join(cwd, "holdfast.db"), "update resources_1 set updated_at = 1000");
  await declare(cwd, withTimestamps);
  assert.equal((await run(t, ["check"], { cwd })).exitCode, 0);
  const service = await serveHere(t, {}, { cwd });
  assert.equal(await read(service, "a"), '{"id":"a","title":"x"}');
  await patch(service, "a", { title: "x" });
  assert.equal(await read(service, "a"), '{"id":"a","title":"x"}');
  const { createdAt, updatedAt = "" } = await patch(service, "a", { title: "y" });
  assert.equal(createdAt, "1970-01-01T00:00:01.000Z");
  assert.match(updatedAt, form);
  assert.ok(machineTime() - Date.parse(updatedAt) < 60_000);
  assert.equal(await read(service, "b"), '{"id":"b"}');
  await service.stop();
});

test("attributes of these names that are no times are told before the option takes them over", async (t) => {
  const cwd = await withPosts(
    t,
    '{"id":"a","createdAt":5}\n{"id":"b","createdAt":"2026-01-31T09:14:05.250Z"}\n',
  );
  await declare(cwd, { posts: { timestamps: true } });
  const checked = await run(t, ["check"], { cwd });
  assert.match(checked.stdout, /^ {2}"a": "createdAt" must be a valid date and time/m);
  assert.doesNotMatch(checked.stdout, /"b"/);
  const more = await run(t, ["import", "posts", "-"], { cwd, input: '{"id":"c"}\n' });
  assert.equal(more.exitCode, 0, more.stderr);
  const refused = await run(t, ["serve"], { cwd });
  assert.match(refused.stderr, /^holdfast: The declaration of posts has changed, and 1 of its 3 .*--accept/);
  const service = await serveHere(t, { accept: true }, { cwd });
  assert.equal((await patch(service, "b", { title: "y" })).createdAt, "2026-01-31T09:14:05.250Z");
  assert.match((await patch(service, "a", { title: "y" })).createdAt ?? "", form);
  await service.stop();
});

test("an import keeps the times that the file brings, and fills in those that are missing", async (t) => {
  const times = { createdAt: "2020-02-02T02:02:02.020Z", updatedAt: "2021-01-01T00:00:00.000Z" };
  const posts = [{ id: "a", ...times, title: "x" }, { id: "b", createdAt: times.createdAt }, { id: "c" }];
  const cwd = await withPosts(t, posts.map((post) => `${JSON.stringify(post)}\n`).join(""), withTimestamps);
  const exported = await run(t, ["export", "posts"], { cwd });
  const [a, b, c] = jsonLines(exported.stdout) as Record<string, string>[];
  assert.equal(JSON.stringify(a), JSON.stringify({ id: "a", title: "x", ...times }));
  assert.equal(b?.createdAt, times.createdAt);
  assert.match(b?.updatedAt ?? "", form);
  assert.equal(c?.createdAt, b?.updatedAt);
  assert.equal(c?.updatedAt, b?.updatedAt);
});

test("an import of times that are none, or still to come, names the lines", async (t) => {
  const posts = '{"createdAt":"2020-02-02"}\n{"updatedAt":"2999-01-01T00:00:00.000Z"}\n{"title":"x"}\n';
  const cwd = makeFolder({ "posts.ndjson": posts, ...configuration(withTimestamps) });
  const { exitCode, stderr } = await run(t, ["import", "posts", "posts.ndjson"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /line 1: "createdAt" must be a valid date and time/);
  assert.match(stderr, /line 2: "updatedAt" must not be in the future/);
  assert.doesNotMatch(stderr, /line 3/);
});
