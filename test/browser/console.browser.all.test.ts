/** The console in a real browser, as the service serves it. Takes about twenty seconds. */
import assert from "node:assert/strict";
import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { type Service, startService } from "../http/service.ts";
import { machineTime } from "../until.ts";
import { openBrowser, patienceMs, picturesFolder, watchPage } from "./browser.ts";

const pair = createPair("EdDSA");
const token = tokenOf(pair, claimsAt(machineTime(), { sub: "ada" }));

/** What drives the browser runs in the thread of the service. */

const text = { type: "string" };

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

/** Opens the console. It adds each refusal by the Content-Security-Policy to the errors of the page. */
async function open(url: string) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(patienceMs);
  const seen = watchPage(page);
  await page.goto(url);
  return { page, seen };
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel("API key or token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startService({
      console: true,
      prefix: "/shop/v2",
      auth: { keys: false, jwt: settingsFor([pair]) },
      collections: {
        articles: {
          access: { read: "authenticated", write: "authenticated" },
          schema: {
            type: "object",
            required: ["title"],
            properties: { title: text, due: { type: "string", format: "date" } },
          },
        },
      },
      seeds: {
        articles: [
          { id: "one", title: "The Sea" },
          { id: "two", title: "The Coast" },
        ],
      },
    });
  });
  after(() => service.stop());

  test("asks for a credential, lists, edits and deletes, and its policy refuses nothing", async () => {
    const { page, seen } = await open(`${service.origin}/#/articles`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    seen.errors.length = 0; // the browser logs the 401
    await signIn(page);
    await page.getByText("The Sea", { exact: true }).click();
    const panel = page.locator(".panel");
    await panel.getByRole("tab", { name: "JSON" }).click();
    const editor = panel.locator(".cm-editor");
    await editor.waitFor();
    assert.notEqual(await styleOf(page, ".cm-editor", "display"), "block", "the styles of the editor apply");
    await page.screenshot({ path: join(picturesFolder, "console-json.png") });
    for (const name of ["History", "Related", "Access", "Attributes"])
      await panel.getByRole("tab", { name }).click();
    await panel.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Deleted The Sea").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await panel.waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "API" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("A collection, a page or an id").fill("articles");
    await page.getByRole("button", { name: "articles" }).first().waitFor();
    await page.screenshot({ path: join(picturesFolder, "console-palette.png") });
    // The browser logs that the deleted resource was read in vain.
    assert.deepEqual(
      seen.errors.filter((error) => !error.includes("status of 404")),
      [],
    );
    assertOnlyOf(service.origin, seen.requests);
    await page.close();
  });

  test("works behind a proxy that adds a path", async (t) => {
    const proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? "").replace(/^\/team\/store/, "");
      const { method, headers } = incoming;
      const options = { port: service.port, path, method, headers };
      incoming.pipe(
        forward(options, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        }).on("error", () => outgoing.destroy()),
      );
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/team/store`;
    const { page, seen } = await open(`${origin}/#/articles`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    seen.errors.length = 0;
    await signIn(page);
    await page.getByText("The Coast", { exact: true }).waitFor();
    assert.deepEqual(seen.errors, []);
    assertOnlyOf(origin, seen.requests);
    await page.close();
  });

  test("runs no script and no style that is not its own", async () => {
    const { page, seen } = await open(`${service.origin}/#/articles`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const ran = await page.evaluate(`(() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      const style = document.createElement("style");
      style.textContent = "body { outline: 7px solid red }";
      document.body.append(script, style);
      return [window.ran === true, getComputedStyle(document.body).outlineWidth === "7px"];
    })()`);
    assert.deepEqual(ran, [false, false]);
    assert.ok(seen.errors.some((error) => error.includes("Content Security Policy")));
    await page.close();
  });
});

function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue(${JSON.stringify(property)})`,
  );
}

function assertOnlyOf(base: string, requests: readonly string[]): void {
  const elsewhere = requests.filter((url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${base}/`));
  assert.deepEqual(elsewhere, []);
}
