import assert from "node:assert/strict";
import { link } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";
import { configuration, jsonLines, run, start } from "./cli.ts";
import { assertRefused, bad, badLines, topics } from "./import-fixture.ts";

const uuid5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

type Resource = Record<string, unknown>;

const inputs: readonly { name: string; text: string }[] = [
  { name: "a JSON array", text: '[{"id":"a","title":"A"},\n {"id":"b","title":"B"}]' },
  { name: "NDJSON", text: '{"id":"a","title":"A"}\n\n{"id":"b","title":"B"}\n' },
];

for (const { name, text } of inputs) {
  for (const from of ["a file", "standard input"]) {
    test(`${name} from ${from} is imported, and its ids are kept`, async (t) => {
      const cwd = makeFolder({ "topics.json": text, ...configuration({ topics }) });
      const file = from === "a file" ? "topics.json" : "-";
      const imported = await run(t, ["import", "topics", file], {
        cwd,
        ...(file === "-" ? { input: text } : {}),
      });
      assert.equal(imported.exitCode, 0, imported.stderr);
      assert.match(
        imported.stdout,
        /^2 resources imported into topics in \d+\.\d s; the store takes \d+\.\d kB on disk\n$/,
      );
      const exported = await run(t, ["export", "topics"], { cwd });
      assert.equal(exported.stdout, '{"id":"a","title":"A"}\n{"id":"b","title":"B"}\n');
    });
  }
}

test("an input without any id is one line, not a list of places", async (t) => {
  const cwd = makeFolder({ things: '{"n":1}\n{"n":2}\n' });
  const { stdout } = await run(t, ["import", "things", "things"], { cwd });
  assert.match(
    stdout,
    /^the input has no ids, so each resource got a generated one\n2 resources imported into things in /,
  );
});

test("an id that does not fit is refused, or replaced with --ids, and the command says where", async (t) => {
  const lines = ['{"id":"good"}', '{"id":"not good"}', "{}", '{"id":null}', '{"id":7}', "{}"];
  const cwd = makeFolder({ things: lines.join("\n") });
  const refused = await run(t, ["import", "things", "things"], { cwd });
  assert.equal(refused.exitCode, 1);
  assert.match(
    refused.stderr,
    /^ {2}line 2: "id" is "not good", which cannot be an id: .* "ids" gives .*\n {2}line 4: /,
  );
  for (const [how, says] of [
    ["new", /--ids must be replace, or keep-in: with the name of an attribute, such as keep-in:oldId\.$/m],
    ["keep-in:id", /--ids names the id itself: name another attribute\.$/m],
  ] as const) {
    const { stderr } = await run(t, ["import", "things", "things", "--ids", how], { cwd });
    assert.match(stderr, says);
  }
  const { exitCode, stdout } = await run(t, ["import", "things", "things", "--ids", "replace"], { cwd });
  assert.equal(exitCode, 0);
  assert.match(stdout, /^2 resources had no id and got a generated one: line 3, line 6$/m);
  assert.match(
    stdout,
    /^2 resources had an id that does not fit the collection and got another one: line 2 \("not good"\), line 4 \(null\)$/m,
  );
  const exported = jsonLines((await run(t, ["export", "things"], { cwd })).stdout) as Resource[];
  const ids = exported.map(({ id }) => String(id));
  assert.equal(ids.filter((id) => uuid7.test(id)).length, 3);
  assert.equal(ids.filter((id) => uuid5.test(id)).length, 1);
  assert.deepEqual(ids.filter((id) => id.length < 36).sort(), ["7", "good"]);
});

test("a new integer id is none that a later line brings, however late, and new ids keep the order of the lines", async (t) => {
  const named = Array.from({ length: 2_500 }, (_, n) => JSON.stringify({ id: n + 1, n }));
  const lines = ['{"first":"é"}', "{}", ...named.slice(0, 1_500), '{"third":3}', ...named.slice(1_500)];
  const cwd = makeFolder({
    things: lines.join("\n"),
    ...configuration({ things: { id: "integer" } }),
  });
  const { exitCode, stdout, stderr } = await run(t, ["import", "things", "things"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /^3 resources had no id and got a generated one: line 1, line 2, line 1503$/m);
  assert.match(stdout, /^2,503 resources imported/m);
  const exported = jsonLines((await run(t, ["export", "things"], { cwd })).stdout);
  assert.deepEqual(exported.slice(2_499), [
    { id: 2_500, n: 2_499 },
    { id: 2_501, first: "é" },
    { id: 2_502 },
    { id: 2_503, third: 3 },
  ]);
});

test("with --skip-invalid the others are imported, and the bad ones are listed", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": bad.join("\n"), ...configuration({ topics }) });
  const { exitCode, stdout, stderr } = await run(t, ["import", "topics", "topics.ndjson", "--skip-invalid"], {
    cwd,
  });
  assert.equal(exitCode, 0);
  assert.match(stdout, /^1 resource imported into topics/m);
  assert.match(stderr, /^holdfast: skipped 7 resources:$/m);
  for (const line of badLines) assert.match(stderr, line);
  assert.equal((await run(t, ["export", "topics"], { cwd })).stdout, '{"id":"ok","title":"Fine"}\n');
});

const reserved =
  "_aggregate _batch _bulk _changes _deliveries _events _restore _retry _rotate _status _test _webhooks".split(
    " ",
  );

