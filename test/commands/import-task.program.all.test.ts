/** `holdfast import --to` as a task of the service. */
import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run, serve, start } from "./cli.ts";
import { atTerminal, skip } from "./terminal.ts";

const lines = (...resources: object[]) => resources.map((each) => `${JSON.stringify(each)}\n`).join("");

const file = lines({ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" });

test("an import is a task, also one by a unique key, and a dry run", async (t) => {
  const topics = { schema: { properties: { name: { type: "string", maxLength: 99 } } }, unique: ["name"] };
  const cwd = makeFolder({
    topics: lines({ id: "a", name: "A" }, { id: "b", name: "B" }),
    ...configuration({ topics }),
  });
  const { base } = await serve(t, [], { cwd });
  const command = ["import", "topics", "topics", "--to", base];
  for (const [flags, says] of [
    [["--dry-run"], /^2 resources would be imported into topics in /],
    [[], /^2 resources imported into topics in /],
    [["--on", "name"], /^2 resources in topics: 0 made, 0 changed, 2 the same, in /],
  ] as const) {
    const { stdout, stderr } = await run(t, [...command, ...flags], { cwd });
    assert.match(stdout, says, stderr);
  }
  const tasks = (await (await fetch(`${base}/_tasks`)).json()) as Record<string, unknown>[];
  assert.deepEqual(
    tasks.map(({ kind, state, changed }) => [kind, state, changed]),
    [
      ["import", "done", 0],
      ["import", "done", 2],
      ["import", "done", 2],
    ],
  );
});

test("what the store refuses is left out with --skip-invalid, in the order of the file", async (t) => {
  const cwd = makeFolder({
    first: lines({ id: "a", name: "A" }),
    second: lines({ id: "a", name: "B" }, { id: "x", name: 1 }, { name: "C" }),
    ...configuration({ topics: { schema: { properties: { name: { type: "string" } } } } }),
  });
  const { base } = await serve(t, [], { cwd });
  await run(t, ["import", "topics", "first", "--to", base], { cwd });
  const { stdout, stderr, exitCode } = await run(
    t,
    ["import", "topics", "second", "--to", base, "--skip-invalid"],
    { cwd },
  );
  assert.equal(exitCode, 0, stderr);
  assert.equal(
    stderr,
    'holdfast: skipped 2 resources:\n  line 1: The id "a" already exists.\n  line 2: "name" must be a string\n',
  );
  assert.match(
    stdout,
    /^1 resource had no id and got a generated one: line 3\n1 resource imported into topics in /,
  );
});

const noIds = { count: 0, first: [] };
const report = {
  dryRun: false,
  complete: true,
  resources: 4,
  invalid: 0,
  imported: 4,
  errors: [],
  generatedIds: noIds,
  replacedIds: noIds,
  stringIds: noIds,
};
const begun = {
  id: "t1",
  kind: "import",
  state: "checking",
  total: 4,
  checked: 0,
  done: 0,
  changed: 0,
  created: 0,
  refused: 0,
  firstRefused: [],
};

/** A service that makes a task of each import, and answers each look at the task with `look`. */
async function service(t: TestContext, look: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", "application/json");
    if (request.method === "GET") return look(response);
    assert.equal(request.headers.prefer, "respond-async");
    return request
      .on("end", () => response.writeHead(202).end(JSON.stringify({ ...begun, report })))
      .resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
}

const command = (base: string) => ["import", "topics", "topics", "--to", base];
const ended = { endedAt: "2026-01-31T08:30:00.000Z" };

/** Imports into a service whose task ends like this. */
async function importWith(t: TestContext, end: object) {
  const cwd = makeFolder({ topics: file });
  const base = await service(t, (response) => response.end(JSON.stringify({ ...begun, ...ended, ...end })));
  const outcome = await run(t, command(base), { cwd });
  return { ...outcome, stderr: outcome.stderr.replaceAll(base, "URL") };
}

describe("the end of the task", () => {
  test("that was cancelled says what is there, and how to take it back", async (t) => {
    const { stdout, stderr, exitCode } = await importWith(t, { state: "cancelled", done: 3, changed: 3 });
    assert.match(stdout, /^3 resources imported into topics in /);
    assert.equal(
      stderr,
      "holdfast: the task has imported 3 of 4 resources, because it was cancelled. To take it back: POST URL/_tasks/t1/_undo\n",
    );
    assert.equal(exitCode, 1);
  });

  test("that left resources out names them", async (t) => {
    const firstRefused = [{ line: 2, code: "UNIQUE_VIOLATION", detail: 'The id "b" already exists.' }];
    const end = { state: "done", done: 4, changed: 3, refused: 1, firstRefused };
    const { stdout, stderr, exitCode } = await importWith(t, end);
    assert.match(stdout, /^3 resources imported into topics in /);
    assert.equal(
      stderr,
      'holdfast: skipped 1 resource:\n  line 2: The id "b" already exists.\nholdfast: the task has imported 3 of 4 resources, because something has changed since its check. To take it back: POST URL/_tasks/t1/_undo\n',
    );
    assert.equal(exitCode, 1);
  });

  test("that failed says why", async (t) => {
    const { stderr } = await importWith(t, {
      state: "failed",
      reason: "The service failed. Its log has the cause.",
    });
    assert.match(
      stderr,
      /0 of 4 resources, because it failed: The service failed\. Its log has the cause\. To /,
    );
  });
});

describe("while the task works", () => {
  test("a line every few seconds says how far it is", async (t) => {
    const cwd = makeFolder({ topics: file });
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    t.mock.method(performance, "now", () => now() + aheadMs);
    const states = [
      { checked: 2 },
      { state: "running", checked: 4, done: 1 },
      { ...ended, state: "done", checked: 4, done: 4, changed: 4 },
    ];
    const base = await service(t, (response) => {
      aheadMs += 6_000;
      response.end(JSON.stringify({ ...begun, ...states.shift() }));
    });
    const { stderr } = await run(t, command(base), { cwd });
    assert.equal(
      stderr,
      "importing topics: 2 resources (25%)\nimporting topics: 1 resource (62%)\nimporting topics: 4 resources (100%)\n",
    );
  });

  test("a terminal shows a bar", { skip }, async (t) => {
    const cwd = makeFolder({ topics: file });
    let state: object = { state: "running", checked: 4, done: 2 };
    const base = await service(t, (response) => response.end(JSON.stringify({ ...begun, ...state })));
    const terminal = atTerminal(t, cwd, command(base));
    await terminal.shows(/importing topics \S+ 75% \| 2 resources \|/);
    state = { ...ended, state: "done", checked: 4, done: 4, changed: 4 };
    const { exitCode, shown } = await terminal.ended;
    assert.equal(exitCode, 0, shown);
    assert.match(shown, /100% \| 4 resources \|[\s\S]*4 resources imported into topics in /);
  });

  test("a signal ends the command, and says how to look at the task and cancel it", async (t) => {
    const cwd = makeFolder({ topics: file });
    const base = await service(t, (response) => {
      response.end(JSON.stringify(begun));
      importing.process.kill("SIGINT");
    });
    const importing = start(t, command(base), { cwd });
    const { stderr, exitCode } = await importing.ended;
    const task = `${base}/_tasks/t1`;
    assert.equal(
      stderr,
      `holdfast: interrupted; the service goes on with the task. To look at the task: GET ${task}. To cancel it: DELETE ${task}\n`,
    );
    assert.equal(exitCode, 130);
  });

  test("a connection that breaks leaves the task to the service", async (t) => {
    const cwd = makeFolder({ topics: file });
    const base = await service(t, (response) => response.socket?.destroy());
    const { stderr, exitCode } = await run(t, command(base), { cwd });
    assert.match(
      stderr,
      /cannot be reached: .* To look at the task: GET http\S+\/_tasks\/t1\. To cancel it: DELETE /,
    );
    assert.equal(exitCode, 1);
  });
});
