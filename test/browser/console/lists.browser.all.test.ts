/** Lists of the console, and the basics of a resource, in a real browser. Runs on both stores. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listTexts, texts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import {
  addressEnds,
  changeAs,
  column,
  columnBegins,
  field,
  headings,
  inConsole,
  panelOf,
  rowCount,
  rowOf,
  seeds,
  skip,
  startShop,
  titleAt,
} from "./console-page.ts";
import { press } from "./list-screens.ts";

const count = 250;

describe("a list of the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop({ seeds: seeds(count) });
  });
  after(() => service.stop());

  test("sorts by a heading, and the address and the back button keep the order", async () => {
    await inConsole(service, "#/articles", async (page) => {
      const heading = page.getByRole("columnheader", { name: "views" });
      await heading.getByRole("button").click();
      await columnBegins(page, "title", [titleAt(249), titleAt(248)]);
      await addressEnds(page, "#/articles?sort=views");
      assert.equal(await heading.getAttribute("aria-sort"), "ascending");
      await heading.getByRole("button").click();
      await columnBegins(page, "title", [titleAt(0), titleAt(1)]);
      await addressEnds(page, "#/articles?sort=-views");
      await page.reload();
      await columnBegins(page, "title", [titleAt(0), titleAt(1)]);
      await rowOf(page, titleAt(1)).click();
      await panelOf(page).waitFor();
      await addressEnds(page, "#/articles/a001?sort=-views");
      await page.goBack();
      await panelOf(page).waitFor({ state: "detached" });
      await addressEnds(page, "#/articles?sort=-views");
    });
  });

  test("filters by chips, and searches", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await page.getByRole("button", { name: "Add filter" }).click();
      const form = page.locator(".filter-form");
      await form.getByRole("combobox", { name: "Attribute" }).click();
      await form.getByRole("option", { name: "views", exact: true }).click();
      await form.getByRole("combobox", { name: "Operator" }).click();
      await form.getByRole("option", { name: "at most" }).click();
      await form.getByLabel("Value").fill("3");
      await form.getByRole("button", { name: "Apply" }).click();
      await addressEnds(page, "views:lte=3&sort=title");
      await rowCount(page, 3);
      await page.getByPlaceholder("Search title").fill("248");
      await rowCount(page, 1);
      assert.deepEqual(await column(page, "title"), [titleAt(248)]);
      await page.getByPlaceholder("Search title").fill("");
      await rowCount(page, 3);
      await page.getByRole("button", { name: "Remove the filter views" }).click();
      await columnBegins(page, "title", [titleAt(0), titleAt(1)]);
      await addressEnds(page, "#/articles?sort=title");
    });
  });

  test("the palette goes to a collection, and says what it does not find", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await page.getByRole("button", { name: "Go to…" }).click();
      const text = page.getByPlaceholder("A collection, a page or an id");
      await text.fill(titleAt(1));
      await page.getByText("No collection, page or id has this name.").waitFor();
      await text.fill("authors");
      await page.keyboard.press("Enter");
      await addressEnds(page, "#/authors");
    });
  });

  test("keeps the form of a filter beside the sidebar, and fills a narrow page with it", async () => {
    for (const width of [1_280, 390])
      await inConsole(
        service,
        "#/articles?status=draft",
        async (page) => {
          await page.getByRole("button", { name: "Add filter" }).click();
          const editor = page.locator(".filter-editor");
          const main = await page.locator("main").boundingBox();
          await until("the form is within the list", async () => {
            const box = await editor.boundingBox();
            return box !== null && main !== null && box.x >= main.x && box.x + box.width <= width;
          });
          if (width > 390) return;
          const fields = await editor.locator(".filter-form > .mantine-InputWrapper-root").all();
          const widths = await Promise.all(fields.map(async (each) => (await each.boundingBox())?.width));
          assert.equal(fields.length, 3);
          assert.deepEqual([...new Set(widths)], [332]);
        },
        { width },
      );
  });

  test("begins with the title on a narrow page, until other columns are chosen", async () => {
    for (const [width, first] of [
      [1_280, "id"],
      [390, "title"],
    ] as const)
      await inConsole(
        service,
        "#/articles",
        async (page) => {
          await columnBegins(page, "title", [titleAt(0)]);
          assert.equal((await headings(page))[0], first);
          assert.equal(new Set(await headings(page)).size, (await headings(page)).length);
        },
        { width },
      );
  });

  test("remembers which columns it shows", async () => {
    await inConsole(service, "#/articles", async (page) => {
      await page.getByRole("button", { name: "Columns" }).click();
      await page.locator(".columns").getByRole("checkbox", { name: "views" }).click();
      await until("the column is gone", async () => !(await headings(page)).includes("views"));
      await page.reload();
      await columnBegins(page, "status", ["draft"]);
      assert.ok(!(await headings(page)).includes("views"));
    });
  });

  test("reads more pages while it scrolls", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await columnBegins(page, "title", [titleAt(0)]);
      await until("the last row is in the page", async () => {
        await page.evaluate('document.querySelector(".scroll").scrollBy(0, 100_000)');
        return (await column(page, "title")).at(-1) === titleAt(count - 1);
      });
    });
  });

  test("shows the change of another client", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await page.getByText("Live", { exact: true }).waitFor();
      await columnBegins(page, "title", [titleAt(0), titleAt(1)]);
      await changeAs(service, "articles/a001", { status: "draft" });
      await columnBegins(page, "status", ["draft", "draft"]);
      await changeAs(service, "articles/a001", { status: "published" });
      await columnBegins(page, "status", ["draft", "published"]);
    });
  });

  test("moves a row to its sorted place when another client changes it", async () => {
    await inConsole(service, "#/articles?sort=-views", async (page) => {
      await columnBegins(page, "title", [titleAt(0), titleAt(1), titleAt(2)]);
      const content = { views: 1_000_000 };
      await service.send({ method: "PATCH", path: "/api/v1/articles/a009", content });
      await columnBegins(page, "title", [titleAt(9), titleAt(0), titleAt(1)]);
    });
  });

  test("shows a change that the panel saves", async () => {
    await inConsole(service, "#/articles?sort=title", async (page) => {
      await rowOf(page, titleAt(2)).click();
      await field(page, "title").fill("Article 002, changed");
      await panelOf(page).getByRole("button", { name: "Save changes" }).click();
      await panelOf(page).getByText("Saved as version 2").waitFor();
      await rowOf(page, "Article 002, changed").waitFor();
      const { json } = await service.send({ path: "/api/v1/articles/a002" });
      assert.equal((json as { title: string }).title, "Article 002, changed");
    });
  });
});

const text = { type: "string" };
const line = { type: "object", properties: { sku: text, qty: { type: "integer" } } };

describe("the orders and filters of a list", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop({
      collections: {
        authors: { schema: { type: "object", properties: { name: text } } },
        books: {
          references: { authorId: "authors" },
          schema: {
            type: "object",
            properties: { title: text, authorId: text, lines: { type: "array", items: line } },
          },
        },
      },
      seeds: {
        authors: [
          { id: "a1", name: "Zora" },
          { id: "a2", name: "Ada" },
        ],
        books: [
          { id: "b1", title: "Item 10", authorId: "a1", lines: [{ sku: "A", qty: 7 }] },
          {
            id: "b2",
            title: "item 9",
            authorId: "a2",
            lines: [
              { sku: "A", qty: 1 },
              { sku: "B", qty: 9 },
            ],
          },
          { id: "b3", title: "Item 11", authorId: "a1" },
        ],
      },
    });
  });
  after(() => service.stop());

  test("the menu of the columns offers the natural order, and the heading shows it", async () => {
    await inConsole(service, "#/books", async (page) => {
      await columnBegins(page, "title", ["Item 10", "item 9", "Item 11"]);
      await press(page, texts.columns);
      const natural = page.getByRole("button", { name: listTexts.sortNatural("title") });
      await natural.click();
      await addressEnds(page, "#/books?sort=title:natural");
      await columnBegins(page, "title", ["item 9", "Item 10", "Item 11"]);
      assert.equal(await natural.getAttribute("aria-pressed"), "true");
      await page.keyboard.press("Escape");
      const heading = page.getByRole("columnheader", { name: `title ${listTexts.natural}` });
      assert.equal(await heading.getAttribute("aria-sort"), "ascending");
      await heading.getByRole("button").click();
      await addressEnds(page, "#/books?sort=-title:natural");
      await columnBegins(page, "title", ["Item 11", "Item 10", "item 9"]);
      // A row moves to its place in the natural order when another client changes it.
      await page.getByText(texts.live, { exact: true }).waitFor();
      await changeAs(service, "books/b2", { title: "item 9a" });
      await changeAs(service, "books/b1", { title: "Item 12" });
      await columnBegins(page, "title", ["Item 12", "Item 11", "item 9a"]);
      await changeAs(service, "books/b1", { title: "Item 10" });
      await changeAs(service, "books/b2", { title: "item 9" });
      await columnBegins(page, "title", ["Item 11", "Item 10", "item 9"]);
    });
  });

  test("a reference is sorted by the title that its cells show", async () => {
    await inConsole(service, "#/books", async (page) => {
      await columnBegins(page, "authorId", ["Zora", "Ada", "Zora"]);
      await press(page, texts.columns);
      await page.getByRole("button", { name: listTexts.sortBy("author.name") }).click();
      await addressEnds(page, "#/books?sort=author.name");
      await columnBegins(page, "authorId", ["Ada", "Zora", "Zora"]);
      await page.keyboard.press("Escape");
      const heading = page.getByRole("columnheader", { name: "authorId .name" });
      assert.equal(await heading.getAttribute("aria-sort"), "ascending");
      await heading.getByRole("button").click();
      await addressEnds(page, "#/books?sort=-author.name");
      await columnBegins(page, "authorId", ["Zora", "Zora", "Ada"]);
      await page.getByText(texts.live, { exact: true }).waitFor();
      await changeAs(service, "books/b1", { authorId: "a2" });
      await columnBegins(page, "authorId", ["Zora", "Ada", "Ada"]);
      await changeAs(service, "books/b1", { authorId: "a1" });
      await columnBegins(page, "authorId", ["Zora", "Zora", "Ada"]);
      await press(page, texts.columns);
      await page.getByRole("button", { name: listTexts.sortBy("author.name") }).click();
      await addressEnds(page, "#/books");
    });
  });

  test("every operator has a chip, also those for texts as people read them and for objects in lists", async () => {
    const query = 'title:ini=ITEM 9,item 10&lines:any={"sku":"A","qty":{"gte":5}}&title:startsWithi=ITEM';
    await inConsole(service, `#/books?${encodeURI(query)}`, async (page) => {
      await columnBegins(page, "title", ["Item 10"]);
      const chips = page.locator(".filters .chip:not(.dash)");
      assert.deepEqual(
        (await chips.allInnerTexts()).map((each) => each.split(/\s+/).join(" ").trim()),
        [
          `title ${texts.operators.ini} ITEM 9, item 10`,
          `lines ${texts.operators.any} sku is A, qty at least 5`,
          `title ${texts.operators.startsWithi} ITEM`,
        ],
      );
      await chips.nth(1).locator(".inner").click();
      const form = page.locator(".filter-form");
      await form.getByLabel(listTexts.value).fill('{"sku":"B"}');
      await form.getByRole("button", { name: listTexts.apply }).click();
      await columnBegins(page, "title", ["item 9"]);
      await chips.nth(0).locator(".inner").click();
      await form.getByRole("combobox", { name: listTexts.value }).press("Backspace");
      await form.getByRole("button", { name: listTexts.apply }).click();
      await until("the list is read again", () =>
        decodeURIComponent(page.url()).includes("title:ini=ITEM 9&"),
      );
      await press(page, listTexts.removeFilter("lines"));
      await columnBegins(page, "title", ["item 9"]);
      for (let n = 0; n < 2; n++) await press(page, listTexts.removeFilter("title"));
      await rowCount(page, 3);
      // A filter of the objects in a list is made in the form.
      await press(page, texts.addFilter);
      await form.getByRole("combobox", { name: listTexts.attribute }).click();
      await form.getByRole("option", { name: "lines", exact: true }).click();
      await form.getByRole("combobox", { name: listTexts.operator }).click();
      await form.getByRole("option", { name: texts.operators.any, exact: true }).click();
      await form.getByLabel(listTexts.value).fill('{"qty":{"lt":5}}');
      await form.getByRole("button", { name: listTexts.apply }).click();
      await rowCount(page, 1);
    });
  });
});
