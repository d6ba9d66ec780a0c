/** The screens of lists and resources, each with how it opens. */
import type { Page } from "playwright-core";
import { listTexts, texts } from "../../../console/src/texts.ts";
import { field, panelOf, pressInDialog, rowCount, rowOf, titleAt } from "./console-page.ts";
import type { House } from "./house.ts";

/** One screen. */
export interface Screen {
  name: string;
  fragment: string;
  /** Opens it from the page of the fragment, and waits until it is complete. */
  open(page: Page): Promise<unknown>;
}

const bad = "title,status,views\nThe Sea,draft,3\n,draft,4\nThe Tide,lost,6\n";

/** The screens of lists, and their dialogs. */
export const listScreens: readonly Screen[] = [
  { name: "start", fragment: "#/", open: (page) => page.getByText("5 resources").waitFor() },
  { name: "list", fragment: "#/articles", open: (page) => rowCount(page, 5) },
  {
    name: "filtered list",
    fragment: "#/articles?status=draft&author=ada&sort=-views",
    open: (page) => rowCount(page, 3),
  },
  {
    name: "empty list",
    fragment: "#/notes",
    open: (page) => page.getByText(texts.emptyCollection).waitFor(),
  },
  {
    name: "no matches",
    fragment: "#/articles?views=99",
    open: (page) => page.getByText(texts.noMatches).waitFor(),
  },
  {
    name: "wrong filter",
    fragment: "#/articles?views:gte=many",
    open: (page) => page.locator(".chip.wrong").waitFor(),
  },
  {
    name: "filter form",
    fragment: "#/articles",
    async open(page) {
      await press(page, texts.addFilter);
      await page.getByRole("combobox", { name: listTexts.operator }).waitFor();
    },
  },
  {
    name: "operators",
    fragment: "#/articles",
    async open(page) {
      await press(page, texts.addFilter);
      await page.getByRole("combobox", { name: listTexts.operator }).click();
      await page.getByRole("option", { name: texts.operators.contains, exact: true }).waitFor();
    },
  },
  {
    name: "filter as JSON",
    fragment: '#/articles?filter={"views":{"gte":1}}',
    async open(page) {
      await page.locator(".chip .inner").click();
      await page.locator(".filter-form textarea").waitFor();
    },
  },
  {
    name: "filter of objects",
    fragment: '#/notes?lines:any={"sku":"A","qty":{"gte":5}}&title:ini=a,b',
    async open(page) {
      await page.locator(".chip .inner").first().click();
      await page.locator(".filter-form").getByLabel(listTexts.value).waitFor();
    },
  },
  {
    name: "natural order",
    fragment: "#/articles?sort=title:natural",
    async open(page) {
      await press(page, texts.columns);
      await page.getByRole("button", { name: listTexts.sortNatural("title") }).waitFor();
    },
  },
  {
    name: "deleted",
    fragment: "#/notes?text=Gone",
    async open(page) {
      await openDialog(page, listTexts.deletedOnes);
      await pressInDialog(page, listTexts.restoreAll);
      await page.getByText(listTexts.wouldRestore(1)).waitFor();
    },
  },
  {
    name: "columns",
    fragment: "#/articles",
    async open(page) {
      await press(page, texts.columns);
      await page.locator(".columns").waitFor();
    },
  },
  { name: "API", fragment: "#/articles?status=draft", open: (page) => openDialog(page, texts.api) },
  { name: "export", fragment: "#/articles?status=draft", open: (page) => openDialog(page, texts.exportList) },
  { name: "import", fragment: "#/articles", open: (page) => openDialog(page, texts.importFile) },
  {
    name: "import with bad lines",
    fragment: "#/articles",
    async open(page) {
      await openDialog(page, texts.importFile);
      const file = { name: "two.csv", mimeType: "text/csv", buffer: Buffer.from(bad) };
      await page.locator("input[type=file]").setInputFiles(file);
      await page.getByText("line 4", { exact: true }).waitFor();
    },
  },
  {
    name: "palette",
    fragment: "#/articles",
    async open(page) {
      await rowCount(page, 5);
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByText(listTexts.documentation).waitFor();
    },
  },
  {
    name: "selection",
    fragment: "#/articles",
    open: (page) => select(page, 1, 3),
  },
  {
    name: "bulk change",
    fragment: "#/articles",
    async open(page) {
      await select(page, 1, 3);
      await page.getByRole("toolbar").getByRole("button", { name: texts.changeAttribute }).click();
      await page.getByRole("combobox", { name: listTexts.attribute }).click();
      await page.getByRole("option", { name: "title", exact: true }).click();
      await page.getByRole("dialog").getByLabel(listTexts.value).fill("Same");
      await pressInDialog(page, listTexts.check);
      await page.getByText(listTexts.wouldChange(2, 2)).waitFor();
    },
  },
  {
    name: "bulk delete",
    fragment: "#/articles",
    async open(page) {
      await select(page, 1, 3);
      await page.getByRole("toolbar").getByRole("button", { name: texts.remove }).click();
      await page.getByText(listTexts.wouldDelete(2)).waitFor();
    },
  },
];

