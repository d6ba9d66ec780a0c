/** Traces of the whole program, with the file that the guide shows. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { clientOf } from "../threads/served.ts";
import { until } from "../until.ts";
import { startCollector } from "./collector.ts";
import { startTraced } from "./program.ts";

// In the project, so that the file finds the packages.
const folder = makeFolder({}, "node_modules");

async function tracingFile(): Promise<string> {
  const guide = await readFile("docs/how-to/watch.md", "utf8");
  const [, code = ""] = /```js\n(import threads [\s\S]+?)```/.exec(guide) ?? [];
  const path = join(folder, "tracing.mjs");
  await writeFile(path, code);
  return path;
}

test("the file of the guide makes traces, and the last spans are sent at the stop", async (t) => {
  const collector = await startCollector();
  t.after(() => collector.close());
  const file = await tracingFile();
  const program = await startTraced({
    store: join(folder, "traced.db"),
    nodeOptions: [`--import=./${file}`],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin, HOLDFAST_LOG: "requests" },
  });
  const answer = await fetch(`${program.origin}/api/v1/topics`);
  assert.equal(answer.status, 200);
  await program.stop(); // long before the SDK sends by itself
  const span = collector.spans.find(({ name }) => name === "GET /api/v1/{collection}");
  assert.ok(span !== undefined, JSON.stringify(collector.spans.map(({ name }) => name)));
  assert.ok(collector.spans.some(({ parentSpanId }) => parentSpanId === span.spanId));
  const line = program.log().find(({ msg }) => msg === "request");
  assert.deepEqual([line?.traceId, line?.requestId], [span.traceId, span.attributes["holdfast.request.id"]]);
  assert.deepEqual(
    program.log().filter(({ level }) => Number(level) > 30),
    [],
  );
});

test("the requests of all threads have spans", async (t) => {
  const collector = await startCollector();
  t.after(() => collector.close());
  const program = await startTraced({
    store: join(folder, "threads.db"),
    nodeOptions: [`--import=./${await tracingFile()}`],
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin,
      HOLDFAST_LOG: "requests",
      HOLDFAST_THREADS: "4",
    },
  });
  const clients = Array.from({ length: 32 }, () => clientOf(t, program.origin));
  for (const client of clients) assert.equal((await client.send("GET", "topics")).status, 200);
  await program.stop();
  const lines = program.log().filter(({ msg }) => msg === "request");
  const ids = lines.map(({ requestId }) => String(requestId));
  const threads = new Set(ids.map((id) => id.slice(0, 23))); // each thread has its own start of ids
  assert.ok(threads.size > 1);
  const spans = collector.spans.filter(({ name }) => name === "GET /api/v1/{collection}");
  assert.deepEqual(spans.map(({ attributes }) => attributes["holdfast.request.id"]).sort(), ids.sort());
});

test("without an SDK, nothing of OpenTelemetry is loaded", async () => {
  const probe = join(folder, "probe.mjs");
  const seen = join(folder, "loaded.txt");
  await writeFile(
    probe,
    `import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";
if (isMainThread) process.on("exit", () => {
  const files = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes("opentelemetry"));
  const known = Symbol.for("opentelemetry.js.api.1") in globalThis;
  writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ files, known }));
});
`,
  );
  const program = await startTraced({
    store: join(folder, "plain.db"),
    nodeOptions: [`--import=./${probe}`],
  });
  await (await fetch(`${program.origin}/api/v1/topics`)).text();
  await program.stop();
  await until("the probe has written", () =>
    readFile(seen).then(
      () => true,
      () => false,
    ),
  );
  assert.deepEqual(JSON.parse(await readFile(seen, "utf8")), { files: [], known: false });
});

test("an SDK whose package is too old, or that registers no provider, is a warning", async () => {
  const file = join(folder, "old.mjs");
  await writeFile(
    file,
    'globalThis[Symbol.for("opentelemetry.js.api.1")] = { version: "1.3.0", trace: {} };\n',
  );
  const program = await startTraced({ store: join(folder, "old.db"), nodeOptions: [`--import=./${file}`] });
  await program.stop();
  const [warning] = program.log().filter(({ level }) => level === 40);
  assert.match(
    String(warning?.msg),
    /the service makes no traces\. .+version 1\.9 or later of @opentelemetry\/api/,
  );
});
