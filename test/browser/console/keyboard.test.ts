/** The console by keyboard alone: focus is always somewhere, and it can be seen. Takes about ten seconds. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { texts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import { field, inConsole, panelOf, rowCount, skip, startShop } from "./console-page.ts";

/** How many times Tab is pressed until something must have the focus. */
const mostTabs = 80;

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

/** What has the focus. */
interface Focus {
  role: string | null;
  text: string;
  value: string | undefined;
  /** Whether it is in view, and looks different from what it is without the focus. */
  isSeen: boolean;
  isBody: boolean;
  isInDialog: boolean;
}

/** Runs in the page. A field shows its focus by its border, all else by an outline or a shadow. */
const readFocus = `(() => {
  const element = document.activeElement;
  const { width, height, bottom, right, top, left } = element.getBoundingClientRect();
  const around = [element, ...(element.matches("input") ? [element.parentElement, element.nextElementSibling] : [])].filter(Boolean);
  const marks = around.some((each) => {
    const { outlineStyle, outlineWidth, boxShadow, borderTopColor } = getComputedStyle(each);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none" || (element.matches("input, textarea") && borderTopColor !== "rgba(0, 0, 0, 0)");
  });
  const isCursor = element.matches("[role=grid]") && document.querySelector("tr.cursor") !== null;
  const isInView = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  return {
    role: element.getAttribute("role"),
    text: element.textContent.trim(),
    value: element.value,
    isSeen: isInView && (marks || isCursor || element.matches("section, [contenteditable]")),
    isBody: element === document.body,
    isInDialog: element.closest("[role=dialog]") !== null,
    name: element.outerHTML.slice(0, 160),
  };
})()`;

async function focusOf(page: Page): Promise<Focus & { name: string }> {
  return await page.evaluate(readFocus);
}

/** Presses Tab until the focus is where it shall be, unless it is there. On the way, it can be seen everywhere. */
async function tabTo(page: Page, isThere: (focus: Focus) => boolean): Promise<void> {
  const way: string[] = [];
  for (let n = 0; n < mostTabs; n++) {
    if (n > 0) await page.keyboard.press("Tab");
    const focus = await focusOf(page);
    if (!focus.isBody) assert.ok(focus.isSeen, `the focus cannot be seen: ${focus.name}`);
    if (isThere(focus)) return;
    way.push(focus.name.slice(0, 80));
  }
  assert.fail(`Tab never came there, but to:\n${way.join("\n")}`);
}
