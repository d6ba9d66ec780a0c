/** The page at /docs in a real browser. Takes about twenty seconds; the first time on a machine, the browser is unpacked too. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { type Service, type ServiceOptions, startFor, startService } from "../http/service.ts";
import { machineTime } from "../until.ts";
import { openBrowser, patienceMs, picturesFolder, watchPage } from "./browser.ts";

const pair = createPair("EdDSA");
const token = tokenOf(pair, claimsAt(machineTime(), { sub: "ada" }));

/** What drives the browser runs in the thread of the service. */

const text = { type: "string" };

const declared: ServiceOptions = {
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
  info: { title: "The shop", version: "2.4.0" },
};

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

/** Widths of a desktop computer and of a telephone, each in both schemes. */
const screens = [1280, 390].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ viewport: { width, height: 900 }, colorScheme })),
);

const path = "/shop/v2/articles";

async function open(url: string, screen: (typeof screens)[number] = screens[0] ?? assert.fail()) {
  const page = await browser.newPage(screen);
  page.setDefaultTimeout(patienceMs);
  const seen = watchPage(page);
  await page.goto(url);
  await page.waitForSelector("h1");
  return { page, seen };
}

/** The section of an operation. It is rendered when it comes into view. */
function operation(page: Page, method: string, at: string) {
  return page.locator(`section[id$="/${method}${at}"]`);
}

/** Opens the dialog of an operation, sends its request unchanged, and returns the status of the response. */
async function send(page: Page, method: string, at: string): Promise<string> {
  await operation(page, method, at).locator(".show-api-client-button").click();
  const answered = page.waitForResponse((response) => response.request().method() === method);
  await page.locator('[role="dialog"]').getByRole("button", { name: "Send" }).first().click();
  const status = String((await answered).status());
  await page.locator(`[role="dialog"] a:has-text("${status}")`).first().waitFor();
  return status;
}

/** Whether the page is wider than the screen. */
function overflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
}

function assertOnlyOf(origin: string, seen: { requests: string[]; errors: string[] }): void {
  assert.deepEqual(seen.errors, []);
  const elsewhere = seen.requests.filter(
    (url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${origin}/`),
  );
  assert.deepEqual(elsewhere, []);
}

describe("the page at /docs, with auth and under another prefix", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startService(declared);
  });
  after(() => service.stop());

  for (const screen of screens)
    test(`fits a screen of ${screen.viewport.width} pixels, ${screen.colorScheme}`, async () => {
      const { page, seen } = await open(`${service.origin}/docs#tag/articles/GET${path}`, screen);
      await operation(page, "GET", path).locator("h3, h2").first().waitFor();
      assert.equal(await overflow(page), 0);
      const isDark = await page.evaluate("document.body.classList.contains('dark-mode')");
      assert.equal(isDark, screen.colorScheme === "dark");
      assert.equal(await page.getByText("Powered by").filter({ visible: true }).count(), 0);
      await page.screenshot({
        path: join(picturesFolder, `docs-${screen.viewport.width}-${screen.colorScheme}.png`),
      });
      assertOnlyOf(service.origin, seen);
      await page.close();
    });

  test("has the title and version of the configuration, and the collections", async () => {
    const { page } = await open(`${service.origin}/docs`);
    assert.equal(await page.title(), "The shop API reference");
    assert.equal((await page.locator("h1").first().innerText()).trim(), "The shop");
    assert.equal(await page.getByText("v2.4.0").count(), 1);
    for (const name of ["articles", "authors", "Service"])
      assert.ok((await page.getByText(name, { exact: true }).count()) > 0, name);
    await page.close();
  });

  test("says which operations need a credential, and hides aliases of parameters", async () => {
    const { page } = await open(`${service.origin}/docs#tag/articles/GET${path}`);
    const list = operation(page, "GET", path);
    await list.getByText("It is public.").waitFor();
    assert.equal(await list.getByText("Auth Required").count(), 0);
    const headings = await list
      .locator('[id*=".query."]')
      .evaluateAll((all) => all.map((each) => (each as unknown as { id: string }).id));
    const names = headings.map((id) => id.split(".query.")[1]);
    assert.ok(names.includes("title") && names.includes("limit"), names.join());
    assert.ok(!names.includes("_start") && !names.includes("attributes"), names.join());
    await page.goto(`${service.origin}/docs#tag/articles/POST${path}`);
    await operation(page, "POST", path).getByText("Auth Required").waitFor();
    await page.close();
  });

  test("creates with a token, and is refused without", async () => {
    const { page, seen } = await open(`${service.origin}/docs#tag/articles/POST${path}`);
    assert.equal(await send(page, "POST", path), "401");
    await page.keyboard.press("Escape");
    seen.errors.length = 0; // the browser logs the 401
    await page.locator('input[placeholder="Token"]').first().fill(token);
    assert.equal(await send(page, "POST", path), "201");
    await page.screenshot({ path: join(picturesFolder, "docs-answer.png") });
    const listed = await service.send({ path });
    assert.equal((listed.json as { title: string }[])[0]?.title, "The Sea Around Us");
    assertOnlyOf(service.origin, seen);
    await page.close();
  });

  test("sends QUERY with its example", async () => {
    const { page } = await open(`${service.origin}/docs#tag/articles/QUERY${path}`);
    assert.equal(await send(page, "QUERY", path), "200");
    await page.close();
  });

  test("has no fault that axe-core finds serious, but for those of Scalar", async () => {
    const { page } = await open(`${service.origin}/docs`);
    await page.evaluate(
      await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"),
    );
    const found = (await page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, first: nodes[0].html })))",
    )) as { id: string; impact: string; first: string }[];
    const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(
      serious.filter(({ id }) => !ofScalar.includes(id)),
      [],
    );
    await page.close();
  });
});

/** Rules that the elements of Scalar break in the version that is pinned. */
const ofScalar: readonly string[] = ["button-name"];

describe("the page at /docs of an open service", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  test("lists a collection by another name of this machine, without a credential", async () => {
    const origin = `http://localhost:${service.port}`;
    const at = "/api/v1/{collection}";
    const { page, seen } = await open(`${origin}/docs#tag/any-collection/GET${at}`);
    assert.equal(await page.locator('input[placeholder="Token"]').count(), 0);
    assert.equal(await send(page, "GET", at), "200");
    assert.ok(seen.requests.some((url) => url.startsWith(`${origin}/api/v1/topics`)));
    assertOnlyOf(origin, seen);
    await page.close();
  });

  test("lets a page load nothing from elsewhere, nor run what stands in the page", async (t) => {
    const other = await startFor(t);
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
