/** Code that fails, fails in a service for tests as in a real one, where it runs in workers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { importUserModule } from "../../src/user-module.ts";
import { makeFolder } from "../folder.ts";
import { startFor } from "../http/service.ts";
import { startInMemoryFor } from "./service.ts";

const source = `
import { defineConfig, forbid, refuse, respond, route } from ${JSON.stringify(pathToFileURL("src/index.ts").href)};

const cycle = {};
cycle.self = cycle;
let deep = {};
for (let n = 0; n < 300; n++) deep = { deep };

const values = {
  date: new Date(0),
  nan: NaN,
  infinity: -Infinity,
  undefined: undefined,
  bigint: 1n,
  function: () => 1,
  symbol: Symbol("s"),
  map: new Map(),
  set: new Set(),
  bytes: new Uint8Array(2),
  class: new (class Thing {})(),
  proxy: new Proxy({}, {}),
  getter: { get value() { return 1; } },
  array: [1, undefined],
  error: new Error("value"),
  cycle,
  deep,
};

const fails = {
  throw: () => { throw new Error("no luck"); },
  text: () => { throw "text"; },
  nothing: () => { throw undefined; },
  promise: async () => ({}),
  rejected: async () => { throw new Error("later"); },
  list: () => [1],
  number: () => 7,
  null: () => null,
  refuse: () => refuse("does", "is refused", { code: "bad" }),
  forbid: () => forbid("Nobody does this."),
};

const run = (does, other) => (fails[does] ? fails[does]() : does in values ? { value: values[does] } : other);

export const all = [...Object.keys(fails), ...Object.keys(values)];

export default defineConfig({
  collections: {
    befores: { id: "integer", hooks: { before: ({ resource: { does } }) => run(does) } },
    changes: { id: "integer", hooks: { before: ({ resource }) => { resource.more = 1; } } },
    validates: { id: "integer", hooks: { validate: ({ resource: { does } }) => run(does) } },
    computes: { id: "integer", computed: { found: { from: ["does"], value: ({ does }) => (fails[does] ? fails[does]() : values[does]) } } },
    notes: {},
  },
  routes: {
    returns: route({ method: "POST", path: "returns/{does}", access: "public", run: ({ params: { does } }) => run(does) }),
    large: route({ method: "POST", path: "large", access: "public", run: () => "x".repeat(17 * 1024 * 1024) }),
    body: route({ method: "POST", path: "body", access: "public", run: () => respond(200, "x".repeat(17 * 1024 * 1024)) }),
    cookie: route({ method: "POST", path: "cookie", access: "public", run: () => respond(200, "", { "set-cookie": "a=b" }) }),
    many: route({ method: "POST", path: "many", access: "public", run: async ({ client }) => {
      for (let n = 0; n < 101; n++) await client.notes.list({}).all();
    } }),
  },
});
`;

/** A line of a log, as far as it says why code has failed. */
interface Line {
  code?: string;
  err?: string;
}

/** Without what differs each time: ids of requests. */
const stable = (text: string) => text.replaceAll(/urn:uuid:[0-9a-f-]+/g, "…");

/** Without the stack. */
const reasonsIn = (lines: readonly Line[]) => lines.map(({ code, err }) => [code, err?.split("\n")[0]]);

test("what code returns and throws fails as in a worker", async (t) => {
  const path = join(makeFolder({ "holdfast.config.mjs": source }), "holdfast.config.mjs");
  const { default: config, all } = (await importUserModule(path)) as { default: object; all: string[] };
  const [expectedLines, lines]: [Line[], Line[]] = [[], []];
  const write = (line: string) => void expectedLines.push(JSON.parse(line));
  const keep = (line: unknown) => void lines.push(line as Line);
  const [real, service] = await Promise.all([
    startFor(t, { module: source, log: pino({ level: "warn" }, { write }), isWatched: false }),
    startInMemoryFor(t, config, { log: { warn: keep, error: keep } }),
  ]);
  const compare = async (target: string, content?: object) => {
    const expected = await real.send(
      { method: "POST", path: target, ...(content && { content }) },
      { mayFail: true },
    );
    const headers = { "content-type": "application/json" };
    const body = content && { headers, body: JSON.stringify(content) };
    const found = await service.fetch(target, { method: "POST", ...body });
    assert.deepEqual(
      { status: found.status, text: stable(await found.text()), reasons: reasonsIn(lines.splice(0)) },
      { status: expected.status, text: stable(expected.text), reasons: reasonsIn(expectedLines.splice(0)) },
      `${target} ${JSON.stringify(content)}`,
    );
    return found.status;
  };
  const statuses = new Set<number>();
  for (const does of all) {
    for (const name of ["befores", "validates", "computes"])
      statuses.add(await compare(`/api/v1/${name}`, { does }));
    statuses.add(await compare(`/api/v1/returns/${does}`));
  }
  assert.deepEqual([...statuses].sort(), [200, 201, 400, 403, 500]);
  assert.equal(await compare("/api/v1/changes", { does: "nothing" }), 500);
  for (const name of ["large", "body", "cookie", "many"]) assert.equal(await compare(`/api/v1/${name}`), 500);
});
