/** The page of the guide to live data works in a real browser. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { after, type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Browser, Page } from "playwright-core";
import { openBrowser, watchPage } from "../browser/browser.ts";
import { run, serve } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { startFor } from "../http/service.ts";
import { until } from "../until.ts";
import { programOf } from "./guide-program.ts";
import { blockLike, readPage } from "./markdown.ts";

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

test("the page of the guide shows the list and follows every change", { skip }, async (t) => {
  const service = await startFor(t);
  const open = (title: string) => service.create("topics", { title, status: "open" });
  const first = await open("One");
  await service.create("topics", { title: "Closed", status: "closed" });
  const { page, assertNoErrors } = await openPage(t);
  const file = await programOf("live-data", service.port);
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
  assertNoErrors();
});

test("the page of the guide says so when the service has no events", { skip }, async (t) => {
  const service = await startFor(t, { history: "none" });
  await service.create("topics", { title: "One", status: "open" });
  const { page, assertNoErrors } = await openPage(t);
  const file = await programOf("live-data", service.port);
  await page.goto(await serveFile(t, () => file));
  await page.getByText("These topics stay as they are: the service keeps no history").waitFor();
  assert.deepEqual(await rowsOf(page), ["One"]);
  assertNoErrors();
});

test("the page of the guide works with the configuration of the guide, and says what to do without it", {
  skip,
}, async (t) => {
  let file = "";
  const address = await serveFile(t, () => file);
  const { text: shown } = blockLike(readPage("docs/how-to/live-data.md"), /defineConfig/);
  assert.ok(shown.includes("http://localhost:8000"));
  const { page } = await openPage(t);
  const startFor = async (origin: string) => {
    const config = shown.replace("http://localhost:8000", origin);
    const cwd = makeFolder({ "holdfast.config.ts": config });
    await mkdir(join(cwd, "node_modules"));
    await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
    const { stdout } = await run(t, ["keys", "create", "--name", "ada"], { cwd });
    const service = await serve(t, [], { cwd });
    file = await programOf("live-data", Number(new URL(service.origin).port));
    await page.goto(address);
    return (title: string) =>
      fetch(`${service.base}/topics`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${stdout.trim()}` },
        body: JSON.stringify({ title, status: "open" }),
      });
  };
  await startFor("http://localhost:8001");
  await page.getByText("The topics cannot be read").waitFor();
  const create = await startFor(new URL(address).origin);
  await until("the page shows the new topic", async () => {
    assert.equal((await create("One")).status, 201);
    return (await rowsOf(page)).includes("One");
  });
});

async function openPage(t: TestContext): Promise<{ page: Page; assertNoErrors(): void }> {
  const page = await browser.newPage();
  t.after(() => page.close());
  page.setDefaultTimeout(120_000);
  const seen = watchPage(page);
  const assertNoErrors = () =>
    assert.deepEqual(
      seen.errors.filter((error) => !error.includes("favicon")),
      [],
    );
  return { page, assertNoErrors };
}

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
