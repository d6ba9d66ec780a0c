/** The program that runs the tests: nothing fails, is skipped or hangs without being named. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { testFiles } from "../project.ts";
import { ceilingMs, until } from "../until.ts";
import { importersOf } from "./changed.ts";
import { jobsOfFailedSeeds } from "./failed-seeds.ts";
import { jobsOf, nameOf, type Tier, testFileOf, tiers } from "./names.ts";
import { shardOf } from "./shard.ts";

const runner = join(import.meta.dirname, "..", "run.ts");

/** The time after which a run that hangs is killed, in milliseconds. */
const longestRunMs = 5 * ceilingMs;

function spawnRunner(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, ["--conditions=holdfast-source", runner, ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
    timeout: longestRunMs,
    killSignal: "SIGKILL",
  });
}

/** Runs a test file with `test/run.ts`. Returns its output and its exit code. */
function run(text: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { files, ...result } = runEach([text], args, env);
  return { ...result, file: files[0] as string };
}

/** Runs files in one process. */
function runTogether(...texts: readonly string[]) {
  return runEach(texts, ["--together", "--test-timeout=2000"]);
}

/** What a failed test's line has before the command that repeats it. */
const again = "    Run it again: ";

function runEach(texts: readonly string[], args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const folder = makeFolder();
  const files = texts.map((text, n) => {
    const file = join(folder, `${n}.test.ts`);
    writeFileSync(file, `import { after, before, describe, test } from "node:test";\n${text}`);
    return file;
  });
  const { status, stdout } = spawnRunner([...args, ...files], env);
  const [, ...lines] = stdout.slice(stdout.lastIndexOf("duration_ms")).split("\n");
  const repeats = lines.filter((line) => line.startsWith(again)).map((line) => line.slice(again.length));
  const time = lines.findIndex((line) => /^[\d.]+ minutes/.test(line));
  const ending = lines.toSpliced(time - 1, 2).filter((line) => !line.startsWith(again));
  return { status, stdout, ending, files, repeats, time: lines[time] };
}

/** How often each file runs on each store, as in `test/http/create sqlite`. */
function runsOf(...some: readonly Tier[]): Map<string, number> {
  const runs = some.flatMap(jobsOf).map(({ file, store }) => `${nameOf(file).subject} ${store}`);
  return new Map(Object.entries(Object.groupBy(runs, String)).map(([run, all]) => [run, all?.length ?? 0]));
}

test("the tiers together have every file once on each of its stores", () => {
  const runs = runsOf(...tiers);
  const files = testFiles().map(nameOf);
  assert.deepEqual(
    [...runs].filter(([, count]) => count > 1),
    [],
  );
  assert.deepEqual(
    files.filter(({ subject }) => !runs.has(`${subject} sqlite`)),
    [],
  );
  const onBoth = files.filter(({ kind }) => kind === "both");
  assert.equal(runs.size, files.length + onBoth.length);
  assert.equal(runsOf("all").get("test/http/create postgres"), 1);
  assert.equal(runsOf("test", "prove").get("test/http/create postgres"), undefined);
});

test("the name of a file says what it starts and when it runs, and other names are refused", () => {
  const parts = (file: string) => Object.values(nameOf(file));
  assert.deepEqual(parts("test/a/b-c.test.ts"), ["test/a/b-c", undefined, false, "test"]);
  assert.deepEqual(parts("test/a/b.http.test.ts"), ["test/a/b", "http", false, "test"]);
  assert.deepEqual(parts("test/b.both.alone.all.test.ts"), ["test/b", "both", true, "all"]);
  assert.deepEqual(parts("test/b.prove.test.ts"), ["test/b", undefined, false, "prove"]);
  for (const name of ["a.slow", "a.all.http", "a.http.both", "a.all.alone"])
    assert.throws(() => nameOf(`test/${name}.test.ts`), /A name is <subject>/, name);
});

test("a subject names one file, or is refused", () => {
  assert.equal(testFileOf("test/http/create"), join("test/http/create.both.test.ts"));
  assert.throws(() => testFileOf("test/http/creat"), /no test file of the subject "test\/http\/creat"/);
});

test("a shard has its part of the runs, and all shards together have each run once", () => {
  const parts = [1, 2, 3].map((number) => shardOf([1, 2, 3, 4, 5], { number, of: 3 }));
  assert.deepEqual(parts, [[1, 4], [2, 5], [3]]);
  const { status, stderr } = spawnRunner(["--shard", "3/2"]);
  assert.equal(status, 1);
  assert.match(stderr, /"--shard 3\/2" is not understood. Write --shard 1\/2/);
});

