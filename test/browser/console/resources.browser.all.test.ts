/** The panel of a resource, in a real browser. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { Service } from "../../http/service.ts";
import { until } from "../../until.ts";
import {
  addressEnds,
  changeAs,
  field,
  inConsole,
  panelOf,
  pressInDialog,
  rowOf,
  skip,
  startShop,
  titleAt,
} from "./console-page.ts";

describe("a resource in the console", { skip }, () => {
  let service: Service;
  before(async () => {
    service = await startShop();
  });
  after(() => service.stop());

  async function read(id: string): Promise<Record<string, unknown>> {
    return (await service.send({ path: `/api/v1/articles/${id}` })).json as Record<string, unknown>;
  }

  test("shows a refused value at its field, and saves after the correction", async () => {
    const steps = async (page: Page) => {
      await field(page, "title").fill("x".repeat(41));
      await press(page, "Save changes");
      await panelOf(page).getByText("Not saved").waitFor();
      const line = panelOf(page).locator(".field", { has: page.getByText("title", { exact: true }) });
      await line.locator(".wrong").getByText("40").waitFor();
      assert.equal((await read("a000")).title, titleAt(0));
      await field(page, "title").fill("Short");
      await press(page, "Save changes");
      await panelOf(page).getByText("Saved as version 2").waitFor();
      assert.equal((await read("a000")).title, "Short");
    };
    await inConsole(service, "#/articles/a000", steps, { refused: [400] });
  });

  test("leads to the resource that has a unique value already", async (t) => {
    const own = await startShop({
      collections: {
        authors: {
          unique: ["email"],
          schema: {
            type: "object",
            properties: { name: { type: "string" }, email: { type: "string", maxLength: 80 } },
          },
        },
      },
      seeds: {
        authors: [
          { id: "ada", name: "Ada Byron", email: "ada@example.org" },
          { id: "bob", name: "Bob Kahn", email: "bob@example.org" },
        ],
      },
    });
    t.after(() => own.stop());
    for (const [fragment, button] of [
      ["#/authors/bob", "Save changes"],
      ["#/authors/_new", "Create"],
    ] as const)
      await inConsole(
        own,
        fragment,
        async (page) => {
          await field(page, "email").fill("ada@example.org");
          await press(page, button);
          const notice = panelOf(page).getByRole("alert").filter({ hasText: "Not saved" });
          await notice.getByRole("link", { name: "Ada Byron" }).click();
          await pressInDialog(page, "Discard and leave");
          await addressEnds(page, "#/authors/ada");
          await until(
            "the other one is open",
            async () => (await field(page, "name").inputValue()) === "Ada Byron",
          );
        },
        { refused: [409] },
      );
  });

  test("shows both versions after a change by another client, and saves the choice", async () => {
    const steps = async (page: Page) => {
      await field(page, "title").fill("Mine");
      await changeAs(service, "articles/a001", { title: "Theirs", views: 99 });
      await press(page, "Save changes");
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("heading", { name: "changed this resource while you were editing" }).waitFor();
      await dialog.getByText("Theirs", { exact: true }).waitFor();
      await dialog.getByText(`was "${titleAt(1)}"`).waitFor();
      assert.equal((await read("a001")).title, "Theirs");
      await dialog.getByRole("radio", { name: "title: Your version" }).check();
      await pressInDialog(page, "Save as version 3");
      await dialog.waitFor({ state: "detached" });
      const { title, views } = await read("a001");
      assert.deepEqual({ title, views }, { title: "Mine", views: 99 });
    };
    await inConsole(service, "#/articles/a001", steps, { refused: [412] });
  });

  test("keeps the same draft in the form and in the JSON tab", async () => {
    await inConsole(service, "#/articles/a002", async (page) => {
      await field(page, "title").fill("From the form");
      await tab(page, "JSON");
      const editor = panelOf(page).locator(".cm-content");
      await editor.getByText("From the form").waitFor();
      await editor.fill('{"id":"a002","title":"From JSON","status":"published"}');
      await tab(page, "Attributes");
      assert.equal(await field(page, "title").inputValue(), "From JSON");
      assert.equal(await field(page, "status").inputValue(), "published");
      await press(page, "Save changes");
      await panelOf(page).getByText("Saved as version 2").waitFor();
      const { title, views } = await read("a002");
      assert.deepEqual({ title, views }, { title: "From JSON", views: undefined });
    });
  });

  test("says in the JSON tab which attribute cannot be changed, and puts its value back", async () => {
    await inConsole(service, "#/articles/a003", async (page) => {
      await tab(page, "JSON");
      const editor = panelOf(page).locator(".cm-content");
      await editor.fill('{"title":"Without an id"}');
      await panelOf(page).getByText("You changed id, but you cannot set this attribute.").waitFor();
      assert.equal(await panelOf(page).getByRole("button", { name: "Save changes" }).isDisabled(), true);
      await press(page, "Put the value back");
      await editor.getByText("a003").waitFor();
      await press(page, "Save changes");
      await panelOf(page).getByText("Saved as version 2").waitFor();
      const { title, views } = await read("a003");
      assert.deepEqual({ title, views }, { title: "Without an id", views: undefined });
    });
  });

  test("creates a resource with the id that its JSON has", async () => {
    await inConsole(service, "#/articles/_new", async (page) => {
      await panelOf(page).getByText("The service chooses the id, unless the JSON has one").waitFor();
      await tab(page, "JSON");
      await panelOf(page).locator(".cm-content").fill('{"id":"mine","title":"My own"}');
      await panelOf(page).getByText("The id will be mine").waitFor();
      await press(page, "Create");
      await until("the resource exists", async () => {
        return (await service.send({ path: "/api/v1/articles/mine" })).status === 200;
      });
      assert.equal((await read("mine")).title, "My own");
    });
  });

  test("opens what a reference refers to, and picks another one", async () => {
    await inConsole(service, "#/articles/a004", async (page) => {
      await until("the reference shows a name", async () => {
        return (await field(page, "author").inputValue()) === "Ada Byron";
      });
      await field(page, "author").click();
      await field(page, "author").fill("Bob");
      await page.getByRole("option", { name: "Bob Kahn" }).click();
      await press(page, "Save changes");
      await panelOf(page).getByText("Saved as version 2").waitFor();
      assert.equal((await read("a004")).author, "bob");
      await panelOf(page).getByRole("link", { name: "Open" }).click();
      await addressEnds(page, "#/authors/bob");
      await page.getByRole("heading", { name: "Bob Kahn" }).waitFor();
    });
  });

  test("shows what each version changed, and restores one", async () => {
    await changeAs(service, "articles/a005", { title: "Second" });
    await inConsole(service, "#/articles/a005/history", async (page) => {
      const second = panelOf(page).locator("li.line").filter({ hasText: "Version 2" });
      await second.getByText("title", { exact: false }).first().waitFor();
      assert.match(await second.innerText(), /Second/);
      const first = panelOf(page).locator("li.line").filter({ hasText: "Version 1" });
      await first.getByRole("button", { name: "Restore this version" }).click();
      await page.getByText("Version 1 is restored as version 3").waitFor();
      assert.equal((await read("a005")).title, titleAt(5));
    });
  });

  test("calls the first version of an imported resource created, and a restored one restored", async () => {
    const send = async (method: string, path: string, content?: object) => {
      const headers = { "Content-Type": "application/json", "If-Match": "*" };
      const answer = await service.send({
        method,
        path: `/api/v1/articles${path}`,
        ...(method !== "POST" && { headers }),
        ...(content !== undefined && { content }),
      });
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };
    await send("POST", "/_import", [{ id: "brought", title: "Brought" }]);
    const { etag } = (await send("GET", "/brought")).headers;
    assert.equal(etag, '"1"');
    await send("PUT", "/a008", { id: "a008", title: "Second" });
    await send("PUT", "/a008", { id: "a008", title: "Third" });
    await send("DELETE", "/a008");
    await send("POST", "/a008/_restore", { version: 2 });
    await inConsole(service, "#/articles/brought/history", async (page) => {
      const lines = panelOf(page).locator("li.line");
      await lines.getByText("created,").waitFor();
      assert.equal(await lines.count(), 1);
      assert.equal(await panelOf(page).getByText("no longer keeps").count(), 0);
    });
    await inConsole(service, "#/articles/a008/history", async (page) => {
      const lines = panelOf(page).locator("li.line .entry-head");
      await lines.first().waitFor();
      const verbs = (await lines.allInnerTexts()).map((each) => /restored|deleted|created/.exec(each)?.[0]);
      assert.deepEqual(verbs, ["restored", "deleted", undefined, undefined, "created"]);
      await lines.first().getByText("restored version 2,").waitFor();
    });
  });

  test("says when a resource was deleted, and where its versions are", async () => {
    const headers = { "If-Match": "*" };
    const answer = await service.send({ method: "DELETE", path: "/api/v1/articles/a009", headers });
    assert.ok(answer.status < 300, answer.text);
    const steps = async (page: Page) => {
      const notice = panelOf(page).getByRole("alert");
      await notice.getByText("This resource was deleted").waitFor();
      await notice.getByRole("button", { name: "History" }).click();
      await notice.getByText("Its versions are below.").waitFor();
      await press(page, "Restore this version");
      await notice.waitFor({ state: "detached" });
      assert.equal((await read("a009")).title, titleAt(9));
    };
    await inConsole(service, "#/articles/a009", steps, { refused: [404] });
  });

  test("deletes, and brings it back", async () => {
    const steps = async (page: Page) => {
      await panelOf(page).getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await pressInDialog(page, "Delete");
      await page.getByText(`Deleted ${titleAt(6)}`).waitFor();
      await panelOf(page).waitFor({ state: "detached" });
      assert.equal((await service.send({ path: "/api/v1/articles/a006" })).status, 404);
      await page.getByRole("button", { name: "Undo" }).click();
      await panelOf(page).waitFor();
      assert.equal((await read("a006")).title, titleAt(6));
    };
    await inConsole(service, "#/articles/a006", steps, { refused: [404] });
  });

  test("lists what was deleted, and brings it back from there", async () => {
    const headers = { "If-Match": "*" };
    await service.send({ method: "DELETE", path: "/api/v1/articles/a011", headers });
    await inConsole(service, "#/articles", async (page) => {
      await page.getByRole("button", { name: "Deleted", exact: true }).click();
      const dialog = page.getByRole("dialog");
      const line = dialog.getByRole("listitem").filter({ hasText: titleAt(11) });
      await line.getByRole("button", { name: "Restore" }).click();
      await page.getByText(`Restored ${titleAt(11)}`).waitFor();
      await line.waitFor({ state: "detached" });
      assert.equal((await read("a011")).title, titleAt(11));
    });
  });

  test("an undo of a delete replaces nothing that others have written since", async () => {
    const steps = async (page: Page) => {
      await panelOf(page).getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await pressInDialog(page, "Delete");
      await page.getByRole("button", { name: "Undo" }).waitFor();
      const path = "/api/v1/articles/a004";
      await service.send({ method: "POST", path: `${path}/_restore`, content: { version: 1 } });
      await service.send({ method: "PATCH", path, content: { title: "Changed by others" } });
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("it was restored in the meantime").waitFor();
      assert.equal(await page.getByText("Someone else").count(), 0, "it can be the same person");
      assert.equal((await read("a004")).title, "Changed by others");
    };
    await inConsole(service, "#/articles/a004", steps, { refused: [404] });
  });

  test("shows who can do what", async () => {
    await inConsole(service, "#/articles/a007/access", async (page) => {
      for (const operation of ["read", "update", "delete", "list", "create"]) {
        const line = panelOf(page)
          .locator("li.why")
          .filter({ has: page.locator("b", { hasText: operation }) });
        await line.getByLabel("Allowed", { exact: true }).waitFor();
      }
    });
  });

  test("creates a resource", async () => {
    const steps = async (page: Page) => {
      await page.getByRole("button", { name: "New resource" }).click();
      await press(page, "Create");
      await panelOf(page).getByText("Not saved").waitFor();
      await field(page, "title").fill("A new one");
      await press(page, "Create");
      await rowOf(page, "A new one").waitFor();
      await until("the address has the id", () => /#\/articles\/[0-9a-f-]{36}$/.test(page.url()));
      const id = page.url().split("/").at(-1) ?? "";
      assert.equal((await read(id)).title, "A new one");
    };
    await inConsole(service, "#/articles", steps, { refused: [400] });
  });
});

/** Presses a button of the panel. */
function press(page: Page, name: string): Promise<void> {
  return panelOf(page).getByRole("button", { name, exact: true }).click();
}

function tab(page: Page, name: string): Promise<void> {
  return panelOf(page).getByRole("tab", { name }).click();
}
