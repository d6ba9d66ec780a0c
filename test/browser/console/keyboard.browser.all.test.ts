/** The console by keyboard alone: focus is always somewhere, and it can be seen. Takes about ten seconds. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { texts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import { field, inConsole, panelOf, rowCount, skip, startShop } from "./console-page.ts";
import { focusOf, tabTo } from "./focus.ts";

describe("the console by keyboard", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop();
  });
  after(() => service.stop());

  test("a dialog that closes gives the focus back", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await rowCount(page, 12);
      const dialog = page.getByRole("dialog");
      for (const name of [texts.api, texts.importFile, texts.exportList]) {
        await tabTo(page, (focused) => focused.text === name);
        await page.keyboard.press("Enter");
        await dialog.waitFor();
        await until(`the focus is in the dialog ${name}`, async () => (await focusOf(page)).isInDialog);
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        await until(`the focus is back at ${name}`, async () => (await focusOf(page)).text === name);
      }
    });
  });

  test("a resource is found, changed and saved", async () => {
    let id = "";
    await inConsole(service, "#/", async (page) => {
      await page.getByText("12 resources").waitFor();
      await page.keyboard.press("Control+k");
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox").waitFor();
      await page.keyboard.type("articles");
      await dialog.getByText("articles", { exact: true }).first().waitFor();
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      await rowCount(page, 12);
      await tabTo(page, (focused) => focused.role === "grid");
      await page.keyboard.press("ArrowDown");
      await page.locator("tr.cursor").waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      const title = field(page, "title");
      await title.waitFor();
      const before = await title.inputValue();
      id = `a${before.slice(-3)}`;
      await tabTo(page, (focused) => focused.value === before);
      await page.keyboard.press("Control+a");
      await page.keyboard.type("By keyboard");
      await page.keyboard.press("Control+s");
      await panelOf(page).getByText("Saved as version 2").waitFor();
      await page.keyboard.press("Escape");
      await panelOf(page).waitFor({ state: "detached" });
      await until("the focus is in the list again", async () => (await focusOf(page)).role === "grid");
    });
    const { json } = await service.send({ method: "GET", path: `/api/v1/articles/${id}` });
    assert.equal((json as { title: string }).title, "By keyboard");
  });
});
