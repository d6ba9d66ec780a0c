/** `holdfast rewind`: on a store that no service uses, and on a running service. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { machineTime, nextMillisecond } from "../until.ts";
import { configuration, run, serve, serveHere, stop } from "./cli.ts";

const lines = '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n';

/** A moment: everything before it is earlier, and everything after it is later. */
async function moment(): Promise<string> {
  const now = machineTime();
  await nextMillisecond();
  return new Date(now).toISOString();
}

const exported = async (t: TestContext, cwd: string, name = "people") =>
  (await run(t, ["export", name], { cwd })).stdout;

test("a store that no service uses goes back, and again to where it was", async (t) => {
  const cwd = makeFolder({ people: lines, more: '{"id":"c"}\n' });
  await run(t, ["import", "people", "people"], { cwd });
  const then = await moment();
  await run(t, ["import", "people", "more"], { cwd });
  const after = await exported(t, cwd);
  const dry = await run(t, ["rewind", "--to", then, "--dry-run"], { cwd });
  assert.equal(dry.exitCode, 0, dry.stderr);
  assert.equal(
    dry.stderr,
    `people: 0 created again, 0 replaced, 1 deleted\nwould rewind 1 resource to ${then}\n`,
  );
  assert.equal(await exported(t, cwd), after);
  const rewound = await run(t, ["rewind", "--to", then, "--max", "1", "--collection", "people"], { cwd });
  assert.equal(rewound.exitCode, 0, rewound.stderr);
  const [, undo = ""] =
    /To undo this: npx holdfast (rewind --to \S+ --max 1 --collection people)\n$/.exec(rewound.stderr) ?? [];
  assert.equal(await exported(t, cwd), lines);
  const again = await run(t, undo.split(" "), { cwd });
  assert.match(again.stderr, /^people: 1 created again, 0 replaced, 0 deleted\nrewound 1 resource to /);
  assert.equal(await exported(t, cwd), after);
});

test("beside a running service, the command names --url, and works with it", async (t) => {
  const cwd = makeFolder({ people: lines });
  await run(t, ["import", "people", "people"], { cwd });
  const then = await moment();
  const service = await serve(t, [], { cwd });
  await fetch(`${service.base}/people/a`, { method: "DELETE" });
  const args = ["rewind", "--max", "1", "--to", then];
  const beside = await run(t, args, { cwd });
  assert.deepEqual(
    [beside.exitCode, beside.stderr],
    [
      1,
      "holdfast: The store is in use by another Holdfast program. If it is the service, stop it first. Or give its address, such as --url http://localhost:3000, and the credential of an administrator.\n",
    ],
  );
  const there = await run(t, [...args, "--url", service.base], { cwd });
  assert.equal(there.exitCode, 0, there.stderr);
  assert.match(there.stderr, /^people: 1 created again, 0 replaced, 0 deleted\nrewound 1 resource to /);
  assert.ok(there.stderr.endsWith(` --url ${service.base}\n`), there.stderr);
  assert.equal((await fetch(`${service.base}/people/a`)).status, 200);
  const wrong = await run(t, [...args, "--url", `${new URL(service.base).origin}/v9`], { cwd });
  assert.equal(wrong.exitCode, 1);
  assert.match(
    wrong.stderr,
    /^holdfast: \S+\/v9\/_rewind does not exist\. Check the address and its prefix\. [^\n]+ --token or HOLDFAST_TOKEN\.\n$/,
  );
  await stop(service);
});

test("what does not fit today's declaration is listed, and nothing changes", async (t) => {
  const cwd = makeFolder({ people: lines, ...configuration({ people: {} }) });
  await run(t, ["import", "people", "people"], { cwd });
  const then = await moment();
  const service = await serveHere(t, {}, { cwd });
  for (const id of ["a", "b"]) await fetch(`${service.base}/people/${id}`, { method: "DELETE" });
  await service.stop();
  const strict = {
    schema: { type: "object", properties: { name: { type: "string", maxLength: 8 } } },
    unique: ["name"],
  };
  const changed = makeFolder(configuration({ people: strict }));
  const args = ["rewind", "--to", then, "--max", "2", "--store", `sqlite:${cwd}/holdfast.db`];
  const { exitCode, stderr } = await run(t, args, { cwd: changed });
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /^people: 2 created again, 0 replaced, 0 deleted\npeople\/a #\/name: must have at most 8 characters\n/,
  );
  assert.match(stderr, /\nholdfast: Nothing was rewound: 1 value does not fit today's schemas/);
  assert.equal(await exported(t, cwd), "");
});