test("a change is followed to the test files that import it, also through programs and other files", async () => {
  const importers = await importersOf(["src/query/cursor.ts"]);
  for (const subject of ["test/query/cursor", "test/http/create", "test/commands/check"])
    assert.ok(importers.has(testFileOf(subject)), subject);
  assert.ok(!importers.has(testFileOf("test/json/pointer")));
  assert.deepEqual([...(await importersOf(["test/json/pointer.test.ts"]))], ["test/json/pointer.test.ts"]);
});

test("files run side by side, and each is printed as a whole", () => {
  const folder = makeFolder();
  const name = (n: number) => join(folder, `${n}.test.ts`);
  const mark = (n: number) => JSON.stringify(join(folder, `begun-${n}`));
  // Each file waits until the other one has started.
  for (const [own, other] of [
    [1, 2],
    [2, 1],
  ] as const)
    writeFileSync(
      name(own),
      `import { existsSync, writeFileSync } from "node:fs";
       import { test } from "node:test";
       const pass = () => new Promise((resolve) => setTimeout(resolve, 5));
       writeFileSync(${mark(own)}, "");
       for (const part of ["first", "second"])
         test(part + " of ${own}", async () => { while (!existsSync(${mark(other)})) await pass(); });`,
    );
  const { status, stdout } = spawnRunner([name(1), name(2)]);
  const parts = [...stdout.matchAll(/(?:first|second) of \d/g)].map(([part]) => part);
  const inOrder = ["first of 1", "second of 1", "first of 2", "second of 2"];
  assert.deepEqual(
    parts,
    parts[0] === "first of 1" ? inOrder : [...inOrder.slice(2), ...inOrder.slice(0, 2)],
  );
  assert.equal(status, 0, stdout);
});

test("a long run prints a failure while other files still run", () => {
  const folder = makeFolder();
  const files = Array.from({ length: 2 * availableParallelism() + 2 }, (_, n) =>
    join(folder, `${n}.test.ts`),
  );
  const [first = "", ...others] = files;
  writeFileSync(
    first,
    'import { test } from "node:test";\ntest("breaks", () => { throw new Error("at once"); });',
  );
  for (const each of others)
    writeFileSync(each, 'import { test } from "node:test";\ntest("holds", () => {});');
  const { status, stdout } = spawnRunner(files);
  assert.equal(status, 1);
  assert.match(stdout, /✖ \S*0\.test\.ts:2 {2}breaks: at once\n[\s\S]*✔ holds/);
});

test("with --times, the end tells what each file took", () => {
  const { status, ending, file } = run('test("a", () => {});', ["--times"]);
  assert.equal(status, 0);
  assert.match(ending.join("\n"), /processor +own +programs +clock/);
  assert.ok(ending.some((line) => line.endsWith(file)));
});

test("a file that does not exist is named", () => {
  const { status, stderr } = spawnRunner(["test/nothing.test.ts"]);
  assert.equal(status, 1);
  assert.match(stderr, /There is no test file of the subject "test\/nothing\.test\.ts"/);
});

test("the last line counts tests, not suites", () => {
  const { status, ending } = run('describe("all", () => { test("a", () => {}); test("b", () => {}); });');
  assert.deepEqual([status, ending], [0, ["", "2 passed, 0 failed, 0 skipped", ""]]);
});

test("a signal ends everything, and what has not run is no failure", async (t) => {
  const folder = makeFolder();
  const begun = join(folder, "begun");
  const text = `import { writeFileSync } from "node:fs"; import { test } from "node:test";
    writeFileSync(${JSON.stringify(begun)}, "");
    test("never", () => new Promise((r) => setTimeout(r, 600_000)));`;
  for (const name of ["a", "b", "c", "d"]) writeFileSync(join(folder, `${name}.test.mjs`), text);
  const files = ["a", "b", "c", "d"].map((name) => join(folder, `${name}.test.mjs`));
  const child = spawn(process.execPath, ["--conditions=holdfast-source", runner, ...files]);
  t.after(() => child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => (printed += data));
  await until("a file has begun", () => existsSync(begun));
  child.kill("SIGINT");
  const [status] = await once(child, "exit");
  assert.equal(status, 130);
  assert.doesNotMatch(printed, /✖|failed/);
});

