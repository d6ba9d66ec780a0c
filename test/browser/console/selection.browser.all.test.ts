/** What the console does with selected rows, in a real browser. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { check } from "../../http/check.ts";
import type { Service } from "../../http/service.ts";
import {
  columnBegins,
  inConsole,
  panelOf,
  pressInDialog,
  rowCount,
  rowOf,
  skip,
  startShop,
  titleAt,
} from "./console-page.ts";

describe("a selection in the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop();
  });
  after(() => service.stop());

  async function statusOf(id: string): Promise<number> {
    return (await service.send({ path: `/api/v1/articles/${id}` })).status;
  }

  test("changes an attribute after a dry run", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await select(page, 0, 1, 2);
      await page.getByRole("toolbar", { name: "3 selected" }).waitFor();
      await page.getByRole("button", { name: "Change an attribute" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("combobox", { name: "Attribute" }).click();
      await page.getByRole("option", { name: "status", exact: true }).click();
      await dialog.getByRole("combobox", { name: "Value" }).click();
      await page.getByRole("option", { name: "published", exact: true }).click();
      await pressInDialog(page, "Check");
      // The one in the middle is published already.
      await dialog.getByText("2 of 3 would change:").waitFor();
      await columnBegins(page, "status", ["draft", "published", "draft"]);
      await pressInDialog(page, "Change 2");
      await page.getByText("2 changed").waitFor();
      await columnBegins(page, "status", ["published", "published", "published"]);
    });
  });

  test("keeps the selection, and hides its bar, while a resource is open", async () => {
    const steps = async (page: Page) => {
      await select(page, 0, 1);
      await page.getByRole("toolbar", { name: "2 selected" }).waitFor();
      await rowOf(page, titleAt(2)).getByText(titleAt(2)).click();
      await panelOf(page).getByRole("button", { name: "Save changes" }).waitFor();
      assert.equal(await page.getByRole("toolbar").count(), 0);
      await panelOf(page).getByRole("button", { name: "Close" }).click();
      await page.getByRole("toolbar", { name: "2 selected" }).waitFor();
    };
    await inConsole(service, "#/articles?sort=title", steps, { width: 1_280 });
  });

  test("changes nothing without an attribute, and asks for a check before the change", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await select(page, 5, 6);
      await page.getByRole("button", { name: "Change an attribute" }).click();
      const dialog = page.getByRole("dialog");
      const check = dialog.getByRole("button", { name: "Check", exact: true });
      await check.waitFor();
      assert.equal(await dialog.getByRole("combobox", { name: "Attribute" }).inputValue(), "");
      assert.equal(await page.getByRole("option").count(), 0);
      assert.equal(await check.isDisabled(), true);
      assert.equal(await dialog.getByRole("button", { name: /^Change/ }).count(), 0);
      await dialog.getByRole("combobox", { name: "Attribute" }).click();
      await page.getByRole("option", { name: "views", exact: true }).click();
      await dialog.getByLabel("Value").fill("500");
      await pressInDialog(page, "Check");
      await dialog.getByRole("button", { name: "Change 2" }).waitFor();
      // What was checked is no longer what the form says.
      await dialog.getByLabel("Value").fill("501");
      await dialog.getByRole("button", { name: "Change 2" }).waitFor({ state: "detached" });
      await pressInDialog(page, "Check");
      await pressInDialog(page, "Change 2");
      await page.getByText("2 changed").waitFor();
      const { json } = await service.send({ path: "/api/v1/articles/a005" });
      assert.equal((json as { views: number }).views, 501);
    });
  });

  test("deletes after a dry run", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await select(page, 3, 4);
      await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByText("2 would be deleted:").waitFor();
      assert.equal(await statusOf("a003"), 200);
      await pressInDialog(page, "Delete 2");
      await page.getByText("2 deleted").waitFor();
      await rowCount(page, 10);
      assert.deepEqual(
        [await statusOf("a003"), await statusOf("a004"), await statusOf("a005")],
        [404, 404, 200],
      );
      await page.getByRole("toolbar").waitFor({ state: "detached" });
    });
  });

  test("brings back what it has deleted", async () => {
    const before = await service.send({ path: "/api/v1/articles/a007" });
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await select(page, 7, 8);
      await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
      await pressInDialog(page, "Delete 2");
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("2 restored").waitFor();
      assert.equal(await statusOf("a008"), 200);
      assert.deepEqual((await service.send({ path: "/api/v1/articles/a007" })).json, before.json);
    });
  });

  test("leaves alone what others have brought back and changed since", async () => {
    const path = "/api/v1/articles/a009";
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await select(page, 9, 10);
      await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
      await pressInDialog(page, "Delete 2");
      await page.getByRole("button", { name: "Undo" }).waitFor();
      check(await service.send({ method: "POST", path: `${path}/_restore`, content: { version: 1 } }), {
        status: 201,
      });
      check(await service.send({ method: "PATCH", path, content: { views: 777 } }), { status: 200 });
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("1 of 2 restored").waitFor();
      await page.getByText("The resource is no longer deleted: it was restored in the meantime.").waitFor();
      assert.equal(await statusOf("a010"), 200);
      assert.equal(((await service.send({ path })).json as { views: number }).views, 777);
    });
  });
});

/** Selects articles by their numbers. */
async function select(page: Page, ...numbers: readonly number[]): Promise<void> {
  for (const n of numbers) await rowOf(page, titleAt(n)).getByRole("checkbox").click();
}
