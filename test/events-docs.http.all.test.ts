/** The pages about events: their examples are sent, and their programs are run, in a real browser too. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { after, type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Browser, Page } from "playwright-core";
import { openBrowser, watchPage } from "./browser/browser.ts";
import { folder, run as runCommand, serve } from "./commands/cli.ts";
import { links } from "./http/check.ts";
import { type Made, type Service, type ServiceOptions, startService } from "./http/service.ts";
import { until } from "./until.ts";

const reference = await readFile("docs/reference/events.md", "utf8");
const blocks = [...reference.matchAll(/^```(?:http)?\n([^`]*?)\n```$/gm)].map(([, text = ""]) => text);

function blockLike(pattern: RegExp): string {
  const found = blocks.filter((text) => pattern.test(text));
  assert.equal(found.length, 1, `${found.length} blocks like ${pattern}`);
  return found[0] ?? "";
}

async function started(t: TestContext, options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ probe: { standstillMs: 1_000 }, ...options }); // the browser is driven in this thread
  t.after(() => service.stop());
  return service;
}

/** A text with everything replaced that no page can know. */
const general = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/("id": ?)"e[\w-]{22}"/g, '$1"<event>"')
    .replaceAll(/since=[\w-]+/g, "since=<position>")
    .replaceAll(/^id: [\w-]+$/gm, "id: <position>");

test("the page of events of the reference is the one that a service gives", async (t) => {
  const service = await started(t);
  const { path } = await service.create("topics", { title: "Winter", status: "open" });
  await service.send({ method: "DELETE", path });
  const [head = "", body = ""] = blockLike(/^HTTP.*\nContent-Type: application\/cloudevents/).split("\n\n");
  const [, asked = ""] = blockLike(/_events\?limit=2 HTTP/).split(" ");
  const answer = await service.send({ path: asked });
  for (const field of head.split("\n").slice(1)) {
    const [name = "", value = ""] = field.split(/: (.*)/s);
    assert.equal(general(answer.headers[name.toLowerCase()] ?? ""), general(value), name);
  }
  assert.equal(
    JSON.stringify(JSON.parse(general(answer.text)), undefined, 1),
    JSON.stringify(JSON.parse(general(body)), undefined, 1),
  );
});

test("the table of the members has those of an event, in their order", async (t) => {
  const service = await started(t);
  const operations = [1, 2].map(() => ({ method: "POST", path: "/topics", body: {} }));
  await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  const [event] = (await service.send({ path: "/api/v1/topics/_events" })).json as object[];
  const [, table = ""] = reference.split("## Members of an event");
  const listed = [...(table.split("\n## ")[0] ?? "").matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(listed, Object.keys(event ?? {}));
});

test("the link of the reference from a list to its events is the one that a service gives", async (t) => {
  const service = await started(t);
  const [head = ""] = blockLike(/rel="monitor"/).split("\n\n");
  const [, link = ""] = head.replaceAll(/\n\s+/g, " ").split("Link: ");
  const [, path = ""] = blockLike(/^GET \/api\/v1\/topics\?status/).split(" ");
  assert.equal(general((await service.send({ path })).headers.link ?? ""), general(link));
});

test("the stream of the reference is the one that a service sends", async (t) => {
  const service = await started(t);
  const shown = general(blockLike(/^retry: /));
  const stop = new AbortController();
  t.after(() => stop.abort());
  const [request = "", accept = ""] = blockLike(/^GET .*\nAccept: text\/event-stream/).split("\n");
  const { body } = await fetch(`http://127.0.0.1:${service.port}${request.split(" ")[1]}`, {
    headers: { Accept: accept.split(": ")[1] ?? "" },
    signal: stop.signal,
  });
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (text === "") await service.create("topics", { title: "Winter" });
    text += chunk;
    if (text.split("\n\n").length === shown.split("\n\n").length + 1) break;
  }
  assert.equal(general(text).trimEnd(), shown);
});

