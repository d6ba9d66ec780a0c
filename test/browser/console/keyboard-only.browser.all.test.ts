/** Whole tasks by keyboard alone: no test of this file uses the mouse. After each dialog, the focus is somewhere. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { administrationTexts, listTexts, signInTexts, texts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import {
  addressEnds,
  changeAs,
  columnBegins,
  headings,
  inConsole,
  panelOf,
  rowCount,
  skip,
  startShop,
  titleAt,
} from "./console-page.ts";
import { choose, enter, focusOf, notLost, tabTo } from "./focus.ts";
import { type House, openHouse } from "./house.ts";

const { keys, saved } = administrationTexts;

/** Waits until no dialog is open. A dialog that closes still takes keys. */
async function closed(page: Page, what: string): Promise<void> {
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await notLost(page, `after ${what}`);
}

describe("a list by keyboard alone", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop();
  });
  after(() => service?.stop());

  test("a filter is added and removed", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await rowCount(page, 12);
      await enter(page, texts.addFilter);
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await until("the focus is in the form", async () => (await focusOf(page)).isInDialog);
      await tabTo(page, ({ label }) => label === listTexts.attribute);
      await choose(page, "views");
      await tabTo(page, ({ label }) => label === listTexts.operator);
      await choose(page, texts.operators.lte);
      await tabTo(page, ({ label }) => label === listTexts.value);
      await page.keyboard.type("3");
      await page.keyboard.press("Enter");
      await rowCount(page, 3);
      await addressEnds(page, "views:lte=3&sort=title");
      await closed(page, "the filter is applied");
      await enter(page, listTexts.removeFilter("views"));
      await rowCount(page, 12);
      await notLost(page, "after the filter is removed");
    });
  });

  test("the order of rows and columns is chosen", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 12);
      await enter(page, "views");
      await addressEnds(page, "?sort=views");
      await page.keyboard.press("Enter");
      await addressEnds(page, "?sort=-views");
      await columnBegins(page, "title", [titleAt(0), titleAt(1)]);

      const before = await headings(page);
      const at = before.indexOf("status");
      await enter(page, texts.columns);
      await until("the focus is in the menu", async () => (await focusOf(page)).isInDialog);
      await tabTo(page, ({ label }) => label === "views");
      await page.keyboard.press("Space");
      await until("the column is gone", async () => !(await headings(page)).includes("views"));
      await until("the focus stays at the column", async () => (await focusOf(page)).label === "views");
      for (let n = at; n > 0; n--) {
        await enter(page, listTexts.moveUp("status"));
        await until("the column moves", async () => (await headings(page)).indexOf("status") === n - 1);
      }
      assert.equal((await focusOf(page)).label, listTexts.moveUp("status"), "also where it cannot move on");
      await page.keyboard.press("Escape");
      await closed(page, "the menu of columns");
      assert.equal((await focusOf(page)).label, texts.columns);
      await tabTo(page, ({ label }) => label === "status");
      await page.keyboard.press("Alt+ArrowRight");
      await until("the heading moves", async () => (await headings(page))[1] === "status");
    });
  });

  test("a range is selected and changed after a dry run", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await columnBegins(page, "title", [titleAt(0)]);
      await tabTo(page, ({ role }) => role === "grid");
      await page.keyboard.press("Home");
      await page.keyboard.press("x");
      await page.getByRole("toolbar", { name: texts.selected(1) }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Shift+X");
      await page.getByRole("toolbar", { name: texts.selected(3) }).waitFor();
      await enter(page, texts.changeAttribute);
      await until("the focus is in the dialog", async () => (await focusOf(page)).isInDialog);
      await tabTo(page, ({ label }) => label === listTexts.attribute);
      await choose(page, "status");
      await tabTo(page, ({ label }) => label === listTexts.value);
      await choose(page, "published");
      await enter(page, listTexts.check);
      await page.getByText(listTexts.wouldChange(2, 3)).waitFor();
      await columnBegins(page, "status", ["draft", "published", "draft"]);
      await enter(page, listTexts.doChange(2));
      await columnBegins(page, "status", ["published", "published", "published"]);
      await closed(page, "the change");
    });
  });

  test("a file is imported, and the list exported", async () => {
    const buffer = Buffer.from("title,status\nThe Sea,draft\n,draft\n");
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 12);
      await enter(page, texts.importFile);
      await until("the focus is in the dialog", async () => (await focusOf(page)).isInDialog);
      const chooser = page.waitForEvent("filechooser");
      await enter(page, listTexts.chooseFile);
      await (await chooser).setFiles({ name: "two.csv", mimeType: "text/csv", buffer });
      await page.getByText("line 3", { exact: true }).waitFor();
      await until("the focus is still in the dialog", async () => (await focusOf(page)).isInDialog);
      await enter(page, listTexts.doImport(1, true));
      await rowCount(page, 13);
      await closed(page, "the import");

      await enter(page, texts.exportList);
      await until("the focus is in the dialog", async () => (await focusOf(page)).isInDialog);
      const download = page.waitForEvent("download");
      await enter(page, listTexts.exportStart);
      assert.match((await download).suggestedFilename(), /^articles\./);
      await closed(page, "the export");
    });
  });

  test("an earlier version of a resource is restored", async () => {
    await changeAs(service, "articles/a007", { title: "Second" });
    await inConsole(service, "#/articles/a007", async (page) => {
      await page.getByRole("heading", { name: "Second" }).waitFor();
      await tabTo(page, ({ role }) => role === "tab");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      await panelOf(page).getByText("Version 1").waitFor();
      assert.equal((await focusOf(page)).label, texts.tabs.history);
      await enter(page, texts.restoreVersion);
      await page.getByText(texts.resource.restored(1, 3)).waitFor();
      await page.getByRole("heading", { name: titleAt(7) }).waitFor();
      await notLost(page, "after the restore");
    });
  });
});

describe("an administrator by keyboard alone", { skip }, () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house?.close());

  test("signs in, finds a collection, makes a key, and signs out", async () => {
    const steps = async (page: Page) => {
      await page.getByText(signInTexts.nothingToSee).waitFor();
      await enter(page, texts.signIn);
      await until(
        "the focus is in the field",
        async () => (await focusOf(page)).label === texts.apiKeyOrToken,
      );
      await page.keyboard.type(house.token);
      await page.keyboard.press("Enter");
      await page.getByText("5 resources").waitFor();

      await page.keyboard.press("Control+k");
      await until("the focus is in the palette", async () => (await focusOf(page)).isInDialog);
      await page.keyboard.type("articles");
      await page.getByRole("dialog").getByText("articles", { exact: true }).first().waitFor();
      await page.keyboard.press("Enter");
      await rowCount(page, 5);
      await page.getByRole("dialog").waitFor({ state: "detached" });

      await enter(page, "API keys");
      await page.getByText("site", { exact: true }).first().waitFor();
      await enter(page, keys.create);
      await until("the focus is in the name", async () => (await focusOf(page)).label === keys.columns.name);
      await page.keyboard.type("mine");
      await page.keyboard.press("Enter");
      await page.locator(".secret").waitFor();
      await until("the focus is in the dialog", async () => (await focusOf(page)).isInDialog);
      await enter(page, saved);
      await closed(page, "the key is saved");
      await page.getByRole("cell", { name: "mine" }).first().waitFor();

      await enter(page, texts.signOut);
      await page.getByText(signInTexts.nothingToSee).waitFor();
    };
    await inConsole(house.service, "#/", steps, { refused: [401, 404] });
  });
});
