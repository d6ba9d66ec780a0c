/** Clients that people use follow a stream, and read every event: also over a cut, if they connect again by themselves. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { CloudEvent, HTTP } from "cloudevents";
import { EventSource } from "eventsource";
import { openBrowser } from "../browser/browser.ts";
import { eventsOf, follow } from "../http/follow.ts";
import { type Service, startFor } from "../http/service.ts";
import { until } from "../until.ts";

const path = "/api/v1/topics/_events?since=start";

async function start(t: TestContext): Promise<Service> {
  const service = await startFor(t);
  return service;
}

/** A way to the service that can be cut. */
async function startWay(t: TestContext, port: number): Promise<{ url: string; cut(): void }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    const other = connect(port, "127.0.0.1");
    for (const each of [socket, other]) {
      sockets.add(each);
      each.on("error", () => {});
      each.on("close", () => sockets.delete(each));
    }
    socket.pipe(other).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, cut };
}

/** Writes events before, during and after a cut; `seen` must have all of them, in order. */
async function writeAndRead(service: Service, seen: () => Iterable<number>, cut?: () => void): Promise<void> {
  let n = 0;
  const write = async (count: number) => {
    for (const last = n + count; n < last; n++) await service.create("topics", { n, text: "é\n\u2028" });
  };
  const isComplete = () => [...seen()].length >= n;
  await write(10);
  await until("the first events have come", isComplete);
  cut?.();
  await write(10);
  await until("the events after the cut have come", isComplete);
  await write(5);
  await until("all events have come", isComplete);
  assert.deepEqual(
    [...seen()],
    Array.from({ length: n }, (_, each) => each),
  );
}

const numberOf = (text: string) => (JSON.parse(text) as { data: { n: number } }).data.n;

test("the npm package eventsource", async (t) => {
  const service = await start(t);
  const way = await startWay(t, service.port);
  const seen: number[] = [];
  const source = new EventSource(way.url);
  t.after(() => source.close());
  source.onmessage = ({ data }) => seen.push(numberOf(String(data)));
  await writeAndRead(service, () => seen, way.cut);
});

const opened = await openBrowser();

test("the EventSource of a browser, from another origin", {
  skip: "why" in opened && opened.why,
}, async (t) => {
  if ("why" in opened) return;
  t.after(() => opened.browser.close());
  const service = await start(t);
  const way = await startWay(t, service.port);
  const site = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<p>page</p>"),
  );
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  t.after(() => site.close());
  const page = await opened.browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const seen: number[] = [];
  await page.exposeFunction("onEvent", (text: string) => seen.push(numberOf(text)));
  await page.evaluate(`new EventSource(${JSON.stringify(way.url)}).onmessage = ({ data }) => onEvent(data)`);
  await writeAndRead(service, () => seen, way.cut);
});

/** The numbers in the lines that a program writes. */
function readLines(t: TestContext, child: ChildProcess): () => number[] {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  t.after(() => child.kill("SIGKILL"));
  return () =>
    text
      .split("\n")
      .slice(0, -1)
      .flatMap((line) => (line.startsWith("data: ") ? [numberOf(line.slice("data: ".length))] : []));
}

function whyNot(command: string, args: readonly string[], advice: string): string | false {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return false;
  } catch {
    return advice;
  }
}

test("curl", { skip: whyNot("curl", ["--version"], "needs curl (apt-get install curl)") }, async (t) => {
  const service = await start(t);
  const args = ["-sN", "-H", "Accept: text/event-stream", `${service.origin}${path}`];
  const lines = readLines(t, spawn("curl", args, { stdio: ["ignore", "pipe", "ignore"] }));
  await writeAndRead(service, lines);
});

const script = `
import sys, httpx
with httpx.stream("GET", sys.argv[1], headers={"Accept": "text/event-stream"}, timeout=None) as response:
    for line in response.iter_lines():
        print(line.rstrip("\\n"), flush=True)
`;
const python = ["python3", "/usr/bin/python3"].find(
  (name) => whyNot(name, ["-c", "import httpx"], "no") === false,
);

test("Python's httpx", {
  skip: python === undefined && "needs Python with httpx (apt-get install python3-httpx)",
}, async (t) => {
  const service = await start(t);
  const args = ["-c", script, `${service.origin}${path}`];
  const lines = readLines(t, spawn(String(python), args, { stdio: ["ignore", "pipe", "inherit"] }));
  await writeAndRead(service, lines);
});

test("the npm package cloudevents takes every event of a stream, and a page as a batch", async (t) => {
  const service = await start(t);
  const made = await service.create("topics", { n: 1 });
  await service.send({ method: "PATCH", path: made.path, content: { n: 2 } });
  const operations = [3, 4].map((n) => ({ method: "POST", path: "/topics", body: { n } }));
  await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  await service.send({ method: "DELETE", path: made.path });
  const stream = await follow(service, path, { "last-event-id": "" });
  t.after(() => stream.close());
  for (const event of await stream.take(5)) {
    const read = new CloudEvent({ ...event }, true);
    assert.equal(read.validate(), true);
    assert.deepEqual(JSON.parse(JSON.stringify(read)), event);
  }
  const page = await service.send({ path });
  const batch = HTTP.toEvent({ headers: { "content-type": page.headers["content-type"] }, body: page.text });
  assert.ok(Array.isArray(batch));
  assert.deepEqual(
    batch.map(({ id, type }) => [id, type]),
    eventsOf(page).map(({ id, type }) => [id, type]),
  );
});