test("an id that is a path of the service is refused, with its line and the reason", async (t) => {
  const lines = [...reserved, "_event", "events", "_Events", "x_events"].map((id) => JSON.stringify({ id }));
  const cwd = makeFolder({ things: lines.join("\n"), "things.csv": "id\n_events\n" });
  const outcome = await run(t, ["import", "things", "things"], { cwd });
  assertRefused(outcome, /nothing was imported: 12 of 16 resources are invalid/);
  for (const [index, id] of reserved.entries())
    assert.ok(
      outcome.stderr.includes(
        `  line ${index + 1}: "id" is reserved: the service uses "${id}" in its paths. Give the resource another id\n`,
      ),
      outcome.stderr,
    );
  assertRefused(await run(t, ["import", "things", "things.csv"], { cwd }), /"_events" in its paths/);
  const { exitCode } = await run(t, ["import", "things", "things", "--skip-invalid"], { cwd });
  assert.equal(exitCode, 0);
  const { stdout } = await run(t, ["export", "things"], { cwd });
  assert.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id)
      .sort(),
    ["_Events", "_event", "events", "x_events"],
  );
});

const noCollection = 'holdfast: The collection "things" does not exist. None exist.\n';

test("of very many bad lines fifty are shown and all are counted", async (t) => {
  const cwd = makeFolder({ things: `{}\n${"x\n".repeat(5_000)}` });
  const outcome = await run(t, ["import", "things", "things"], { cwd });
  assertRefused(outcome, /nothing was imported: 5,000 of 5,001 resources/);
  assert.equal(outcome.stderr.match(/^ {2}line /gm)?.length, 50);
  assert.match(outcome.stderr, /^ {2}and 4,950 more$/m);
});

const refusals: readonly { name: string; args: string[]; says: RegExp }[] = [
  {
    name: "a collection that is not declared",
    args: ["topcs", "good"],
    says: /No collection "topcs" is declared\. Did you mean "topics"\?/,
  },
  {
    name: "a file that is not there",
    args: ["topics", "missing"],
    says: /missing cannot be read: it does not exist/,
  },
  { name: "a folder", args: ["topics", "."], says: /it is a folder/ },
  { name: "UTF-16", args: ["topics", "utf16"], says: /UTF-16/ },
];

for (const { name, args, says } of refusals) {
  test(`${name} is refused in one line`, async (t) => {
    const cwd = makeFolder({
      good: '{"title":"A"}',
      utf16: Buffer.from('{"title":"A"}', "utf16le"),
      bom: '\ufeff{"title":"A"}',
      ...configuration({ topics }),
    });
    assertRefused(await run(t, ["import", ...args], { cwd }), says);
  });
}

test("a name that no collection can have is refused, also without declarations", async (t) => {
  const cwd = makeFolder({ good: "{}" });
  assertRefused(
    await run(t, ["import", "_events", "good"], { cwd }),
    /"_events" cannot be the name of a collection/,
  );
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`an import that ${signal} interrupts has imported nothing, and leaves the store free`, async (t) => {
    const cwd = makeFolder({ good: '{"id":"a"}' });
    const importing = start(t, ["import", "things", "-"], { cwd, keepsInputOpen: true });
    const { stdin } = importing.process;
    assert.ok(stdin);
    // Much more than a pipe holds: once it has been taken, the import is in the middle of its work.
    await promisify((done: () => void) => stdin.write('{"n":1}\n'.repeat(100_000), done))();
    importing.process.kill(signal);
    const { exitCode, stdout, stderr } = await importing.ended;
    assert.deepEqual({ exitCode, stdout }, { exitCode: 130, stdout: "" });
    // The command reports its progress at intervals, and on a busy machine that it still works.
    const progress = /^importing things: (?:[\d,]+ resources?|still working, [\d.]+ s so far)\n/gm;
    assert.equal(stderr.replaceAll(progress, ""), "holdfast: interrupted; nothing was imported\n");
    assert.equal((await run(t, ["export", "things"], { cwd })).stderr, noCollection);
    assert.equal((await run(t, ["import", "things", "good"], { cwd })).exitCode, 0);
  });
}

test("an import that is killed has imported nothing, and leaves the store free", async (t) => {
  const cwd = makeFolder({ good: '{"id":"a"}' });
  const importing = start(t, ["import", "things", "-"], { cwd, keepsInputOpen: true });
  const { stdin } = importing.process;
  assert.ok(stdin);
  await promisify((done: () => void) => stdin.write('{"n":1}\n'.repeat(100_000), done))();
  importing.process.kill("SIGKILL");
  await importing.ended;
  assert.equal((await run(t, ["export", "things"], { cwd })).stderr, noCollection);
  const { exitCode, stderr } = await run(t, ["import", "things", "good"], { cwd });
  assert.equal(exitCode, 0, stderr);
});

test("the store's own files are refused, since reading them would drop the store's locks", async (t) => {
  const cwd = makeFolder({ good: "{}" });
  await run(t, ["import", "topics", "good"], { cwd });
  await link(join(cwd, "holdfast.db"), join(cwd, "linked"));
  for (const file of ["holdfast.db", "holdfast.db-wal", "linked"])
    assertRefused(await run(t, ["import", "topics", file], { cwd }), /is a file of the store itself/);
});

test("a fault is told by its column, where the line is that of the input", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": '{"title":"A"}\n{"title":"B","title":"C"}\n' });
  const refused = await run(t, ["import", "topics", "topics.ndjson"], { cwd });
  assert.match(
    refused.stderr,
    /line 2: "title" appears twice in the same object: keep only one \(column \d+\)/,
  );
});
