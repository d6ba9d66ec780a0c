import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import {
  configuration,
  halfSent,
  jsonLines,
  type RunningService,
  run,
  serve,
  start,
  stop,
  untilDeaf,
} from "./cli.ts";

const json = { "content-type": "application/json" };

test("the start says where it listens, what it stores in, the mode, and a line that works", async (t) => {
  const cwd = makeFolder();
  const service = await serve(t, [], { cwd });
  const { stdout } = service.output();
  assert.match(stdout, /^Holdfast \d+\.\d+\.\d+\n/);
  assert.match(stdout, / {2}stores in +\S*holdfast\.db/);
  assert.match(stdout, / {2}mode +open/);
  const [, docs] = / {2}docs +(\S+)\n/.exec(stdout) ?? [];
  assert.equal((await fetch(String(docs))).status, 200);
  const [, url, type, body] = /curl -i (\S+) -H 'Content-Type: (\S+)' -d '(\S+)'/.exec(stdout) ?? [];
  const answer = await fetch(String(url), {
    method: "POST",
    headers: { "content-type": String(type) },
    body: String(body),
  });
  assert.equal(answer.status, 201);
  const { exitCode, stderr } = await stop(service);
  assert.equal(exitCode, 0, stderr);
});

test("without descriptions the start names no page of them", async (t) => {
  const service = await serve(t, [], { cwd: makeFolder(configuration({}, { docs: false })) });
  assert.doesNotMatch(service.output().stdout, /docs/);
  await stop(service);
});

test("a start without history says what is missing, and there are no events", async (t) => {
  const none = await serve(t, [], { cwd: makeFolder(configuration({ a: {} }, { history: "none" })) });
  assert.match(none.output().stdout, / {2}history +none: old versions .*_events is 404.*webhooks/);
  for (const path of ["a/_events", "_events"]) {
    const answer = await fetch(`${none.base}/${path}`);
    assert.deepEqual([answer.status, await answer.text()], [404, ""], path);
  }
  await stop(none);
  const usual = await serve(t, [], { cwd: makeFolder() });
  assert.doesNotMatch(usual.output().stdout, /history/);
  await stop(usual);
});

