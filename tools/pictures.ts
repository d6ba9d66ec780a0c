/** Makes the pictures of the documentation, in docs/images/, from a real service. Run: npm run pictures */
import { writeFileSync } from "node:fs";
import { type Browser, openBrowser, type Page, patienceMs } from "../test/browser/browser.ts";
import { takeDocsPage } from "./pictures/docs-page.ts";
import { type Journal, mainTitle, startJournal } from "./pictures/journal.ts";

/** Larger files make the pages slow. */
const mostBytes = 200_000;

type Scheme = "light" | "dark";

/** Shows a route of the console to the editor. */
async function open(browser: Browser, journal: Journal, route: string, scheme: Scheme = "light") {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 700 },
    colorScheme: scheme,
    reducedMotion: "reduce",
  });
  page.setDefaultTimeout(patienceMs);
  // As after a sign-in.
  const credential = JSON.stringify(journal.token("grace"));
  await page.addInitScript(`sessionStorage.setItem("holdfast.credential", ${credential})`);
  await page.goto(`${journal.service.origin}/${route}`);
  await page.getByText("Live", { exact: true }).waitFor();
  return page;
}

async function save(page: Page, name: string): Promise<void> {
  const path = `docs/images/${name}.png`;
  await page.waitForLoadState("load");
  await page.evaluate("document.fonts.ready");
  await page.evaluate("document.activeElement?.blur()");
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  await page.close();
  if (picture.length > mostBytes)
    throw new Error(`${path} would have ${picture.length} bytes, more than ${mostBytes}.`);
  writeFileSync(path, picture);
  process.stdout.write(`${path}: ${Math.round(picture.length / 1_000)} kB\n`);
}

async function takeList(browser: Browser, journal: Journal, name: string, scheme: Scheme): Promise<void> {
  const page = await open(browser, journal, "#/articles?status:in=published,review&sort=-views", scheme);
  await page.getByRole("row").nth(12).waitFor();
  await page.getByText("Rachel Carson").first().waitFor();
  await save(page, name);
}

async function takeHistory(browser: Browser, journal: Journal): Promise<void> {
  const page = await open(browser, journal, `#/articles/${journal.id}/history`);
  await page.getByText("never still").first().waitFor();
  await page.getByText("review", { exact: true }).first().waitFor();
  // The button to restore a version appears under the pointer.
  await page.getByText("Version 3").hover();
  await save(page, "console-history");
}

async function takeConflict(browser: Browser, journal: Journal): Promise<void> {
  const page = await open(browser, journal, `#/articles/${journal.id}`);
  const panel = page.locator(".panel");
  await panel.getByRole("textbox", { name: /title/ }).fill(`${mainTitle}, 1953`);
  await panel.getByRole("textbox", { name: /summary/ }).fill("In winter the sea is grey. It is never still.");
  await journal.patch("rachel", {
    summary: "In winter the North Sea is grey, and it is never still.",
    tags: ["sea", "weather", "winter"],
  });
  await panel.getByRole("button", { name: "Compare" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("rachel changed this resource").waitFor();
  await save(page, "console-conflict");
}

async function takeImport(browser: Browser, journal: Journal): Promise<void> {
  const page = await open(browser, journal, "#/articles");
  await page.getByRole("button", { name: "Import" }).click();
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file" }).click();
  await (await choosing).setFiles("tools/pictures/import.csv");
  await page.getByRole("dialog").getByText("are not").waitFor();
  await save(page, "console-import");
}

async function takeAccess(browser: Browser, journal: Journal): Promise<void> {
  const page = await open(browser, journal, `#/articles/${journal.id}/access`);
  const panel = page.locator(".panel");
  await panel.getByLabel("Subject").fill("rachel");
  await panel.getByLabel("Roles").fill("author");
  await page.keyboard.press("Enter");
  await panel.getByLabel("Not allowed").first().waitFor();
  await panel.locator("summary", { hasText: "update" }).click();
  await save(page, "console-access");
}

const opened = await openBrowser();
if ("why" in opened) throw new Error(opened.why);
const { browser } = opened;
const journal = await startJournal();
try {
  await takeList(browser, journal, "console", "light");
  await takeList(browser, journal, "console-dark", "dark");
  await takeHistory(browser, journal);
  await takeAccess(browser, journal);
  await takeConflict(browser, journal);
  await takeImport(browser, journal);
  await takeDocsPage(browser);
} finally {
  await journal.stop();
  await browser.close();
}
