/** `holdfast rewind`: on a store that no service uses, and on a running service. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { configuration, folder, run, serve, stop } from "./cli.ts";

const lines = '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n';

/** A moment: everything before it is earlier, and everything after it is later. */
async function moment(): Promise<string> {
  const now = Date.now();
  while (Date.now() <= now) await turn();
  return new Date(now).toISOString();
}

const exported = async (t: TestContext, cwd: string, name = "people") =>
  (await run(t, ["export", name], { cwd })).stdout;

test("a store that no service uses goes back, and again to where it was", async (t) => {
  const cwd = await folder(t, { people: lines, more: '{"id":"c"}\n' });
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
  const rewound = await run(t, ["rewind", "--to", then, "--collection", "people"], { cwd });
  assert.equal(rewound.exitCode, 0, rewound.stderr);
  const [, undo = ""] =
    /To undo this: npx holdfast (rewind --to \S+ --collection people)\n$/.exec(rewound.stderr) ?? [];
  assert.equal(await exported(t, cwd), lines);
  const again = await run(t, undo.split(" "), { cwd });
  assert.match(again.stderr, /^people: 1 created again, 0 replaced, 0 deleted\nrewound 1 resource to /);
  assert.equal(await exported(t, cwd), after);
});

test("beside a running service, the command names --url, and works with it", async (t) => {
  const cwd = await folder(t, { people: lines });
  await run(t, ["import", "people", "people"], { cwd });
  const then = await moment();
  const service = await serve(t, [], { cwd });
  await fetch(`${service.base}/people/a`, { method: "DELETE" });
  const beside = await run(t, ["rewind", "--to", then], { cwd });
  assert.deepEqual(
    [beside.exitCode, beside.stderr],
    [
      1,
      "holdfast: The store is in use by another Holdfast program. If it is the service, give its address: --url http://localhost:3000\n",
    ],
  );
  const there = await run(t, ["rewind", "--to", then, "--url", service.base], { cwd });
  assert.equal(there.exitCode, 0, there.stderr);
  assert.match(there.stderr, /^people: 1 created again, 0 replaced, 0 deleted\nrewound 1 resource to /);
  assert.ok(there.stderr.endsWith(` --url ${service.base}\n`), there.stderr);
  assert.equal((await fetch(`${service.base}/people/a`)).status, 200);
  const wrong = await run(t, ["rewind", "--to", then, "--url", `${new URL(service.base).origin}/v9`], {
    cwd,
  });
  assert.equal(wrong.exitCode, 1);
  assert.match(
    wrong.stderr,
    /^holdfast: \S+\/v9\/_rewind does not exist\. Check the address and its prefix\. [^\n]+ --token or HOLDFAST_TOKEN\.\n$/,
  );
  await stop(service);
});

test("what does not fit today's declaration is listed, and nothing changes", async (t) => {
  const cwd = await folder(t, { people: lines, ...configuration({ people: {} }) });
  await run(t, ["import", "people", "people"], { cwd });
  const then = await moment();
  const service = await serve(t, [], { cwd });
  for (const id of ["a", "b"]) await fetch(`${service.base}/people/${id}`, { method: "DELETE" });
  await stop(service);
  const strict = {
    schema: { type: "object", properties: { name: { type: "string", maxLength: 8 } } },
    unique: ["name"],
  };
  const changed = await folder(t, configuration({ people: strict }));
  const args = ["rewind", "--to", then, "--store", `sqlite:${cwd}/holdfast.db`];
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
  const cwd = await folder(t, { people: lines });
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
    const { exitCode, stderr } = await run(t, ["rewind", ...args], { cwd });
    assert.equal(exitCode, 1, args.join(" "));
    assert.match(stderr, expected);
  }
  const none = await folder(t, {});
  assert.match((await run(t, ["rewind", "--to", "2026-01-01"], { cwd: none })).stderr, /does not exist\.\n$/);
});

test("a log that begins later is named", async (t) => {
  const cwd = await folder(t, { people: lines });
  const then = await moment();
  await run(t, ["import", "people", "people"], { cwd });
  await run(t, ["erase", "people", "a"], { cwd });
  const { exitCode, stderr } = await run(t, ["rewind", "--to", then], { cwd });
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /^holdfast: --to is before the history of people[^\n]*\. Nothing was rewound\. Give a later time, or restore a backup\.\n$/,
  );
});
