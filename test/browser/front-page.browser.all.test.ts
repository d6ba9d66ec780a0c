/** The pages outside the prefix in a real browser. Takes about ten seconds. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { type Service, startService } from "../http/service.ts";
import { openBrowser, picturesFolder, type Seen, watchPage } from "./browser.ts";

/** What drives the browser runs in the thread of the service. */

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

const screens = [
  { name: "wide-light", viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  { name: "wide-dark", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  { name: "narrow-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "narrow-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

/** Opens a page for one test. */
async function open(t: { after(end: () => Promise<void>): void }, options: object = {}) {
  const page = await browser.newPage(options);
  t.after(() => page.close());
  page.setDefaultTimeout(120_000); // a browser beside other work takes its time
  return { page, seen: watchPage(page) };
}

/** A browser notes a page with status 404 on its console; nothing else may be there. */
function faultsIn({ errors }: Seen): string[] {
  return errors.filter((error) => !error.includes("status of 404"));
}

/** Whether something is wider than the screen. */
function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
}

/** Waits until the page at /docs shows a collection of the service. */
async function waitForReference(page: Page): Promise<void> {
  await page.waitForURL((url) => url.pathname === "/docs");
  await page.getByText("topics", { exact: true }).first().waitFor();
}

describe("the page at the root", { skip }, () => {
  let service: Service;
  before(async () => {
    const names = ["articles", "authors", "topics", `a${"long-name".repeat(6)}`];
    service = await startService({ collections: Object.fromEntries(names.map((name) => [name, {}])) });
  });
  after(() => service.stop());

  for (const { name, ...options } of screens)
    test(`is styled, fits, and loads nothing: ${name}`, async (t) => {
      const { page, seen } = await open(t, options);
      for (const [path, picture] of [
        ["/", "front"],
        [`/nowhere/${"long".repeat(60)}`, "absent"],
      ] as const) {
        seen.requests.length = 0;
        await page.goto(`${service.origin}${path}`);
        await page.screenshot({ path: join(picturesFolder, `${picture}-${name}.png`), fullPage: true });
        assert.equal(await isTooWide(page), false, path);
        const back = await page.evaluate("getComputedStyle(document.body).backgroundColor");
        assert.equal(back, options.colorScheme === "dark" ? "rgb(14, 20, 24)" : "rgb(245, 247, 248)");
        assert.deepEqual(
          seen.requests.filter((url) => !url.startsWith("data:")),
          [`${service.origin}${path}`],
        );
      }
      assert.deepEqual(faultsIn(seen), []);
    });

  test("links to the list and to a collection, and the page of an unknown path links back", async (t) => {
    const { page, seen } = await open(t);
    await page.goto(service.origin);
    await page.click("text=The list of collections");
    assert.equal(page.url(), `${service.origin}/api/v1`);
    assert.match(await page.innerText("body"), /"href":"\/api\/v1\/topics"/);
    await page.goBack();
    await page.click("text=topics");
    assert.equal(page.url(), `${service.origin}/api/v1/topics`);
    assert.equal(await page.innerText("body"), "[]");
    const answer = await page.goto(`${service.origin}/a/b/c`);
    assert.equal(answer?.status(), 404);
    assert.match(await page.innerText("main"), /Nothing exists at \/a\/b\/c\./);
    await page.click("text=Start page");
    assert.equal(page.url(), `${service.origin}/`);
    assert.deepEqual(faultsIn(seen), []);
  });

  test("links to /docs, and /docs/ redirects there", async (t) => {
    const { page } = await open(t);
    await page.goto(service.origin);
    await page.click("text=API reference");
    await waitForReference(page);
    await page.goto(`${service.origin}/docs/`);
    await waitForReference(page);
  });

  test("shows the text of its address, and runs no markup in it", async (t) => {
    const { page, seen } = await open(t);
    const paths = ["/<img/src=x/onerror=document.title='owned'>", "/<script>document.title='owned'</script>"];
    for (const path of paths) {
      const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n`;
      const [, html = ""] = (await service.raw(head)).split(/\r\n\r\n(.*)/s);
      await page.setContent(html);
      assert.equal(await page.innerText("main code >> nth=0"), path);
      assert.equal(await page.title(), "Page not found - Holdfast");
      assert.equal(await page.locator("main img, main script").count(), 0);
    }
    assert.deepEqual(faultsIn(seen), []);
  });
});
