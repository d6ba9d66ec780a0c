/** The console and its service: a list that is refused, callers, and the pages of administrators. Takes about ten seconds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../access/issuer.ts";
import { machineTime } from "../../until.ts";
import {
  collections,
  field,
  inConsole,
  panelOf,
  pressInDialog,
  rowCount,
  rowOf,
  signIn,
  skip,
  startShop,
} from "./console-page.ts";

/** The page about health reads metrics, which these services do not have. */
const withoutMetrics = [404];

const pair = createPair("EdDSA");

const { references: _, ...articles } = collections.articles;

/** More text than any machine searches in a millisecond. */
const notes = Array.from({ length: 300 }, (_, n) => ({
  id: `n${n}`,
  views: n,
  text: "A long text. ".repeat(3_000),
}));

/** A token for a caller with roles. */
function tokenFor(sub: string, roles: readonly string[]): string {
  return tokenOf(pair, claimsAt(machineTime(), { sub, roles }));
}

describe("the console and its service", { skip }, () => {
  test("a list that is refused as too expensive shows the index that would serve it", async (t) => {
    const service = await startShop({ limits: { queryMs: 1 }, collections: { notes: {} }, seeds: { notes } });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
      const copied = await page.evaluate<string>("navigator.clipboard.readText()");
      const { indexes } = JSON.parse(`{${copied}}`) as { indexes: string[] };
      assert.deepEqual(indexes, ["-views"]);
      const faster = await startShop({ collections: { notes: { indexes } }, seeds: { notes } });
      t.after(() => faster.stop());
      const { status, json } = await faster.send({ path: "/api/v1/notes?sort=-views&limit=1&fields=views" });
      assert.equal(status, 200);
      assert.deepEqual(json, [{ id: "n299", views: 299 }]);
    };
    await inConsole(service, "#/notes?text:contains=none&sort=-views", steps, { refused: [503] });
  });

  test("an open service says what is wrong with the first resource, and takes more collections", async (t) => {
    const service = await startShop({ collections: {}, openCollections: true, seeds: {} });
    t.after(() => service.stop());
    await inConsole(service, "#/", async (page) => {
      const body = page.getByLabel("Attributes, as JSON");
      await body.fill('{"title": Hello}');
      await page.getByText("Hello is not a value. Put texts in quotes.").waitFor();
      await body.fill('{"title": "Hello"}');
      await page.getByRole("textbox", { name: "Collection" }).fill("my topics");
      await page.getByText("begins with a letter").waitFor();
      assert.equal(await page.getByRole("button", { name: "Create" }).isDisabled(), true);
      await page.getByRole("textbox", { name: "Collection" }).fill("topics");
      await page.getByRole("button", { name: "Create" }).click();
      await rowCount(page, 1);
      await page.getByRole("button", { name: "New collection" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox", { name: "Collection" }).fill("authors");
      await dialog.getByRole("button", { name: "Create" }).dblclick();
      await page.getByRole("navigation").getByRole("link", { name: "authors" }).waitFor();
      await dialog.waitFor({ state: "detached" });
      const { headers } = await service.send({ path: "/api/v1/authors?count=exact" });
      assert.equal(headers["x-total-count"], "1");
    });
  });

  test("a page whose scripts have not arrived says that it is loading", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    await inConsole(service, "docs", async (page) => {
      for (const [path, scripts] of [
        ["docs", "**/standalone.js"],
        ["", "**/_console/*.js"],
      ] as const) {
        await page.route(scripts, () => {}); // the response never comes
        await page.goto(`${service.origin}/${path}`, { waitUntil: "commit" });
        await page.getByText("is loading …").waitFor();
      }
    });
  });

  test("after an update of the service, the page asks to be reloaded", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      const button = page.getByRole("button", { name: "API", exact: true });
      await page.route(/api-dialog/, (route) => route.fulfill({ status: 404 }));
      await button.click();
      await updated(page).waitFor();
      await page.unroute(/api-dialog/);
      await Promise.all([
        page.waitForEvent("load"),
        updated(page).getByRole("button", { name: "Reload" }).click(),
      ]);
      await button.click();
      await page.getByRole("dialog").getByText("The request for what is on the screen").waitFor();
    };
    await inConsole(service, "#/articles", steps, { refused: [404] });
  });

  test("after an update of the service, unsaved changes can be saved before the page is reloaded", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await field(page, "title").fill("Not saved yet");
      await page.route(/json-editor/, (route) => route.fulfill({ status: 404 }));
      await panelOf(page).getByRole("tab", { name: "JSON" }).click();
      await updated(page).waitFor();
      await panelOf(page).getByRole("button", { name: "Save changes" }).click();
      await panelOf(page).getByText("Saved as version 2").waitFor();
      const { json } = await service.send({ path: "/api/v1/articles/a000" });
      assert.equal((json as { title: string }).title, "Not saved yet");
    };
    await inConsole(service, "#/articles/a000", steps, { refused: [404] });
  });

  test("a part that fails shows its error, and the rest of the page stays", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    await inConsole(service, "#/articles", async (page) => {
      const body = 'export function ApiDialog() { throw new Error("Made by a test"); }';
      await page.route(/api-dialog/, (route) => route.fulfill({ contentType: "text/javascript", body }));
      await page.evaluate("console.error = () => {}"); // else the expected error fails the test
      await page.getByRole("button", { name: "API", exact: true }).click();
      const message = page.getByRole("alert").filter({ hasText: "Something went wrong in the console." });
      await message.getByText("Made by a test").waitFor();
      await message.getByRole("button", { name: "Reload" }).waitFor();
      await rowCount(page, 12);
    });
  });

  test("after a sign-out, nothing of the former caller is left", async (t) => {
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "ops" }] },
      collections: {
        secrets: { access: { read: { role: "ops" }, write: { role: "ops" } } },
        articles: { references: { source: "secrets" }, access: { read: "public", write: { role: "ops" } } },
      },
      seeds: {
        secrets: [{ id: "one", title: "The plan" }],
        articles: [{ id: "a", title: "Public", source: "one" }],
      },
    });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await signIn(page, tokenFor("ada", ["ops"]));
      await page
        .getByRole("link", { name: /secrets/ })
        .first()
        .click();
      await page.getByText("The plan", { exact: true }).waitFor();
      const toArticles = page.getByRole("link", { name: /articles/ }).first();
      await toArticles.click();
      await rowOf(page, "Public").getByText("The plan", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Configuration" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await toArticles.waitFor();
      await page
        .getByRole("link", { name: /secrets/ })
        .first()
        .waitFor({ state: "detached" });
      await toArticles.click();
      await rowOf(page, "Public").getByText("one", { exact: true }).waitFor();
      assert.equal(await page.getByText("The plan").count(), 0);
      assert.equal(await page.getByRole("link", { name: "Configuration" }).count(), 0);
      const kept = await page.evaluate<string>("JSON.stringify({ ...sessionStorage, ...localStorage })");
      assert.doesNotMatch(kept, /eyJ|The plan|secrets/);
    };
    await inConsole(service, "#/", steps, { refused: [401, 404] });
  });

  test("a caller without a credential sees how to sign in, and gets no advice that does not apply", async (t) => {
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "ops" }] },
      collections: { articles: { ...articles, access: { read: "public", write: "authenticated" } } },
      seeds: {},
    });
    t.after(() => service.stop());
    for (const width of [1_440, 390]) {
      const steps = async (page: Page) => {
        const buttons = page.getByRole("button", { name: "Sign in", exact: true });
        const home = page.getByText("All collections are empty.");
        await home.waitFor();
        assert.equal(await home.innerText(), "All collections are empty.");
        assert.equal(await buttons.innerText(), "Sign in");
        await page.goto(`${service.origin}/#/articles`);
        await page.getByText("You cannot create resources in this collection.").waitFor();
        await page.getByText("Sign in to create one.").waitFor();
        assert.equal(await buttons.count(), 2);
        await page.locator(".empty").getByRole("button").click();
        await page.getByLabel("API key or token", { exact: true }).fill(tokenFor("eve", []));
        await buttons.click();
        await page.getByText("Create the first one here").waitFor();
        assert.equal(await buttons.count(), 0);
        await page.goto(`${service.origin}/#/`);
        await home.waitFor();
        assert.equal(await home.innerText(), "All collections are empty. Open one to create a resource.");
      };
      await inConsole(service, "#/", steps, { width, refused: [401, 404] });
    }
  });

  test("all verdicts are on the screen at once, and the rules of one open on demand", async (t) => {
    const rule = (n: number) => ({ role: `role-${n}`, where: { owner: `owner-${n}`, status: "published" } });
    const rules = [1, 2, 3, 4].map(rule);
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "ops" }] },
      collections: { articles: { access: { read: rules, write: rules } } },
      seeds: { articles: [{ id: "one", title: "First" }] },
    });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await page.getByLabel("API key or token", { exact: true }).fill(tokenFor("ada", ["ops"]));
      await page.getByRole("button", { name: "Sign in" }).click();
      const verdicts = panelOf(page).locator(".why");
      await verdicts.getByLabel("Not allowed", { exact: true }).nth(4).waitFor();
      const { height } = page.viewportSize() ?? { height: 0 };
      const { y = height, height: own = 0 } = (await verdicts.nth(4).boundingBox()) ?? {};
      assert.ok(y + own <= height, `the last verdict ends at ${y + own}`);
      const details = verdicts.first().locator(".rule").first();
      assert.equal(await details.isVisible(), false);
      await verdicts.first().locator("summary").click();
      await details.waitFor();
    };
    await inConsole(service, "#/articles/one/access", steps, { refused: [401, 403, 404] });
  });

  test("a caller who is no administrator reads about themselves", async (t) => {
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "ops" }] },
      collections: { articles: { access: { read: "authenticated", write: { role: "ops" } } } },
      seeds: { articles: [{ id: "one", title: "First" }] },
    });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await page.getByLabel("API key or token", { exact: true }).fill(tokenFor("eve", []));
      await page.getByRole("button", { name: "Sign in" }).click();
      await panelOf(page).getByLabel("Not allowed", { exact: true }).nth(2).waitFor();
      const title = panelOf(page).getByRole("heading", { name: "What you can do with this resource" });
      await title.waitFor();
      const reasons = await panelOf(page).locator(".verdict .reason").allInnerTexts();
      const refused = "Your credential does not allow this. An administrator can see which rule says so.";
      assert.equal(reasons.filter((each) => each === refused).length, 3);
      assert.doesNotMatch(await panelOf(page).innerText(), /the caller/i);
    };
    await inConsole(service, "#/articles/one/access", steps, { refused: [401, 403, 404] });
  });

  test("a draft outlives an expired token, but not the sign-in of another caller", async (t) => {
    let aheadMs = 0;
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]) },
      now: () => machineTime() + aheadMs,
      collections: { articles: { ...articles, access: { read: "authenticated", write: "authenticated" } } },
      seeds: { articles: [{ id: "one", title: "First" }] },
    });
    t.after(() => service.stop());
    const signIn = async (page: Page, sub: string) => {
      const token = tokenOf(pair, claimsAt(machineTime() + aheadMs, { sub }));
      await page.getByLabel("API key or token", { exact: true }).fill(token);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    const saveTooLate = async (page: Page, button: string) => {
      aheadMs += 24 * 3_600_000;
      const refused = page.getByText("The service no longer accepts your credential.").waitFor();
      // The live list can find out first. Then the page asks for a credential before the button is pressed.
      const pressed = panelOf(page).getByRole("button", { name: button }).click();
      await Promise.race([refused, pressed]);
      pressed.catch(() => {});
      await refused;
    };
    const steps = async (page: Page) => {
      await signIn(page, "ada");
      await field(page, "title").fill("Not lost");
      await saveTooLate(page, "Save changes");
      await signIn(page, "ada");
      await panelOf(page).getByText("Version 1").waitFor();
      assert.equal(await field(page, "title").inputValue(), "Not lost");
      await panelOf(page).getByRole("button", { name: "Save changes" }).click();
      await panelOf(page).getByText("Saved as version 2").waitFor();
      await page.goto(`${service.origin}/#/articles/_new`);
      await field(page, "title").fill("New and not lost");
      await saveTooLate(page, "Create");
      await signIn(page, "ada");
      await panelOf(page).getByRole("button", { name: "Create" }).waitFor();
      assert.equal(await field(page, "title").inputValue(), "New and not lost");
      await saveTooLate(page, "Create");
      await signIn(page, "eve");
      await panelOf(page).getByRole("button", { name: "Create" }).waitFor();
      assert.equal(await field(page, "title").inputValue(), "");
    };
    // Without a credential, the page can ask for the configuration before it asks for a credential.
    await inConsole(service, "#/articles/one", steps, { refused: [401, 404] });
  });

  test("administrators create a webhook, whose secret is shown once, and read the configuration", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await page.getByRole("button", { name: "New webhook" }).first().click();
      await page.getByRole("dialog").getByLabel("URL").fill("http://127.0.0.1:9/hook");
      await page.getByRole("dialog").getByLabel("Collections").fill("articles");
      await page.keyboard.press("Enter");
      await pressInDialog(page, "Create");
      const secret = page.getByRole("dialog").getByText(/^whsec_/);
      await secret.waitFor();
      await pressInDialog(page, "I have saved it");
      await page.getByText("http://127.0.0.1:9/hook").waitFor();
      assert.equal(await page.getByText(/whsec_/).count(), 0);
      await page.goto(`${service.origin}/#/_configuration`);
      await page.getByText("port", { exact: true }).waitFor();
      await page.goto(`${service.origin}/#/_health`);
      await page.getByText("Reads and writes work.").waitFor();
      await page
        .locator(".size-bytes", { hasText: /^about \d+ kB$/ })
        .first()
        .waitFor();
    };
    await inConsole(service, "#/_webhooks", steps, { refused: withoutMetrics });
  });
});

/** The message that asks to reload the page. */
function updated(page: Page): Locator {
  return page.getByRole("alert").filter({ hasText: "The console was updated. Reload the page." });
}