/** The program of a guide, in a temporary folder, for a service. */
async function programOf(t: TestContext, page: string, service: { port: number }): Promise<string> {
  const [, name = "", text = ""] =
    /^```(?:ts|html) ((?!holdfast)\S+)\n(.*?)^```$/ms.exec(await readFile(`docs/how-to/${page}`, "utf8")) ??
    [];
  const address = "http://127.0.0.1:3000";
  assert.ok(text.includes(address));
  const cwd = await folder(t, { [name]: text.replaceAll(address, `http://127.0.0.1:${service.port}`) });
  return join(cwd, name);
}

/** Runs a program of Node in its folder. */
function run(t: TestContext, file: string): { child: ChildProcess; output(): string } {
  const child = spawn(process.execPath, [file], { cwd: join(file, "..") });
  t.after(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return { child, output: () => output };
}

/** The events that the worker printed, without repetitions. */
function printed(output: string, { id }: Made): string[] {
  const lines = output.split("\n").filter((line) => line.includes(` ${id} `));
  return [...new Set(lines.map((line) => line.split(" ", 3).join(" ").replace(id, "<id>")))];
}

test("the worker of the guide misses no change, although it is killed", async (t) => {
  const service = await started(t);
  const file = await programOf(t, "follow-a-collection.md", service);
  const made = await service.create("topics", { title: "One" });
  const first = run(t, file);
  await until("the worker prints the first event", () => first.output().includes(made.id));
  await service.send({ method: "PATCH", path: made.path, content: { title: "Two" } });
  await until("the worker prints the second event", () => first.output().includes("Two"));
  await until("the worker saves its place", () =>
    readFile(join(file, "..", "next-page.txt"), "utf8").then((text) => text.includes("&since=")),
  );
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  await service.send({ method: "DELETE", path: made.path });
  const second = run(t, file);
  await until("the worker prints the deletion", () => second.output().includes("topics.deleted"));
  assert.deepEqual(printed(first.output() + second.output(), made), [
    "topics.created <id> 1",
    "topics.updated <id> 2",
    "topics.deleted <id> 3",
  ]);
});

test("the worker of the guide stops where events are missing", async (t) => {
  const [service, other] = [await started(t), await started(t)];
  await other.create("topics", {});
  const file = await programOf(t, "follow-a-collection.md", service);
  await writeFile(join(file, "..", "next-page.txt"), await nextOf(other));
  const { child, output } = run(t, file);
  const [code] = await once(child, "close");
  assert.equal(code, 1);
  assert.match(output(), /Events are missing\. Delete next-page\.txt/);
});

async function nextOf(service: Service): Promise<string> {
  return links(await service.send({ path: "/api/v1/topics/_events" })).next ?? "";
}

test("the copy of the guide equals the list after each run, also after a restart from nothing", async (t) => {
  const [service, other] = [await started(t), await started(t)];
  await other.create("topics", {});
  const file = await programOf(t, "offline-copy.md", service);
  const copyFile = join(file, "..", "topics.json");
  const sync = async () => {
    const { child, output } = run(t, file);
    const [code] = await once(child, "close");
    assert.equal(code, 0, output());
    const { next, topics } = JSON.parse(await readFile(copyFile, "utf8"));
    const { json } = await service.send({ path: "/api/v1/topics" });
    assert.deepEqual(Object.values(topics).sort(byId), (json as { id: string }[]).sort(byId));
    return next as string;
  };
  await sync();
  const [one, two] = [await service.create("topics", { n: 1 }), await service.create("topics", { n: 2 })];
  await sync();
  await service.send({ method: "PATCH", path: one.path, content: { n: 3 } });
  await service.send({ method: "DELETE", path: two.path });
  const next = await sync();
  assert.equal(await sync(), next);
  await service.create("topics", { n: 4 });
  await writeFile(copyFile, JSON.stringify({ next: await nextOf(other), topics: { gone: { id: "gone" } } }));
  await sync();
});

const byId = (a: unknown, b: unknown) => ((a as { id: string }).id < (b as { id: string }).id ? -1 : 1);

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

/** The address of a server of one page, which is read when the browser asks for it. */
async function serveFile(t: TestContext, file: () => string): Promise<string> {
  const server = createServer((_, out) =>
    out.setHeader("content-type", "text/html").end(readFileSync(file())),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function rowsOf(page: Page): Promise<string[]> {
  return page.locator("#topics li").allTextContents();
}

test("the page of the guide shows the list and follows every change", { skip }, async (t) => {
  const service = await started(t);
  const open = (title: string) => service.create("topics", { title, status: "open" });
  const first = await open("One");
  await service.create("topics", { title: "Closed", status: "closed" });
  const page = await browser.newPage();
  t.after(() => page.close());
  page.setDefaultTimeout(120_000);
  const seen = watchPage(page);
  const file = await programOf(t, "live-data.md", service);
  await page.goto(await serveFile(t, () => file));
  const shows = (...titles: string[]) =>
    until(`the page shows ${JSON.stringify(titles)}`, async () =>
      isDeepStrictEqual(await rowsOf(page), titles),
    );
  await shows("One");
  const second = await open("Two");
  await shows("One", "Two");
  await service.send({ method: "PATCH", path: first.path, content: { title: "Other" } });
  await shows("Other", "Two");
  await service.send({ method: "PATCH", path: first.path, content: { status: "closed" } });
  await shows("Two");
  await service.send({ method: "DELETE", path: second.path });
  await shows();
  assert.deepEqual(
    seen.errors.filter((error) => !error.includes("favicon")),
    [],
  );
});

test("the page of the guide says so when the service has no events", { skip }, async (t) => {
  const service = await started(t, { history: "none" });
  await service.create("topics", { title: "One", status: "open" });
  const page = await browser.newPage();
  t.after(() => page.close());
  page.setDefaultTimeout(120_000);
  const seen = watchPage(page);
  const file = await programOf(t, "live-data.md", service);
  await page.goto(await serveFile(t, () => file));
  await page.getByText("These topics stay as they are: the service keeps no history").waitFor();
  assert.deepEqual(await rowsOf(page), ["One"]);
  assert.deepEqual(
    seen.errors.filter((error) => !error.includes("favicon")),
    [],
  );
});

test("the page of the guide works with the configuration of the guide, and says what to do without it", {
  skip,
}, async (t) => {
  let file = "";
  const address = await serveFile(t, () => file);
  const [, shown = ""] =
    /^```ts holdfast.config.ts\n(.*?)^```$/ms.exec(await readFile("docs/how-to/live-data.md", "utf8")) ?? [];
  assert.ok(shown.includes("http://localhost:8000"));
  const page = await browser.newPage();
  t.after(() => page.close());
  page.setDefaultTimeout(120_000);
  const started = async (origin: string) => {
    const config = shown.replace("http://localhost:8000", origin);
    const cwd = await folder(t, { "holdfast.config.ts": config });
    await mkdir(join(cwd, "node_modules"));
    await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
    const { stdout } = await runCommand(t, ["keys", "create", "--name", "ada"], { cwd });
    const service = await serve(t, [], { cwd });
    const { port } = new URL(service.origin);
    file = await programOf(t, "live-data.md", { port: Number(port) });
    await page.goto(address);
    return (title: string) =>
      fetch(`${service.base}/topics`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${stdout.trim()}` },
        body: JSON.stringify({ title, status: "open" }),
      });
  };
  await started("http://localhost:8001");
  await page.getByText("The topics cannot be read").waitFor();
  const create = await started(new URL(address).origin);
  await until("the page shows the new topic", async () => {
    assert.equal((await create("One")).status, 201);
    return (await rowsOf(page)).includes("One");
  });
});
