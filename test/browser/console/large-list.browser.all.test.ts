/** A collection with many resources of many attributes: the page holds what is in view and little more. Takes about ten seconds. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openCollection } from "../../../src/collection/collection.ts";
import { createUuidSource } from "../../../src/collection/uuids.ts";
import { openStore } from "../../../src/store/open.ts";
import { makeFolder } from "../../folder.ts";
import { type Service, startService } from "../../http/service.ts";
import { until } from "../../until.ts";
import { openBrowser, patienceMs, watchPage } from "../browser.ts";

/** How many resources there are. `npm run prove -- console` has 100,000. */
const count = Number(process.env.HOLDFAST_TEST_CONSOLE_RESOURCES ?? 10_000);

const attributes = 60;

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

/** Fills a new store. The service declares nothing, so that the columns come from the resources. */
async function fill(path: string): Promise<void> {
  const store = await openStore({ kind: "sqlite", path });
  const { name, idKind, schema, indexes, search } = openCollection("articles");
  await store.migrate([{ name, idKind, schema, indexes, search }]);
  const newId = createUuidSource();
  const load = await store.load(name);
  for (let n = 0; n < count; n += 1_000)
    await load.add(
      Array.from({ length: 1_000 }, (_, index) => {
        const id = newId();
        const values = Array.from({ length: attributes }, (_, place) => [
          `attribute${place}`,
          `${n + index}.${place}`,
        ]);
        return { id, text: JSON.stringify({ id, ...Object.fromEntries(values) }) };
      }),
    );
  await load.finish();
  await store.close();
}

/** The elements of the page, and the bytes of its heap without garbage. */
async function sizeOf(page: Page): Promise<{ elements: number; bytes: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  const elements = Number(await page.evaluate("document.querySelectorAll('*').length"));
  return { elements, bytes: usedSize };
}

describe(`a list of ${count.toLocaleString("en")} resources with ${attributes} attributes`, { skip }, () => {
  let folder: string;
  let service: Service;
  before(async () => {
    folder = makeFolder();
    await fill(join(folder, "large.db"));
    service = await startService({
      // What drives the browser runs in the thread of the service.
      console: true,
      store: { kind: "sqlite", path: join(folder, "large.db") },
    });
  });
  after(async () => {
    await service.stop();
  });

  test("is read page by page, and the page stays small", async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(patienceMs);
    const seen = watchPage(page);
    // All columns are shown, as if they were chosen in the menu. At first, the page shows eight.
    const names = ["id", ...Array.from({ length: attributes }, (_, n) => `attribute${n}`)];
    const choice = JSON.stringify(JSON.stringify({ names }));
    await page.addInitScript(`localStorage.setItem("holdfast.columns.articles", ${choice})`);
    await page.goto(`${service.origin}/#/articles`);
    await page.getByText("0.0", { exact: true }).waitFor();
    const first = await sizeOf(page);
    const pagesRead = () => seen.requests.filter((url) => url.includes("/articles?")).length;
    await page.mouse.move(900, 500);
    for (let reads = pagesRead(); reads < 25; reads = pagesRead()) {
      await until("the next page is read", async () => {
        await page.mouse.wheel(0, 20_000);
        return pagesRead() > reads;
      });
    }
    const scrolled = await sizeOf(page);
    assert.ok(
      scrolled.elements < 1.5 * first.elements,
      `${first.elements} elements, then ${scrolled.elements}`,
    );
    assert.ok(scrolled.elements < 5_000, `${scrolled.elements} elements`);
    assert.ok(scrolled.bytes - first.bytes < 60e6, `${first.bytes} bytes, then ${scrolled.bytes}`);
    const last = page.locator("td", { hasText: new RegExp(`\\.${attributes - 1}$`) });
    assert.equal(await last.count(), 0);
    await until("the last column is shown", async () => {
      await page.mouse.wheel(5_000, 0);
      return (await last.count()) > 0;
    });
    const wide = await sizeOf(page);
    assert.ok(wide.elements < 5_000, `${wide.elements} elements`);
    assert.deepEqual(seen.errors, []);
    await page.close();
  });
});