test("arguments that cannot work are refused in one line", async (t) => {
  const cwd = makeFolder({ people: lines });
  await run(t, ["import", "people", "people"], { cwd });
  const faults: [string[], RegExp][] = [
    [
      ["--to", "2026-01-31T08:30:00"],
      /^holdfast: --to must be a time such as 2026-01-31, 2026-01-31T08:30Z, [^\n]+, not "2026-01-31T08:30:00"\.\n$/,
    ],
    [["--to", "2999-01-01"], /^holdfast: --to must not be in the future, but "2999-01-01" is\.\n$/],
    [
      ["--to", "2026-01-01", "--collection", "peple"],
      /^holdfast: The collection "peple" does not exist\. Did you mean "people"\?\n$/,
    ],
    [["--to", "2026-01-01", "--token", "x"], /^holdfast: --token is for a running service/],
    [
      ["--to", "2026-01-01", "--url", "http://localhost:1", "--store", "sqlite:x"],
      /^holdfast: Give either --url, or/,
    ],
    [[], /--to/],
  ];
  for (const [args, expected] of faults) {
    const { exitCode, stderr } = await run(t, ["rewind", "--max", "5", ...args], { cwd });
    assert.equal(exitCode, 1, args.join(" "));
    assert.match(stderr, expected);
  }
  const none = makeFolder({});
  assert.match(
    (await run(t, ["rewind", "--to", "2026-01-01", "--dry-run"], { cwd: none })).stderr,
    /does not exist\.\n$/,
  );
});

test("more changes than --max are refused, in the store and in a service, and the --max in the message works", async (t) => {
  const cwd = makeFolder({ people: lines, more: '{"id":"c"}\n{"id":"d"}\n' });
  await run(t, ["import", "people", "people"], { cwd });
  const then = await moment();
  await run(t, ["import", "people", "more"], { cwd });
  const after = await exported(t, cwd);
  const rewind = (args: readonly string[]) => run(t, ["rewind", "--to", then, ...args], { cwd });
  const refusal =
    "holdfast: 2 resources would change, but --max is 1, so nothing was rewound. Give --max 2, or a later time.\n";
  for (const more of [[], ["--dry-run"]]) {
    const { exitCode, stderr } = await rewind(["--max", "1", ...more]);
    assert.deepEqual([exitCode, stderr], [1, refusal]);
  }
  const faults: [string[], RegExp][] = [
    [
      [],
      /^holdfast: --max is required: [^\n]+, a whole number from 1 to 100000\. --dry-run says how many would change\.\n$/,
    ],
    ...["0", "-1", "1.5", "100001", "many"].map((max): [string[], RegExp] => [
      [`--max=${max}`],
      /^holdfast: --max must be a whole number from 1 to 100000, not "[^\n]+"\.\n$/,
    ]),
  ];
  for (const [args, expected] of faults) assert.match((await rewind(args)).stderr, expected);
  assert.equal(await exported(t, cwd), after);
  const service = await serve(t, [], { cwd });
  assert.equal((await rewind(["--max", "1", "--url", service.base])).stderr, refusal);
  assert.equal((await rewind(["--max", "2", "--url", service.base])).exitCode, 0);
  await stop(service);
  assert.equal(await exported(t, cwd), lines);
});

test("a time before the first change is refused with the time of the first change", async (t) => {
  const cwd = makeFolder({ people: lines });
  await run(t, ["import", "people", "people"], { cwd });
  const early = await run(t, ["rewind", "--to", "2020-01-01", "--max", "5"], { cwd });
  const [, first = ""] =
    /^holdfast: --to is before the history of people, which begins at (\S+)\. Nothing was rewound\. [^\n]+\n$/.exec(
      early.stderr,
    ) ?? [];
  const { stderr } = await run(t, ["rewind", "--to", first, "--dry-run"], { cwd });
  assert.equal(stderr, `would rewind 0 resources to ${first}\n`);
});

test("what is too large for one commit of a running service is a task", async (t) => {
  const cwd = makeFolder({
    first: '{"id":"a"}\n{"id":"b"}\n',
    more: Array.from({ length: 60 }, (_, n) => `{"id":"m${n}"}\n`).join(""),
    ...configuration({ people: {} }, { limits: { rewind: "20kb" } }),
  });
  await run(t, ["import", "people", "first"], { cwd });
  const then = await moment();
  await run(t, ["import", "people", "more"], { cwd });
  const { base } = await serve(t, [], { cwd });
  const rewind = (...args: string[]) => run(t, ["rewind", "--to", then, "--url", base, ...args], { cwd });
  const first = (what: string) =>
    `holdfast: the rewind is too large for one commit, so the service ${what}\n`;
  const made = first("makes a task of it: others see a part of it before the rest");
  const dry = await rewind("--dry-run");
  const checked = first("checks it as a task");
  assert.deepEqual([dry.exitCode, dry.stderr], [0, `${checked}would rewind 60 resources to ${then}\n`]);
  const few = await rewind("--max", "59");
  assert.equal(few.exitCode, 1);
  assert.equal(
    few.stderr,
    `${made}holdfast: 60 resources would change, but --max is 59, so nothing was rewound. Give --max 60, or a later time.\n`,
  );
  const done = await rewind("--max", "60");
  assert.equal(done.exitCode, 0, done.stderr);
  const [, undo = ""] =
    /rewound 60 resources to \S+\. To undo this: POST (\S+\/_tasks\/\S+\/_undo)\n$/.exec(done.stderr) ?? [];
  assert.deepEqual(await (await fetch(`${base}/people?fields=id`)).json(), [{ id: "a" }, { id: "b" }]);
  assert.equal((await fetch(undo, { method: "POST" })).status, 202);
});
