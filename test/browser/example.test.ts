/** The example of a page with the typed client, built as it is published, in a real browser. Takes about ten seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { folder } from "../commands/cli.ts";
import { startService } from "../http/service.ts";
import { openBrowser, patienceMs, watchPage } from "./browser.ts";

/** Serves the page, and the client as `npm run build` makes it, at an origin of its own. */
async function startPages(t: TestContext): Promise<string> {
  const built = await folder(t);
  const args = ["-p", "client/tsconfig.build.json", "--outDir", built];
  await promisify(execFile)(resolve("node_modules/.bin/tsc"), args);
  const server = createServer(async ({ url = "/" }, response) => {
    const path = new URL(url, "http://localhost").pathname;
    const file =
      path === "/" ? "examples/browser/index.html" : join(built, path.replace("/holdfast-client/", ""));
    const type = path === "/" ? "text/html" : "text/javascript";
    const content = await readFile(file).catch(() => undefined);
    response.writeHead(content === undefined ? 404 : 200, { "content-type": type }).end(content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the page lists topics, adds one, and shows what the service has against another", async (t) => {
  const opened = await openBrowser();
  if ("why" in opened) return t.skip(opened.why);
  t.after(() => opened.browser.close());
  const title = { type: "string", maxLength: 10 };
  const service = await startService({
    collections: { topics: { schema: { type: "object", properties: { title } } } },
  });
  t.after(() => service.stop());
  await service.create("topics", { title: "Winter" });
  const pages = await startPages(t);

  const page = await opened.browser.newPage();
  page.setDefaultTimeout(patienceMs);
  const seen = watchPage(page);
  await page.goto(`${pages}/?api=${encodeURIComponent(`${service.origin}/api/v1`)}`);
  const titles = page.locator("li");
  await titles.nth(0).waitFor();
  assert.deepEqual(await titles.allInnerTexts(), ["Winter"]);
  const add = async (text: string) => {
    await page.fill("input", text);
    await page.click("button");
  };
  await add("Spring");
  await titles.nth(1).waitFor();
  assert.deepEqual(await titles.allInnerTexts(), ["Spring", "Winter"]);
  const errors = seen.errors.filter((error) => !error.includes("favicon") && !error.includes("404"));
  assert.deepEqual(errors, []);
  await add("Much too long");
  await page.locator("[role=alert]:not(:empty)").waitFor();
  assert.match(await page.locator("[role=alert]").innerText(), /at most 10 characters/);
});