/** The screens of one resource. */
export function resourceScreens(house: House): readonly Screen[] {
  return [
    { name: "fields", fragment: "#/articles/a000", open: (page) => field(page, "title").waitFor() },
    {
      name: "refused value",
      fragment: "#/articles/a000",
      async open(page) {
        await field(page, "title").fill("x".repeat(41));
        await panelOf(page).getByRole("button", { name: texts.save }).click();
        await panelOf(page).getByText(texts.resource.notSaved).waitFor();
      },
    },
    {
      name: "JSON",
      fragment: "#/articles/a000/json",
      open: (page) => panelOf(page).locator(".cm-content").waitFor(),
    },
    {
      name: "broken JSON",
      fragment: "#/articles/a000/json",
      async open(page) {
        await panelOf(page).locator(".cm-content").fill("{");
        await panelOf(page).locator(".cm-lint-marker-error, .cm-lintRange-error, .wrong").first().waitFor();
      },
    },
    {
      name: "history",
      fragment: "#/articles/a002/history",
      async open(page) {
        await panelOf(page).getByText("And a third one.").waitFor();
        await panelOf(page).getByRole("button", { name: texts.resource.showAttributes }).click();
        await panelOf(page).getByText(texts.resource.showAttributes).waitFor({ state: "detached" });
        await panelOf(page).locator(".diff.waiting").first().waitFor({ state: "detached" });
      },
    },
    {
      name: "related",
      fragment: "#/authors/ada/related",
      open: (page) => panelOf(page).getByText("a000").first().waitFor(),
    },
    {
      name: "access",
      fragment: "#/articles/a000/access",
      open: (page) => panelOf(page).locator("li.why").nth(4).getByLabel(texts.access.yes).waitFor(),
    },
    {
      name: "new resource",
      fragment: "#/articles/_new",
      open: (page) => panelOf(page).getByRole("button", { name: texts.create }).waitFor(),
    },
    {
      name: "menu of a resource",
      fragment: "#/articles/a000",
      async open(page) {
        await panelOf(page).getByRole("button", { name: texts.resource.more, exact: true }).click();
        await page.getByRole("menuitem", { name: texts.remove }).waitFor();
      },
    },
    {
      name: "delete",
      fragment: "#/articles/a000",
      async open(page) {
        await panelOf(page).getByRole("button", { name: texts.resource.more, exact: true }).click();
        await page.getByRole("menuitem", { name: texts.remove }).click();
        await page.getByRole("dialog").waitFor();
      },
    },
    {
      name: "leave",
      fragment: "#/articles/a000",
      async open(page) {
        await field(page, "title").fill("Changed");
        await panelOf(page).getByRole("button", { name: texts.close }).click();
        await page.getByRole("dialog").waitFor();
      },
    },
    {
      name: "conflict",
      fragment: "#/articles/a004",
      async open(page) {
        await field(page, "title").fill("Mine");
        await house.send("PATCH", "articles/a004", { title: "Theirs", views: 1 });
        await panelOf(page)
          .getByText("Theirs")
          .or(panelOf(page).getByText(texts.resource.compare))
          .first()
          .waitFor();
        await panelOf(page).getByRole("button", { name: texts.save }).click();
        await page.getByRole("dialog").getByText("Theirs", { exact: true }).waitFor();
      },
    },
  ];
}

/** Presses the first button with a name. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name, exact: true }).first().click();
}

/** Opens a dialog by the first button with a name. */
export async function openDialog(page: Page, name: string): Promise<void> {
  await press(page, name);
  await page.getByRole("dialog").waitFor();
}

/** Selects articles by their numbers. */
async function select(page: Page, ...numbers: readonly number[]): Promise<void> {
  for (const n of numbers) await rowOf(page, titleAt(n)).getByRole("checkbox").click();
}
