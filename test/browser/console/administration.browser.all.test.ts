/** What administrators do in the console: the first key, API keys, and webhooks. Takes about fifteen seconds. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { administrationTexts, firstKeyTexts } from "../../../console/src/texts.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../access/issuer.ts";
import { testClock } from "../../capabilities/webhooks/http/clock.ts";
import { accept, startReceiver } from "../../capabilities/webhooks/http/receiver.ts";
import { configuration } from "../../commands/cli.ts";
import { atTerminal, skip as noTerminal } from "../../commands/terminal.ts";
import { makeFolder } from "../../folder.ts";
import { machineTime, until } from "../../until.ts";
import { addressEnds, inConsole, pressInDialog, signIn, skip, startShop } from "./console-page.ts";

const { keys, saved, webhooks } = administrationTexts;
const keyText = /^hf_[0-9a-z]{8}_[0-9a-z]{50}$/;
const isBuilt = existsSync(resolve("dist/console/index.html"));

/** Readers read articles, and `ops` administers. */
const access = { read: { role: "reader" }, write: { role: "reader" } } as const;

describe("the first key", { skip: skip || noTerminal || (!isBuilt && "needs the built console") }, () => {
  test("the link gives one key, which signs in, and works once", async (t) => {
    const auth = { keys: true, administrators: { role: "ops" } };
    const cwd = makeFolder(configuration({ articles: { access } }, { auth }));
    const terminal = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, origin = "", fragment = ""] = await terminal.shows(/first key +(http:\S+?)\/(#first-key=\S+)/);
    let key = "";
    await inConsole({ origin }, fragment, async (page) => {
      const create = page.getByRole("button", { name: firstKeyTexts.create });
      await create.waitFor();
      await addressEnds(page, "#/");
      await create.click();
      key = await secretOf(page);
      assert.match(key, keyText);
      await page
        .getByText(
          firstKeyTexts.rights({ subject: "first-key", roles: ["ops", "reader"], administers: true }),
        )
        .waitFor();
      await page.getByRole("button", { name: firstKeyTexts.signIn }).click();
      await page.getByRole("link", { name: "API keys" }).click();
      await page.getByRole("cell", { name: "first-key", exact: true }).first().waitFor();
      assert.ok(!(await page.content()).includes(key), "the page shows the key once");
      await page.reload();
      await page.getByRole("cell", { name: "first-key", exact: true }).first().waitFor();
    });
    assert.equal(await statusWith(origin, key), 200);
    const again = async (page: Page) => {
      await page.getByRole("button", { name: firstKeyTexts.create }).click();
      await page.getByRole("alert").getByText(firstKeyTexts.spent).waitFor();
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByLabel("API key or token", { exact: true }).waitFor();
    };
    await inConsole({ origin }, fragment, again, { refused: [401, 404] });
  });
});

describe("the pages of administrators", { skip }, () => {
  test("a key is shown once, works, and can be rotated and revoked", async (t) => {
    const pair = createPair("EdDSA");
    const service = await startShop({
      auth: { keys: true, jwt: settingsFor([pair]), administrators: [{ role: "ops" }], keyRoles: ["reader"] },
      collections: { articles: { access } },
      seeds: {},
    });
    t.after(() => service.stop());
    const status = (key: string) => statusWith(service.origin, key);
    const steps = async (page: Page) => {
      await signIn(page, tokenOf(pair, claimsAt(machineTime(), { sub: "olga", roles: ["ops"] })));
      await page.getByText("No API keys yet").waitFor();
      const row = page.getByRole("row").filter({ has: page.getByText("site", { exact: true }) });
      const dialog = page.getByRole("dialog");
      /** Reads the key of the open dialog, which only its button closes. After that, nothing shows the key. */
      const take = async (): Promise<string> => {
        const key = await secretOf(page);
        assert.match(key, keyText);
        await page.keyboard.press("Escape");
        await pressInDialog(page, saved);
        await dialog.waitFor({ state: "detached" });
        assert.ok(!(await page.content()).includes(key));
        return key;
      };
      const act = async (name: string) => {
        await row.getByRole("button", { name: administrationTexts.actionsOf("site") }).click();
        await page.getByRole("menuitem", { name }).click();
        await dialog.waitFor();
      };

      await page.getByRole("button", { name: keys.create }).click();
      await dialog.getByLabel(keys.columns.name, { exact: true }).fill("site");
      await dialog.getByRole("combobox", { name: keys.columns.roles }).click();
      await page.getByRole("option", { name: "reader" }).click();
      await page.keyboard.press("Escape");
      await pressInDialog(page, keys.doCreate);
      const first = await take();
      assert.equal(await status(first), 200);
      await row.getByText("reader", { exact: true }).waitFor();
      await row.getByText(first.slice(0, 11)).waitFor();

      await act(keys.rotate);
      await dialog.getByRole("combobox", { name: keys.overlap }).click();
      await page.getByRole("option", { name: keys.overlaps["0"] }).click();
      await pressInDialog(page, keys.rotate);
      const second = await take();
      await until("the service refuses the old key", async () => (await status(first)) === 401);
      assert.equal(await status(second), 200);
      await row.getByText(second.slice(0, 11)).waitFor();
      assert.equal(await row.count(), 1);

      await act(keys.revoke);
      assert.equal(await status(second), 200, "the dialog only asks");
      await pressInDialog(page, keys.revoke);
      await page.getByText(keys.noneValid).waitFor();
      await until("the service refuses the revoked key", async () => (await status(second)) === 401);
      await page.getByText(keys.all, { exact: true }).click();
      await row.first().getByText(keys.states.revoked).waitFor();
    };
    await inConsole(service, "#/_keys", steps, { refused: [401, 404] });
  });

  test("a webhook gets a test event, shows a failed delivery, and sends it again", async (t) => {
    // The clock stands still, so the service sends nothing again by itself.
    const clock = testClock();
    const service = await startShop({ now: clock.now, webhookParts: { clock } });
    t.after(() => service.stop());
    const receiver = await startReceiver(
      (_, response) => void response.writeHead(503).end("Closed for lunch"),
    );
    t.after(() => receiver.close());
    await inConsole(service, "#/_webhooks", async (page) => {
      const dialog = page.getByRole("dialog");
      await page.getByRole("button", { name: webhooks.create }).click();
      await dialog.getByLabel(webhooks.url).fill(receiver.url);
      await dialog.getByLabel(webhooks.collections).fill("articles");
      await page.keyboard.press("Enter");
      await pressInDialog(page, webhooks.doCreate);
      receiver.secret = await secretOf(page);
      await pressInDialog(page, saved);

      const card = page.locator("li.webhook");
      await card.getByRole("button", { name: webhooks.test, exact: true }).click();
      await card.getByText(webhooks.testFailed(503)).waitFor();
      await card.getByText("Closed for lunch").waitFor();

      await service.create("articles", { title: "The Sea" });
      await card.getByRole("button", { name: receiver.url }).first().click();
      const delivery = card.getByRole("row").filter({ hasText: "created" });
      await delivery.getByText("503").waitFor();
      receiver.respond = accept;
      await delivery.getByRole("button", { name: webhooks.sendAgain }).click();
      await delivery.getByText("204").waitFor();
      await delivery.getByRole("button", { name: webhooks.sendAgain }).waitFor({ state: "detached" });
      const created = receiver.received.filter(({ event }) => event.type.endsWith("created"));
      assert.deepEqual(
        created.map(({ event }) => event.data.title),
        ["The Sea", "The Sea"],
      );
      assert.equal(created[0]?.id, created[1]?.id);
    });
  });
});

/** The status of a list that only the roles of a key allow. */
async function statusWith(origin: string, key: string): Promise<number> {
  const response = await fetch(`${origin}/api/v1/articles`, { headers: { Authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return response.status;
}

/** The secret that the page shows. */
function secretOf(page: Page): Promise<string> {
  return page.locator(".secret-text code").innerText();
}
