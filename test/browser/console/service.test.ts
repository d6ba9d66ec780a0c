/** The console and its service: a list that is refused, callers, and the pages of administrators. Takes about ten seconds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../access/issuer.ts";
import { inConsole, pressInDialog, signIn, skip, startShop } from "./console-page.ts";

/** The page about health reads metrics, which these services do not have. */
const withoutMetrics = [404];

const pair = createPair("EdDSA");

/** More text than any machine searches in a millisecond. */
const notes = Array.from({ length: 300 }, (_, n) => ({
  id: `n${n}`,
  views: n,
  text: "A long text. ".repeat(3_000),
}));

/** A token for a caller with roles. */
function tokenFor(sub: string, roles: readonly string[]): string {
  return tokenOf(pair, claimsAt(Date.now(), { sub, roles }));
}

describe("the console and its service", { skip }, () => {
  test("a list that is refused as too expensive shows the index that would serve it", async (t) => {
    const service = await startShop({ limits: { queryMs: 1 }, collections: { notes: {} }, seeds: { notes } });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await page.getByText('["-views"]').first().waitFor();
    };
    await inConsole(service, "#/notes?text:contains=none&sort=-views", steps, { refused: [503] });
  });

  test("after a sign-out, nothing of the former caller is left", async (t) => {
    const service = await startShop({
      auth: { keys: false, jwt: settingsFor([pair]), administrators: [{ role: "ops" }] },
      collections: {
        secrets: { access: { read: { role: "ops" }, write: { role: "ops" } } },
        articles: { access: { read: "public", write: { role: "ops" } } },
      },
      seeds: { secrets: [{ id: "one", title: "The plan" }], articles: [{ id: "a", title: "Public" }] },
    });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await signIn(page, tokenFor("ada", ["ops"]));
      await page
        .getByRole("link", { name: /secrets/ })
        .first()
        .click();
      await page.getByText("The plan", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Configuration" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page
        .getByRole("link", { name: /articles/ })
        .first()
        .waitFor();
      await page
        .getByRole("link", { name: /secrets/ })
        .first()
        .waitFor({ state: "detached" });
      assert.equal(await page.getByText("The plan").count(), 0);
      assert.equal(await page.getByRole("link", { name: "Configuration" }).count(), 0);
      const kept = await page.evaluate<string>("JSON.stringify({ ...sessionStorage, ...localStorage })");
      assert.doesNotMatch(kept, /eyJ|The plan|secrets/);
    };
    await inConsole(service, "#/", steps, { refused: [401, 404] });
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
    };
    await inConsole(service, "#/_webhooks", steps, { refused: withoutMetrics });
  });
});