test("files of a group run in one process, each after the end of the one before", () => {
  const text = `const say = (what) => console.log(process.pid + " " + what);
    say("loads");
    before(() => say("begins"));
    test("a", () => say("runs"));
    after(async () => { await new Promise((r) => setTimeout(r, 100)); say("ends"); });`;
  const { status, stdout } = runTogether(text, text);
  assert.equal(status, 0, stdout);
  const said = [...stdout.matchAll(/^(\d+) (\w+)$/gm)];
  const steps = ["loads", "begins", "runs", "ends"];
  assert.deepEqual(
    said.map(([, , what]) => what),
    [...steps, ...steps],
  );
  assert.equal(new Set(said.map(([, pid]) => pid)).size, 1);
});

test("a file that leaves something open is named, and the files after it run", () => {
  const { status, ending, files } = runTogether(
    'import { createServer } from "node:net";\ntest("a", () => void createServer().listen(0));',
    'test("b", () => {});',
  );
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-5, -1), [
    `  ${files[0]}`,
    "    It leaves open: TCPServerWrap.",
    "",
    "2 passed, 1 failed, 0 skipped",
  ]);
});

test("a file that ends its process is a failure, and the files after it run", () => {
  const { status, ending, files } = runTogether(
    'test("a", () => {});',
    'test("b", () => process.exit(3));\ntest("c", () => {});',
    'test("d", () => {});',
  );
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-5, -1), [
    `  ${files[1]}`,
    "    The process ended with exit code 3.",
    "",
    "2 passed, 1 failed, 0 skipped",
  ]);
});

test("a file that ends its process without an error is a failure too", () => {
  const { status, ending, files } = runTogether('test("a", () => process.exit(0));', 'test("b", () => {});');
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-5, -1), [
    `  ${files[0]}`,
    "    The file did not finish.",
    "",
    "1 passed, 1 failed, 0 skipped",
  ]);
});

test("a file whose name has no kind starts no server and no program", () => {
  const { ending, files } = runTogether(
    'import { createServer } from "node:net";\ntest("a", (t, done) => createServer().listen(0, function () { this.close(done); }));',
    'import { spawn } from "node:child_process";\ntest("b", (t, done) => void spawn(process.execPath, ["--version"]).on("exit", () => done()));',
    'test("c", () => {});',
  );
  const end = "so its name needs a kind, as in create.http.test.ts.";
  assert.deepEqual(ending.slice(-7, -1), [
    `  ${files[0]}`,
    `    It starts a server, ${end}`,
    `  ${files[1]}`,
    `    It starts a program, ${end}`,
    "",
    "3 passed, 2 failed, 0 skipped",
  ]);
});

test("a file that sets the exit code fails, and the next file passes", () => {
  const { status, ending, files } = runTogether(
    'test("a", () => { process.exitCode = 7; });',
    'test("b", () => {});',
  );
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-5, -1), [
    `  ${files[0]}`,
    "    It sets the exit code 7.",
    "",
    "2 passed, 1 failed, 0 skipped",
  ]);
});

test("a hook that fails after all tests of a file is listed with the file", () => {
  const { status, ending, files } = runTogether(
    'after(() => { throw new Error("cannot end"); });\ntest("a", () => {});',
    'test("b", () => {});',
  );
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-5, -1), [
    `  ${files[0]}`,
    "    cannot end",
    "",
    "2 passed, 1 failed, 0 skipped",
  ]);
});

test("each failed test is listed once at the end, with file and line, and the command that repeats it", () => {
  const { status, ending, file, repeats } = run(
    'describe("all", () => { test("one is two", () => { throw new Error("1 is not 2"); }); });',
  );
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-6), [
    "Failed:",
    `  ${file}:2  one is two`,
    "    1 is not 2",
    "",
    "0 passed, 1 failed, 0 skipped",
    "",
  ]);
  assert.deepEqual(repeats, [`npm run test:run -- ${file} --test-name-pattern='one is two$'`]);
});

test("a file whose process fails after its tests is listed with the end of its output", () => {
  const { status, ending, file } = run(
    'process.on("exit", () => { console.error("gone wrong"); process.exitCode = 7; });\ntest("a", () => {});',
  );
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-6), [
    `  ${file}`,
    "    The process ended with exit code 7.",
    "    | gone wrong",
    "",
    "1 passed, 1 failed, 0 skipped",
    "",
  ]);
});

test("a file with an error after a test has ended is listed with that error", () => {
  const { status, ending } = run(
    'test("a", () => void setTimeout(() => Promise.reject(new Error("too late")), 50));\ntest("b", () => new Promise((r) => setTimeout(r, 200)));',
  );
  assert.equal(status, 1);
  assert.match(ending.slice(-4).join("\n"), /Test "a" .* after the test ended.*too late/);
});

