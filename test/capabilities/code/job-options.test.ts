/** The faults of the option `jobs`, each with its place and advice. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/config.ts";
import { StartError } from "../../../src/errors.ts";
import { makeFolder } from "../../folder.ts";

/** The faults of a configuration file; none if it has none. */
async function faultsOf(name: string, text: string): Promise<string[]> {
  const cwd = makeFolder();
  writeFileSync(join(cwd, name), text);
  try {
    await loadConfig({ cwd, flags: {}, env: {} });
    return [];
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    return error.faults.map((fault) => fault.text.replace(/^[^ ]*config\.\w+: /, ""));
  }
}

const faultsOfJobs = (jobs: string) => faultsOf("holdfast.config.ts", `export default { jobs: ${jobs} };`);

const faults: readonly [jobs: string, ...expected: RegExp[]][] = [
  ["[]", /^jobs must be an object such as .*, not \[\]\.$/],
  ["{ digest: 5 }", /^jobs\.digest must be an object, not 5\.$/],
  ["{ digest: {} }", /^jobs\.digest\.cron is missing\. .*"0 7 \* \* 1"/, /^jobs\.digest\.run is missing\./],
  ['{ "1st": { cron: "0 7 * * *", run() {} } }', /^jobs\.1st: the name of a job has a letter/],
  [
    '{ a: { cron: 5, run() {} }, b: { cron: "0 0 31 2 *", run() {} } }',
    /^jobs\.a\.cron must be a text/,
    /^jobs\.b\.cron is "0 0 31 2 \*"\. It never comes/,
  ],
  ['{ a: { cron: "* * * * * *", run() {} } }', /^jobs\.a\.cron .* five fields: minute, hour/],
  ['{ a: { cron: "61 * * * *", run() {} } }', /^jobs\.a\.cron .*Invalid value for minute: 61\.$/],
  [
    '{ a: { cron: "0 7 * * *", timezone: "Mars/Olympus", run() {} } }',
    /^jobs\.a\.timezone must be the name of a time zone such as "Europe\/Oslo", not "Mars/,
  ],
  ['{ a: { cron: "0 7 * * *", timezone: "+01:00", run() {} } }', /^jobs\.a\.timezone/],
  [
    '{ a: { cron: "0 7 * * *", as: "admin", run() {} } }',
    /^jobs\.a\.as must be "service", or an object with roles/,
  ],
  [
    '{ a: { cron: "0 7 * * *", timeoutMs: 3600001, retries: 6, catchUp: 1, onCrash: "stop", run() {} } }',
    /^jobs\.a\.timeoutMs .*3600000/,
    /^jobs\.a\.retries .*0 to 5/,
    /^jobs\.a\.catchUp/,
    /^jobs\.a\.onCrash must be "again" or "skip"/,
  ],
  [
    '{ a: { cron: "0 7 * * *", timeZone: "UTC", run() {} } }',
    /^jobs\.a\.timeZone is not an option\. Did you mean "timezone"\?$/,
  ],
  ['{ a: { cron: "0 7 * * *", run: "code" } }', /^jobs\.a\.run must be a function/],
  [
    'Object.fromEntries(Array.from({ length: 101 }, (_, n) => ["job" + n, { cron: "0 7 * * *", run() {} }]))',
    /^jobs has 101 jobs\. A service can have at most 100\.$/,
  ],
];

for (const [jobs, ...expected] of faults)
  test(`jobs: ${jobs}`, async () => {
    const found = await faultsOfJobs(jobs);
    assert.equal(found.length, expected.length, found.join("\n"));
    for (const [n, text] of found.entries()) assert.match(text, expected[n] as RegExp);
  });

test("100 jobs with all options are no fault", async () => {
  const one =
    '{ cron: "*/5 0-6 1,15 jan-mar mon-fri", timezone: "europe/oslo", as: { roles: ["editor"] }, timeoutMs: 3600000, retries: 5, catchUp: false, onCrash: "skip", run() {} }';
  const jobs = `Object.fromEntries(Array.from({ length: 100 }, (_, n) => ["job" + n, ${one}]))`;
  assert.deepEqual(await faultsOfJobs(jobs), []);
});

test("a JSON file cannot have jobs, and learns what can", async () => {
  const content = { jobs: { digest: { cron: "0 7 * * *", run: "code" } } };
  assert.deepEqual(await faultsOf("holdfast.config.json", JSON.stringify(content)), [
    "jobs.digest: a JSON file cannot have functions. Write the configuration as holdfast.config.ts: export default defineConfig({ … })",
  ]);
});