test("the log says why a database cannot be reached yet", async (t) => {
  const store = "postgres://u:secret@localhost:1/d";
  const service = await serve(t, ["--store", store], { cwd: makeFolder() });
  await until("the log says something", () => service.output().stderr !== "");
  const { stderr } = await stop(service);
  assert.match(
    stderr,
    /the store cannot be reached yet, and the service keeps trying: connect ECONNREFUSED [^"]+:1\b/,
  );
  assert.doesNotMatch(stderr, /secret/);
});

/** Sends one create after the other until no new connection is accepted. Returns how the requests without a response ended. */
async function hammer(
  service: RunningService,
  agent: Agent,
  onAnswer: () => void,
): Promise<{ lost: string[] }> {
  const result = { lost: [] as string[] };
  for (;;) {
    const { ending, isReused } = await create(service, agent);
    if (ending === "answered") onAnswer();
    else if (ending === "ECONNREFUSED") return result;
    // A connection that the service never took from the system's queue is not a request that it accepted.
    else if (isReused || ending !== "ECONNRESET") result.lost.push(ending);
  }
}

function create({ base }: RunningService, agent: Agent): Promise<{ ending: string; isReused: boolean }> {
  return new Promise((resolve) => {
    const request = httpRequest(`${base}/things`, { method: "POST", agent, headers: json }, (response) => {
      response.resume();
      response.on("end", () =>
        resolve({
          ending: response.statusCode === 201 ? "answered" : `status ${response.statusCode}`,
          isReused: false,
        }),
      );
      response.on("error", (error) => resolve({ ending: `cut off: ${error.message}`, isReused: true }));
    });
    request.on("error", (error: NodeJS.ErrnoException) =>
      resolve({ ending: error.code ?? error.message, isReused: request.reusedSocket }),
    );
    request.end('{"n":1}');
  });
}

test("SIGTERM under load: every request that was accepted is answered and kept, and the exit code is 0", async (t) => {
  const cwd = makeFolder();
  const service = await serve(t, [], { cwd });
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  t.after(() => agent.destroy());
  let answered = 0;
  const clients = Array.from({ length: 32 }, () => hammer(service, agent, () => answered++));
  await until("hundreds of requests are answered", () => answered > 300);
  service.process.kill("SIGTERM");
  const results = await Promise.all(clients);
  const { exitCode, stderr } = await service.ended;
  assert.equal(exitCode, 0, stderr);
  assert.deepEqual(
    results.flatMap(({ lost }) => lost),
    [],
  );
  const kept = jsonLines((await run(t, ["export", "things"], { cwd })).stdout).length;
  assert.ok(kept >= answered, `${kept} kept, ${answered} acknowledged`);
});

/** A deadline that no test waits for. */
const patient = { "holdfast.config.json": '{"stopTimeoutMs":600000}' };

test("a second signal does not wait for anybody", async (t) => {
  const service = await serve(t, [], { cwd: makeFolder(patient) });
  await halfSent(service);
  service.process.kill("SIGTERM");
  await untilDeaf(service);
  service.process.kill("SIGINT");
  const { exitCode, signal, stderr } = await service.ended;
  assert.deepEqual({ exitCode, signal }, { exitCode: 1, signal: null });
  assert.match(
    stderr,
    /"level":50.*"msg":"a second signal or failure ended the process before the stop was complete: /,
  );
});

test("after the deadline, a stop waits for nobody, and the exit code and the log say so", async (t) => {
  const files = { "holdfast.config.json": '{"stopTimeoutMs":1500}' };
  const service = await serve(t, [], { cwd: makeFolder(files) });
  await halfSent(service);
  const begin = performance.now();
  const { exitCode, signal, stderr } = await stop(service);
  assert.deepEqual({ exitCode, signal }, { exitCode: 1, signal: null });
  assert.ok(performance.now() - begin > 1_400, "the request got its time");
  assert.match(
    stderr,
    /"level":50.*"msg":"the limit of 1500 ms \(stopTimeoutMs\) ended the process before the stop was complete: it waited for requests and connections, with 1 requests, 0 event streams, 1 connections\. Every confirmed write is on disk"/,
  );
});

test("a signal that comes while the service is starting ends it in order", async (t) => {
  const cwd = makeFolder();
  const starting = start(t, ["serve", "--port", "0"], {
    cwd,
    env: { NODE_OPTIONS: `--import=${slowStart}` },
  });
  await once(starting.process.stderr as NodeJS.ReadableStream, "data");
  starting.process.kill("SIGTERM");
  assert.equal((await starting.ended).exitCode, 0);
});

/** Reports when the first socket is about to listen, and blocks the process there for a moment. */
const slowStart = `data:text/javascript,${encodeURIComponent(`
  import net from "node:net";
  const { listen } = net.Server.prototype;
  net.Server.prototype.listen = function (...args) {
    process.stderr.write("starting\\n");
    setTimeout(() => listen.apply(this, args), 300);
    return this;
  };
`)}`;

const refusals: readonly {
  name: string;
  args?: string[];
  files?: Record<string, string>;
  env?: Record<string, string>;
  says: RegExp;
}[] = [
  { name: "a port that is no number", args: ["--port", "many"], says: /port/ },
  { name: "a port out of range", args: ["--port", "70000"], says: /port/ },
  { name: "a port out of range in the environment", env: { HOLDFAST_PORT: "70000" }, says: /HOLDFAST_PORT/ },
  {
    name: "a configuration file that is not there",
    args: ["--config", "nowhere.json"],
    says: /nowhere\.json/,
  },
  {
    name: "a configuration file that is not JSON",
    files: { "holdfast.config.json": "{" },
    says: /holdfast\.config\.json/,
  },
  {
    name: "a configuration file with an error in it",
    files: { "holdfast.config.ts": "export default {" },
    says: /holdfast\.config\.ts/,
  },
  { name: "a misspelled option", files: { "holdfast.config.json": '{"prot":4000}' }, says: /prot.*port/ },
  {
    name: "an option that is not supported yet",
    files: configuration({ topics: { unique: ["a"] } }),
    says: /unique/,
  },
  {
    name: "a schema that is none",
    files: configuration({ topics: { schema: { type: "strin" } } }),
    says: /topics/,
  },
  { name: "a name that no collection can have", files: configuration({ "9lives": {} }), says: /9lives/ },
  { name: "a host beyond the loopback addresses", args: ["--host", "0.0.0.0"], says: /--insecure/ },
  {
    name: "a store in a folder that is not there",
    args: ["--store", "sqlite:no/such/folder/x.db"],
    says: /no\/such\/folder/,
  },
  {
    name: "a store of an unknown kind",
    args: ["--store", "mongodb://user:CANARY-secret@host/x"],
    says: /store: this is not a store address\. Write sqlite:<file>/,
  },
  {
    name: "a store that is not a database",
    args: ["--store", "sqlite:text.db"],
    files: { "text.db": "not a database\n".repeat(100) },
    says: /text\.db/,
  },
  { name: "an unknown kind of log", args: ["--log", "everything"], says: /log/ },
];

for (const { name, args = [], files = {}, env = {}, says } of refusals) {
  test(`${name} is one line on stderr and exit code 1`, async (t) => {
    const cwd = makeFolder(files);
    const port = args.includes("--port") || env.HOLDFAST_PORT !== undefined ? [] : ["--port", "0"];
    const { exitCode, stdout, stderr } = await run(t, ["serve", ...port, ...args], { cwd, env });
    assert.equal(exitCode, 1, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, says);
    assert.match(stderr, /^holdfast: [^\n]+\n$/);
    assert.doesNotMatch(stderr, /secret/, "a password is not shown");
  });
}

test("with --log requests each request is a JSON line, and without it none is", async (t) => {
  for (const args of [["--log", "requests"], []]) {
    const service = await serve(t, args, { cwd: makeFolder() });
    await fetch(`${service.base}/things`, { method: "POST", headers: json, body: "{}" });
    await fetch(`${service.base}/things/unknown?x=1`);
    const { stderr } = await stop(service);
    const lines = jsonLines(stderr).filter((line) => (line as { msg: string }).msg === "request");
    const expected = [
      { method: "POST", path: "/api/v1/things", status: 201 },
      { method: "GET", path: "/api/v1/things/unknown", status: 400 },
    ];
    assert.deepEqual(
      lines.map((line) => {
        const { method, path, status } = line as Record<string, unknown>;
        return { method, path, status };
      }),
      args.length === 0 ? [] : expected,
    );
  }
});

test("no secret gets into any output, whatever becomes of the request", async (t) => {
  const canary = "CANARY-5f1c9e";
  const cwd = makeFolder(
    configuration({ things: { schema: { type: "object", properties: { n: { type: "integer" } } } } }),
  );
  const service = await serve(t, ["--log", "requests"], { cwd });
  const headers = {
    ...json,
    authorization: `Bearer ${canary}`,
    cookie: `session=${canary}`,
    "x-api-key": canary,
  };
  const send = (method: string, path: string, body?: string) =>
    fetch(`${service.base}${path}`, { method, headers, ...(body === undefined ? {} : { body }) }).then(
      (answer) => answer.status,
    );
  const statuses = [
    await send("POST", "/things", '{"n":1}'),
    await send("POST", "/things", `{"n":"${canary}"}`),
    await send("POST", "/things", `{"${canary}":1}`),
    await send("POST", "/things", `{"n":${canary}`),
    await send("GET", `/things?token=${canary}`),
    await send("GET", `/things/x?token=${canary}`),
    await send("PUT", "/things/x", `{"n":"${canary}"}`),
    await send("DELETE", `/things/x?key=${canary}`),
  ];
  assert.ok(statuses.includes(201) && statuses.includes(400) && statuses.includes(404), `${statuses}`);
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  socket.end(`GET /api/v1/things HTTP/1.1\r\nAuthorization: ${canary}\r\n bad: ${canary}\0\r\n\r\n`);
  socket.resume();
  await once(socket, "close");
  const { stdout, stderr } = await stop(service);
  assert.ok(stderr.includes('"path":"/api/v1/things"'), "the requests were logged");
  assert.doesNotMatch(stdout + stderr, new RegExp(canary));
});
