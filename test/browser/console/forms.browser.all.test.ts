/** The editors of the form of a resource, in a real browser. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { texts } from "../../../console/src/texts.ts";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import { addressEnds, field, inConsole, panelOf, skip, startShop } from "./console-page.ts";

const text = { type: "string" };
const properties = {
  title: text,
  blurb: { type: "string", maxLength: 200 },
  pages: { type: "integer" },
  tags: { type: "array", items: text },
  author: text,
};

describe("the form of a resource in the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop({
      collections: {
        authors: { schema: { type: "object", properties: { name: text } } },
        books: { references: { author: "authors" }, schema: { type: "object", properties } },
      },
      seeds: { books: [{ id: "sea", title: "The Sea" }] },
    });
  });
  after(() => service.stop());

  test("the first field of a new resource has the focus", async () => {
    await inConsole(service, "#/books", async (page) => {
      await page.getByRole("button", { name: "New resource" }).click();
      const focused = `document.activeElement.closest(".field")?.dataset.name`;
      await until("the title has the focus", async () => (await page.evaluate(focused)) === "title");
      await page.keyboard.type("Typed at once");
      assert.equal(await field(page, "title").inputValue(), "Typed at once");
    });
  });

  test("a pasted text keeps its lines", async () => {
    await inConsole(service, "#/books/sea", async (page) => {
      const lines = "one\ntwo\n\nfour";
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(lines)})`);
      await field(page, "blurb").fill("");
      await field(page, "blurb").press("ControlOrMeta+V");
      await field(page, "title").fill("");
      await field(page, "title").press("ControlOrMeta+V");
      assert.equal(await field(page, "blurb").inputValue(), lines);
      assert.equal(await field(page, "title").inputValue(), lines);
    });
  });

  test("the JSON of a draft has a wrong number as the user wrote it, and says that it is wrong", async () => {
    await inConsole(service, "#/books/sea", async (page) => {
      await field(page, "pages").fill("12x");
      await panelOf(page).getByRole("tab", { name: "JSON" }).click();
      const editor = panelOf(page).locator(".cm-content");
      await editor.getByText('"pages": 12x').waitFor();
      await panelOf(page)
        .getByRole("alert")
        .getByText(/^Line \d/)
        .waitFor();
      assert.equal(await panelOf(page).getByRole("button", { name: "Save changes" }).isDisabled(), true);
    });
  });

  test("a list of texts takes Enter and a comma, also in what is pasted", async () => {
    await inConsole(service, "#/books/sea", async (page) => {
      const tags = field(page, "tags");
      await panelOf(page).getByText(texts.resource.severalTexts).waitFor();
      await tags.click();
      await page.keyboard.type("news, sport");
      await page.keyboard.press("Enter");
      await page.evaluate(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "tide,harbour");
        const paste = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
        document.activeElement.dispatchEvent(paste);
      })()`);
      // A keyboard on a screen names no key: the whole text comes at once.
      await tags.fill("wind, rain");
      await page.keyboard.press("Enter");
      await panelOf(page).getByRole("button", { name: "Save changes" }).click();
      await panelOf(page).getByText("Saved as version 2").waitFor();
      const { json } = await service.send({ path: "/api/v1/books/sea" });
      assert.deepEqual((json as { tags: unknown }).tags, [
        "news",
        "sport",
        "tide",
        "harbour",
        "wind",
        "rain",
      ]);
    });
  });

  test("the picker of a reference says that the collection is empty, and leads to a new resource", async () => {
    await inConsole(service, "#/books/_new", async (page) => {
      await field(page, "author").click();
      await page.getByText(texts.resource.emptyTarget("authors")).waitFor();
      const opened = page.context().waitForEvent("page");
      await page.getByRole("link", { name: texts.resource.createOne }).click();
      const other = await opened;
      await addressEnds(other, "#/authors/_new");
      await panelOf(other).getByRole("heading", { name: "New resource in authors" }).waitFor();
    });
  });

  test("Enter chooses the only suggestion of the picker", async () => {
    for (const [id, name] of [
      ["ada", "Ada Byron"],
      ["bob", "Bob Kahn"],
    ])
      await service.send({ method: "POST", path: "/api/v1/authors", content: { id, name } });
    await inConsole(service, "#/books/_new", async (page) => {
      await field(page, "author").click();
      await page.getByRole("option").nth(1).waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await page.getByRole("option").count(), 2);
      await field(page, "author").fill("Kahn");
      await page.locator("[role=option][data-combobox-selected]").getByText("Bob Kahn").waitFor();
      await page.keyboard.press("Enter");
      const author = async () => (await field(page, "author").inputValue()) === "Bob Kahn";
      await until("the field shows the name of the author, which it reads by its id", author);
    });
  });
});