test("a failure whose error cannot be sent between processes is listed, and the run ends", () => {
  const { status, ending, file } = run(
    'import assert from "node:assert/strict";\ntest("one", () => assert.equal(Promise.resolve(2), 1));\ntest("b", () => {});',
  );
  assert.equal(status, 1);
  assert.match(
    ending.join("\n"),
    /:3 {2}one\n {4}Expected values to be strictly equal:\n.*\n1 passed, 1 failed, 0 skipped\n$/s,
  );
  assert.ok(ending.includes(`  ${file}:3  one`));
});

test("a property that fails shows its seed, its path and its example, and the command repeats this case only", () => {
  const property = `const { default: fc } = await import(${JSON.stringify(import.meta.resolve("fast-check"))});
    test("it's small", () => fc.assert(fc.property(fc.nat(), (n) => { console.log("tried " + n); return n < 10; })));`;
  const { ending, repeats, file } = run(property);
  const { groups } =
    /Property failed after \d+ tests?\n +\| \{ seed: 1, path: "(?<path>[\d:]+)", endOnFailure: true \}\n +\| Counterexample: \[\d+\]/.exec(
      ending.join("\n"),
    ) ?? {};
  assert.ok(groups, ending.join("\n"));
  const { path } = groups;
  assert.deepEqual(repeats, [
    `HOLDFAST_TEST_SEED=1 HOLDFAST_TEST_PATH=${path} npm run test:run -- ${file} --test-name-pattern='it'\\''s small$'`,
  ]);
  const { status, stdout } = run(property, [], {
    HOLDFAST_TEST_SEED: "1",
    HOLDFAST_TEST_PATH: path ?? "",
  });
  assert.equal(status, 1);
  assert.match(stdout, /Counterexample: \[10\]/);
});

test("the seeds of failed proofs run again, each alone and with its seed", () => {
  const jobs = jobsOfFailedSeeds([{ file: "test/query/sort", test: "a (b)", seed: 7, store: "postgres" }]);
  assert.deepEqual(jobs, [
    {
      file: testFileOf("test/query/sort"),
      store: "postgres",
      isAlone: true,
      env: { HOLDFAST_TEST_SEED: "7" },
      options: ["--test-name-pattern=a \\(b\\)$"],
    },
  ]);
});

test("a file that cannot be loaded is a failure", () => {
  const { status, ending } = run('throw new Error("no such thing");');
  assert.deepEqual([status, ending.at(-2)], [1, "0 passed, 1 failed, 0 skipped"]);
});

test("skipped tests are listed by the missing thing, and a suite as one", () => {
  const { status, ending, file } = run(
    'const skip = "needs x: apt-get install x";\ntest("a", { skip }, () => {});\ndescribe("b", { skip }, () => {});\ntest("c", (t) => t.skip("needs y"));',
  );
  assert.equal(status, 0);
  assert.deepEqual(ending, [
    "",
    "Skipped:",
    "  needs x: apt-get install x",
    `    ${file}:3  a`,
    `    ${file}:4  b`,
    "  needs y",
    `    ${file}:5  c`,
    "",
    "0 passed, 0 failed, 3 skipped",
    "",
  ]);
});

for (const [how, text] of [
  ["true as its reason", 'test("a", { skip: true }, () => {});'],
  ["an empty reason", 'test("a", { skip: " " }, () => {});'],
  ["t.skip() alone", 'test("a", (t) => t.skip());'],
  ["a suite", 'describe.skip("a", () => {});'],
  ["todo", 'test.todo("a");'],
] as const)
  test(`a skip without a reason is a failure: ${how}`, () => {
    const { status, ending } = run(text);
    assert.deepEqual([status, ending.at(-2)], [1, "0 passed, 1 failed, 0 skipped"]);
    assert.match(ending.join("\n"), /a\n {4}It is skipped without a reason/);
  });

test("a test that hangs is named, and the tests after it run", () => {
  const { status, ending, file } = run('test("hangs", () => new Promise(() => {}));\ntest("b", () => {});', [
    "--test-timeout=1000",
  ]);
  assert.equal(status, 1);
  assert.deepEqual(ending.slice(-5, -1), [
    `  ${file}:2  hangs`,
    "    test timed out after 1000ms",
    "",
    "1 passed, 1 failed, 0 skipped",
  ]);
});

test("--until-failure ends at the first test that fails", () => {
  const waits = 'test("waits", () => new Promise((resolve) => setTimeout(resolve, 2 ** 30)));';
  const { status, ending } = run(`test("a", () => { throw new Error("no"); });\n${waits}`, [
    "--until-failure",
  ]);
  assert.equal(status, 1);
  assert.match(ending.join("\n"), /:2 {2}a\n {4}no\n.*\n0 passed, \d failed, 0 skipped$/ms);
});
