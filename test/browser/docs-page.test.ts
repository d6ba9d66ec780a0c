/** The page at /docs in a real browser. Takes about twenty seconds; the first time on a machine, the browser is unpacked too. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { type Service, type ServiceOptions, startService } from "../http/service.ts";
import { openBrowser, patienceMs, picturesFolder, watchPage } from "./browser.ts";

const pair = createPair("EdDSA");
const token = tokenOf(pair, claimsAt(Date.now(), { sub: "ada" }));

/** What drives the browser runs in the thread of the service. */
const probe = { standstillMs: Number.POSITIVE_INFINITY };

const text = { type: "string" };

const declared: ServiceOptions = {
  probe,
  prefix: "/shop/v2",
  auth: { keys: false, jwt: settingsFor([pair]) },
  collections: {
    articles: {
      access: { read: "public", write: "authenticated" },
      schema: {
        type: "object",
        required: ["title"],
        properties: { title: text, views: { type: "integer" } },
      },
    },
    authors: {},
  },
};

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

/** Opens an operation, as a reader does, and sends a request with it; gives the status of the answer. */
async function tryOut(
  page: Page,
  operation: string,
  fill: (operation: string) => Promise<void> = async () => {},
) {
  const block = `[id$="-${operation}"]`;
  await page.click(`${block} .opblock-summary-control`);
  await fill(block);
  await page.click(`${block} button.execute`);
  const status = page.locator(`${block} .live-responses-table .response-col_status`).nth(1);
  return (await status.innerText({ timeout: patienceMs })).trim().slice(0, 3);
}

describe("the page at /docs, with auth and under another prefix", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startService(declared);
  });
  after(() => service.stop());

  test("shows the collections, and creates and reads with a token", async () => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 1400 } });
    page.setDefaultTimeout(patienceMs);
    const seen = watchPage(page);
    await page.goto(`${service.origin}/docs`);
    await page.waitForSelector('[id$="-createArticle"]');
    const headings = await page.locator(".opblock-tag").all();
    const tags = await Promise.all(headings.map((each) => each.getAttribute("data-tag")));
    assert.deepEqual(tags, ["articles", "authors", "Service"]);
    await page.screenshot({ path: join(picturesFolder, "docs.png") });
    await page.click("button.authorize");
    await page.fill(".auth-container input", token);
    await page.click(".auth-btn-wrapper button.authorize");
    await page.click(".auth-btn-wrapper button.btn-done");
    const created = await tryOut(page, "createArticle", (block) =>
      page.fill(`${block} textarea.body-param__text`, '{"title":"From the browser"}'),
    );
    assert.equal(created, "201");
    assert.equal(await tryOut(page, "listArticles"), "200");
    await page.screenshot({ path: join(picturesFolder, "docs-answer.png") });
    const listed = await service.send({ path: "/shop/v2/articles" });
    assert.equal((listed.json as { title: string }[])[0]?.title, "From the browser");
    assert.deepEqual(seen.errors, []);
    const elsewhere = seen.requests.filter(
      (url) => !url.startsWith(`${service.origin}/`) && !url.startsWith("data:"),
    );
    assert.deepEqual(elsewhere, []);
    assert.ok(seen.requests.some((url) => url.startsWith(`${service.origin}/shop/v2/articles`)));
    await page.close();
  });
});

describe("the page at /docs of an open service", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startService({ probe });
  });
  after(() => service.stop());

  test("creates in any collection, by another name of this machine", async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    const seen = watchPage(page);
    const origin = `http://localhost:${service.port}`;
    await page.goto(`${origin}/docs`);
    await page.waitForSelector('[id$="-createResource"]');
    assert.equal(await page.locator("button.authorize").count(), 0);
    const created = await tryOut(page, "createResource", async (block) => {
      await page.fill(`${block} tr[data-param-name="collection"] input`, "topics");
      await page.fill(`${block} textarea.body-param__text`, '{"title":"Hello"}');
    });
    assert.equal(created, "201");
    assert.deepEqual(seen.errors, []);
    assert.deepEqual(
      seen.requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("data:")),
      [],
    );
    await page.close();
  });

  test("lets a page load nothing from elsewhere, nor run what stands in the page", async (t) => {
    const other = await startService({ probe });
    t.after(() => other.stop());
    const page = await browser.newPage();
    page.setDefaultTimeout(patienceMs);
    await page.goto(`${service.origin}/docs`);
    const ran = await page.evaluate(`(async () => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
      const isFetched = await fetch("${other.origin}/livez").then(() => true, () => false);
      return [window.ran === true, isFetched];
    })()`);
    assert.deepEqual(ran, [false, false]);
    await page.close();
  });
});
