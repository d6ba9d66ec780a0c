/** What the console does with everything that a filter matches, in a real browser. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { administrationTexts, listTexts, texts } from "../../../console/src/texts.ts";
import { check } from "../../http/check.ts";
import type { Service } from "../../http/service.ts";
import {
  addressEnds,
  columnBegins,
  inConsole,
  panelOf,
  pressInDialog,
  rowCount,
  rows,
  seeds,
  skip,
  startShop,
  titleAt,
} from "./console-page.ts";

const { tasks } = administrationTexts;

describe("everything that a filter matches", { skip }, () => {
  test("is changed by a task if it is too much for one commit", async (t) => {
    const count = 1_204;
    const service = await startShop({ seeds: seeds(count) });
    t.after(() => service.stop());
    const steps = async (page: Page) => {
      await columnBegins(page, "title", [titleAt(0)]);
      const all = listTexts.selectMatching(undefined);
      await page.getByRole("checkbox", { name: texts.selectAll }).click();
      await page.getByRole("toolbar").getByRole("button", { name: all }).click();
      await page.getByRole("toolbar", { name: texts.selected(count - 99) }).waitFor();
      // Without one of them, the selection is what the page has read.
      await page.locator("tbody").getByRole("checkbox").first().click();
      await page.getByRole("toolbar", { name: texts.selected(99) }).waitFor();
      await page.getByRole("checkbox", { name: texts.selectAll }).click();
      await page.getByRole("toolbar").getByRole("button", { name: all }).click();
      await page.getByRole("button", { name: texts.changeAttribute }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(listTexts.changeTitle(count - 99)).waitFor();
      await dialog.getByRole("combobox", { name: listTexts.attribute }).click();
      await page.getByRole("option", { name: "status", exact: true }).click();
      await dialog.getByRole("combobox", { name: listTexts.value }).click();
      await page.getByRole("option", { name: "published", exact: true }).click();
      await pressInDialog(page, listTexts.check);
      await dialog.getByText(listTexts.matched(count - 99)).waitFor();
      await pressInDialog(page, listTexts.asTask);
      await addressEnds(page, "#/_tasks");
      const card = page.getByRole("listitem").filter({ hasText: `${tasks.kinds.update} · articles` });
      await card.getByText(tasks.states.done, { exact: true }).waitFor();
      await card.getByText(tasks.progress(count - 99, count - 99)).waitFor();
      // Half of the others are drafts, as before.
      const { json } = await service.send({ path: "/api/v1/articles?status=draft&limit=1000" });
      assert.equal((json as unknown[]).length, 49);
    };
    await inConsole(service, "#/articles?views:gte=100&sort=title", steps, { refused: [409] });
    // A search has no form in JSON.
    await inConsole(service, "#/articles?q=Article", async (page) => {
      await rows(page).first().waitFor();
      await page.getByRole("checkbox", { name: texts.selectAll }).click();
      await page.getByRole("toolbar").getByRole("button", { name: listTexts.selectFirst }).click();
      await page.getByRole("toolbar", { name: texts.selected(1_000) }).waitFor();
    });
  });

  test("is restored after a dry run says how many that are", async (t) => {
    const service = await startShop();
    t.after(() => service.stop());
    await remove(service, ["a000", "a001", "a002", "a003", "a004"]);
    await inConsole(service, "#/articles?status=draft", async (page) => {
      await page.getByRole("button", { name: listTexts.deletedOnes, exact: true }).click();
      const dialog = page.getByRole("dialog", { name: listTexts.deletedTitle("articles") });
      const lines = dialog.getByRole("listitem");
      await lines.nth(2).waitFor();
      assert.equal(await lines.count(), 3);

      // The key closes the form of a filter, and not the dialog around it.
      await dialog.getByRole("button", { name: texts.addFilter }).click();
      const form = page.locator(".filter-editor");
      await form.getByRole("combobox", { name: listTexts.attribute }).waitFor();
      await form.getByRole("button", { name: listTexts.apply }).focus();
      await page.keyboard.press("Escape");
      await form.waitFor({ state: "detached" });
      await dialog.getByRole("button", { name: texts.addFilter }).click();
      await form.getByRole("combobox", { name: listTexts.attribute }).click();
      await form.getByRole("option", { name: "views", exact: true }).click();
      await form.getByRole("combobox", { name: listTexts.operator }).click();
      await form.getByRole("option", { name: texts.operators.gte, exact: true }).click();
      await form.getByLabel(listTexts.value).fill("10");
      await form.getByRole("button", { name: listTexts.apply }).click();
      await lines.nth(2).waitFor({ state: "detached" });

      await pressInDialog(page, listTexts.restoreAll);
      await dialog.getByText(listTexts.wouldRestore(2)).waitFor();
      assert.equal(await existing(service), 7);
      await pressInDialog(page, listTexts.doRestore(2));
      await page.getByText(listTexts.restored(2, 2)).waitFor();
      await dialog.getByText(listTexts.noneDeletedMatches).waitFor();
      assert.equal(await existing(service), 9);

      await dialog.getByRole("button", { name: listTexts.removeFilter("views") }).click();
      await lines.first().waitFor();
      await dialog.getByRole("button", { name: listTexts.removeFilter("status") }).click();
      await lines.nth(2).waitFor();
      // Another filter takes back what a dry run has said.
      await pressInDialog(page, listTexts.restoreAll);
      await dialog.getByText(listTexts.wouldRestore(3)).waitFor();
      await lines.first().getByRole("button", { name: listTexts.restoreOne }).click();
      await dialog.getByText(listTexts.wouldRestore(3)).waitFor({ state: "detached" });
      await pressInDialog(page, listTexts.restoreAll);
      await pressInDialog(page, listTexts.doRestore(2));
      await dialog.getByText(listTexts.noneDeleted).waitFor();
      assert.equal(await existing(service), 12);
      await pressInDialog(page, texts.close);
      await dialog.waitFor({ state: "detached" });
      await rowCount(page, 6);
    });
  });

  test("stays deleted if a value is taken, and can be a task if it is too large for one commit", async (t) => {
    const large = { type: "string", writeOnly: true } as const;
    const properties = { title: { type: "string", maxLength: 40 }, large };
    const articles = Array.from({ length: 5 }, (_, n) => {
      return { id: `a${n}`, title: `Title ${n}`, large: "x".repeat(1_000_000) };
    });
    const service = await startShop({
      collections: { articles: { schema: { type: "object", properties }, unique: ["title"] } },
      seeds: { articles },
    });
    t.after(() => service.stop());
    await remove(service, ["a0", "a1", "a2", "a3", "a4"]);
    const content = { title: "Title 0" };
    check(await service.send({ method: "POST", path: "/api/v1/articles", content }), { status: 201 });
    const steps = async (page: Page) => {
      await page.getByRole("button", { name: listTexts.deletedOnes, exact: true }).click();
      const dialog = page.getByRole("dialog");
      await pressInDialog(page, listTexts.restoreAll);
      await dialog.getByRole("alert").getByText("more than 4 MiB").waitFor();
      const line = dialog.getByRole("listitem").filter({ hasText: "Title 0" });
      await line.getByRole("button", { name: listTexts.restoreOne }).click();
      await dialog.getByText(texts.resource.holder).getByRole("link", { name: "Title 0" }).click();
      await dialog.waitFor({ state: "detached" });
      await panelOf(page).waitFor();
      const headers = { "If-Match": "*" };
      const patch = { method: "PATCH", content: { title: "Another" }, headers } as const;
      const [{ id }] = (await service.send({ path: "/api/v1/articles" })).json as [{ id: string }];
      check(await service.send({ ...patch, path: `/api/v1/articles/${id}` }), { status: 200 });
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: listTexts.deletedOnes, exact: true }).click();
      await pressInDialog(page, listTexts.restoreAll);
      await pressInDialog(page, listTexts.asTask);
      await page.getByText(administrationTexts.tasks.changed(5)).waitFor();
    };
    await inConsole(service, "#/articles", steps, { refused: [409, 413] });
    assert.equal(await existing(service), 6);
  });
});

async function remove(service: Service, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const headers = { "If-Match": "*" };
    check(await service.send({ method: "DELETE", path: `/api/v1/articles/${id}`, headers }), { status: 205 });
  }
}

/** How many articles there are. */
async function existing(service: Service): Promise<number> {
  const { json } = await service.send({ path: "/api/v1/articles?limit=100&fields=id" });
  return (json as unknown[]).length;
}
