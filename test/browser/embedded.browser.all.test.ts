/** The pages of a service inside an application of Fastify, in a real browser. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signInPageTexts as texts } from "../../console/src/sign-in/sign-in-page-texts.ts";
import type { People } from "../capabilities/users/http/people.ts";
import { startWithUsers } from "../http/embedded.ts";
import { until } from "../until.ts";
import { faultsIn, field, heading, openPage, press, skip } from "./sign-in-page.ts";

describe("the pages of an application", { skip }, () => {
  test("people sign up on its page, and the page for trying requests sends theirs below the prefix, in their session", async (t) => {
    const { origin, mails } = await startWithUsers(t, {}, "127.0.0.1", "/shop");
    const people = { service: { origin } } as People;
    const { page, errors } = await openPage(t, people, { path: "/shop/api/v1/_sign-in" });
    await page.getByRole("link", { name: texts.signUp }).click();
    await heading(page, texts.signUp);
    await field(page, texts.email).fill("ada@example.org");
    await field(page, texts.newPassword).fill("correct horse battery");
    await press(page, texts.signUp);
    await heading(page, texts.enterCode);
    await until("the mail is there", async () => (await mails()).length === 1);
    const [mail = ""] = await mails();
    await page.goto(/http:\S+/.exec(mail)?.[0] ?? "");
    await press(page, texts.finish.signUp);
    await heading(page, texts.account); // the session is there

    const { origin: own } = new URL(page.url());
    for (const [method, status] of [
      ["GET", 200],
      ["POST", 201], // needs a credential
    ] as const) {
      const operation = `${method}/shop/api/v1/notes`;
      await page.goto(`${own}/shop/api/v1/docs#tag/notes/${operation}`);
      await page.reload();
      await page.waitForSelector("h1");
      await page.locator(`section[id$="/${operation}"] .show-api-client-button`).click();
      const answered = page.waitForResponse(
        (response) =>
          response.request().method() === method && new URL(response.url()).pathname.endsWith("/notes"),
      );
      await page.locator('[role="dialog"]').getByRole("button", { name: "Send" }).first().click();
      const response = await answered;
      assert.equal(new URL(response.url()).pathname, "/shop/api/v1/notes");
      assert.equal(response.status(), status, operation);
    }
    assert.deepEqual(faultsIn(errors), []);
  });
});
