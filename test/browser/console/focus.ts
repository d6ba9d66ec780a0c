/** Where the focus of a page is, and how Tab moves it. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../../until.ts";

/** How many times Tab is pressed until something must have the focus. */
const mostTabs = 80;

/** What has the focus. */
export interface Focus {
  role: string | null;
  text: string;
  /** What a screen reader calls it, about. */
  label: string;
  value: string | undefined;
  /** Whether it is in view, and looks different from what it is without the focus. */
  isSeen: boolean;
  isBody: boolean;
  isInDialog: boolean;
}

/** Runs in the page. A field shows its focus by its border, all else by an outline or a shadow. */
const readFocus = `(() => {
  const element = document.activeElement;
  // Some inputs have no size. What is beside them shows them.
  const shown = element.getBoundingClientRect().width > 0 ? element : (element.nextElementSibling ?? element);
  const { width, height, bottom, right, top, left } = shown.getBoundingClientRect();
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
    label: element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent.trim() ?? element.textContent.trim(),
    value: element.value,
    isSeen: isInView && (marks || isCursor || element.matches("section, main, [contenteditable]")),
    isBody: element === document.body,
    isInDialog: element.closest("[role=dialog]") !== null,
    name: element.outerHTML.slice(0, 160),
  };
})()`;

/** Reads what has the focus. */
export async function focusOf(page: Page): Promise<Focus & { name: string }> {
  return await page.evaluate(readFocus);
}

/** Presses Tab until the focus is where it shall be, unless it is there. On the way, it can be seen everywhere. */
export async function tabTo(page: Page, isThere: (focus: Focus) => boolean): Promise<void> {
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

/** Tabs to what has a name, and presses Enter. */
export async function enter(page: Page, name: string): Promise<void> {
  await tabTo(page, ({ label }) => label === name);
  await page.keyboard.press("Enter");
}

/** Waits until the focus is somewhere. */
export function notLost(page: Page, when: string): Promise<void> {
  return until(`the focus is somewhere ${when}`, async () => !(await focusOf(page)).isBody);
}

/** Chooses an option of the list that the field with the focus has, by arrow keys. */
export async function choose(page: Page, option: string): Promise<void> {
  const marked = page.locator("[role=option][data-combobox-selected]:visible");
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option").first().waitFor();
  for (let n = 0; n < mostTabs; n++) {
    if ((await marked.count()) > 0 && (await marked.first().innerText()).trim() === option) {
      await page.keyboard.press("Enter");
      return;
    }
    await page.keyboard.press("ArrowDown");
  }
  assert.fail(`the arrow keys never came to the option ${option}`);
}
