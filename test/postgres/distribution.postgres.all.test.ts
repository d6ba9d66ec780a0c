/** The service on PostgreSQL as people install it: with its settings, of which JIT is one that the PostgreSQL of the other tests lacks. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { makeBusy } from "../copy/busy.ts";
import { observe } from "../copy/observe.ts";
import { askEach } from "../copy/run.ts";
import { noDistributed } from "./binaries.ts";
import { openDatabase, query } from "./databases.ts";
import { startBouncer, whyNoBouncer } from "./pgbouncer.ts";
import { serveOn } from "./served.ts";
import { startDistributed } from "./server.ts";

/** Explains each statement in a file, and compiles each plan, however little it costs. */
const settings = [
  "shared_preload_libraries=auto_explain",
  "auto_explain.log_min_duration=0",
  "logging_collector=on",
  "log_directory=log",
  "log_filename=all.log",
  "jit_above_cost=0",
];

async function startExplained(t: TestContext) {
  const server = await startDistributed(settings);
  t.after(() => server.remove());
  const { url } = await openDatabase({ server: server.url });
  return { url, explained: () => readFileSync(join(server.data, "log", "all.log"), "utf8") };
}

test("no statement of the service is compiled, from the first one of each connection on", {
  skip: noDistributed,
}, async (t) => {
  const { url, explained } = await startExplained(t);
  const { rows } = await query(url, "select pg_jit_available(), current_setting('jit') as jit");
  assert.deepEqual(rows, [{ pg_jit_available: true, jit: "on" }], "the server compiles plans");
  await query(url, "select count(*) from pg_class where relname like '%fold%'");
  assert.match(explained(), /JIT:/, "a session of others has compiled plans");
  const before = explained().length;
  const address = { kind: "postgres", url } as const;
  await makeBusy(address, 7);
  await askEach([address], observe);
  const served = await serveOn(t, url);
  for (const name of ["Ada", "ÄDA", "Bob"])
    assert.equal((await served.ask("POST", "people", { name })).status, 201);
  for (const filter of [
    "name:containsi=ad",
    "name:startsWithi=ä",
    `filter=${encodeURIComponent(JSON.stringify({ or: Array.from({ length: 20 }, (_, n) => ({ name: { eqi: `n${n}` } })) }))}`,
    "sort=name:natural",
    "q=ada",
  ])
    assert.equal((await served.ask("GET", `people?${filter}`)).status < 500, true, filter);
  const own = explained().slice(before);
  assert.ok(own.split("Query Text:").length > 500, "the statements are explained");
  const compiled = own
    .split(/(?=\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\])/)
    .filter((each) => /JIT:/.test(each) && !each.includes("set_config('jit', 'off', false)"));
  assert.deepEqual(
    compiled.map((each) => /Query Text: ([^\n]*)/.exec(each)?.[1]),
    [],
  );
});

test("behind a pooler, a start says how the compilation of plans is turned off", {
  skip: noDistributed || whyNoBouncer(),
}, async (t) => {
  const { url } = await startExplained(t);
  const bouncer = await startBouncer(url, 4);
  t.after(() => bouncer.stop());
  const warnings = async (address: string) => {
    const found: string[] = [];
    const store = await openStore(
      { kind: "postgres", url: address },
      { onWarning: (text) => found.push(text) },
    );
    await store.close();
    return found.filter((each) => each.includes("jit"));
  };
  assert.deepEqual(await warnings(url), []);
  const [warning = "", ...others] = await warnings(bouncer.url);
  assert.match(warning, /alter role holdfast set jit = off$/);
  assert.deepEqual(others, []);
  const [statement = ""] = /alter role .*$/.exec(warning) ?? [];
  await query(url, statement);
  await bouncer.stop();
  const again = await startBouncer(url, 4);
  t.after(() => again.stop());
  assert.deepEqual(await warnings(again.url), []);
});
