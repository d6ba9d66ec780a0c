/** The account of a user on the page at /_sign-in in a real browser: profile, second factor, passkeys and providers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signInPageTexts as texts } from "../../console/src/sign-in/sign-in-page-texts.ts";
import { codeAt } from "../capabilities/users/http/authenticator-app.ts";
import { goodPassword } from "../capabilities/users/http/people.ts";
import { startOpenId } from "../capabilities/users/http/provider-servers.ts";
import { machineTime } from "../until.ts";
import { addAuthenticator, type Page } from "./browser.ts";
import { tabTo } from "./console/focus.ts";
import {
  axe,
  faultsIn,
  field,
  heading,
  openPage,
  ownOrigin,
  press,
  signIn,
  skip,
  start,
} from "./sign-in-page.ts";

const ada = "ada@example.org";

async function judge(page: Page): Promise<void> {
  await page.evaluate(axe);
  const faults = await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
  );
  assert.deepEqual(faults, []);
  const isTooWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
  assert.equal(await page.evaluate(isTooWide), false);
}

const onPhone = { bypassCSP: true, viewport: { width: 390, height: 844 } };

describe("the account on the page for signing in", { skip }, () => {
  test("somebody sets an app up by keyboard, and signs in with its code and with a recovery code", async (t) => {
    let ahead = 0;
    const people = await start(t, { now: () => machineTime() + ahead });
    await people.join(ada, { profile: { name: "Ada" } });
    const { page, errors } = await openPage(t, people, { options: onPhone });
    await signIn(page, ada, goodPassword);
    await heading(page, texts.account);
    await page.keyboard.press("Tab"); // from the heading
    await tabTo(page, ({ text }) => text === texts.addTotp);
    await page.keyboard.press("Enter");
    await heading(page, texts.addTotp);
    await page.getByRole("img", { name: texts.picture }).waitFor();
    await judge(page);
    const secret = (await page.locator(".secret-text").innerText()).replaceAll(" ", "");
    await page.keyboard.type("000000");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: /\S/ }).first().waitFor();
    await field(page, texts.totp).fill(codeAt(secret, machineTime() + ahead));
    await page.keyboard.press("Enter");
    await heading(page, texts.codesTitle);
    await judge(page);
    const codes = await page.locator(".codes li").allInnerTexts();
    assert.equal(codes.length, 10);
    await press(page, texts.codesSaved);
    await heading(page, texts.account);
    await page.getByText(texts.codesLeft(10)).waitFor();
    assert.ok(!(await page.content()).includes(codes[0] ?? "none"), "the codes are shown once");
    await judge(page);

    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    ahead += 60_000;
    await signIn(page, ada, goodPassword);
    await heading(page, texts.secondFactor);
    await judge(page);
    await page.keyboard.type(codeAt(secret, machineTime() + ahead));
    await page.keyboard.press("Enter");
    await heading(page, texts.account);

    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    await signIn(page, ada, goodPassword);
    await heading(page, texts.secondFactor);
    await press(page, texts.startAgain);
    await heading(page, texts.signIn);
    await signIn(page, ada, goodPassword);
    await press(page, texts.useRecoveryCode);
    await field(page, texts.recoveryCode).fill(codes[0] ?? "");
    await page.keyboard.press("Enter");
    await heading(page, texts.account);
    await page.getByText(texts.codesLeft(9)).waitFor();
    await page.getByRole("button", { name: texts.removeOf(texts.app) }).click();
    await page.getByText(texts.removed).waitFor();
    assert.deepEqual(faultsIn(errors), []);
  });

  test("where a second factor is required, the account asks for it before anything else", async (t) => {
    const people = await start(t, { users: { secondFactor: "required" } });
    await people.join(ada, { profile: { name: "Ada" } });
    const query = new URLSearchParams({ return: "/api/v1/users?limit=1" });
    const { page } = await openPage(t, people, { path: `/_sign-in?${query}` });
    await signIn(page, ada, goodPassword);
    await page.getByText(texts.mustAdd).waitFor();
    await press(page, texts.addTotp);
    const secret = (await page.locator(".secret-text").innerText()).replaceAll(" ", "");
    await field(page, texts.totp).fill(codeAt(secret, machineTime()));
    await page.keyboard.press("Enter");
    await press(page, texts.codesSaved);
    await page.waitForURL(`${ownOrigin(people)}/api/v1/users?limit=1`);
  });

  test("a passkey is offered once after a sign-in, and declined by keyboard", async (t) => {
    const people = await start(t, { users: { methods: ["password", "email", "passkey"] } });
    const bob = "bob@example.org";
    for (const email of [ada, bob]) await people.join(email, { profile: { name: "Ada" } });
    const target = "/api/v1/users?limit=1";
    const path = `/_sign-in?${new URLSearchParams({ return: target })}`;
    const { page, errors } = await openPage(t, people, { path, options: onPhone });
    const again = async (email: string) => {
      await page.context().clearCookies();
      await page.goto(ownOrigin(people) + path);
      await signIn(page, email, goodPassword);
    };
    await signIn(page, ada, goodPassword); // this device cannot make one yet
    await page.waitForURL(ownOrigin(people) + target);
    await addAuthenticator(page);
    await again(ada);
    await heading(page, texts.offer);
    await judge(page);
    await page.keyboard.press("Tab"); // from the heading
    await tabTo(page, ({ text }) => text === texts.notNow);
    await page.keyboard.press("Enter");
    await page.waitForURL(ownOrigin(people) + target);
    await again(ada);
    await page.waitForURL(ownOrigin(people) + target);
    await again(bob); // another user of this browser
    await heading(page, texts.offer);
    await page.keyboard.press("Tab"); // from the heading
    await tabTo(page, ({ text }) => text === texts.addPasskey);
    await page.keyboard.press("Enter");
    await page.waitForURL(ownOrigin(people) + target);
    await again(bob);
    await page.waitForURL(ownOrigin(people) + target);
    assert.deepEqual(faultsIn(errors), []);
  });

  test("no passkey is offered where they are no way to sign in", async (t) => {
    const people = await start(t);
    await people.join(ada, { profile: { name: "Ada" } });
    const { page } = await openPage(t, people);
    await addAuthenticator(page);
    await signIn(page, ada, goodPassword);
    await heading(page, texts.account);
  });

  test("a passkey is added, signs in without a password, and confirms", async (t) => {
    let ahead = 0;
    const people = await start(t, {
      now: () => machineTime() + ahead,
      users: { methods: ["password", "email", "passkey"] },
    });
    await people.join(ada, { profile: { name: "Ada" } });
    const { page, errors } = await openPage(t, people);
    await signIn(page, ada, goodPassword);
    await heading(page, texts.account);
    await addAuthenticator(page);
    await press(page, texts.addPasskey);
    await page.getByText(texts.added).waitFor();
    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    await press(page, texts.withPasskey);
    await heading(page, texts.account);
    ahead = 11 * 60_000;
    await page.getByRole("button", { name: texts.removeOf(texts.passkey) }).click();
    await heading(page, texts.confirm);
    await press(page, texts.usePasskey);
    await page.getByText(texts.removed).waitFor();
    assert.deepEqual(faultsIn(errors), []);
  });

  test("the texts of the profile can be changed", async (t) => {
    const own = { read: "public", update: { where: { id: "$subject" } } } as const;
    const properties = { name: { type: "string", minLength: 2 }, about: { type: "string" } };
    const schema = { type: "object", required: ["name"], properties };
    const people = await start(t, { collections: { users: { schema, access: own } } });
    const { user } = await people.join(ada, { profile: { name: "Ada", about: "Counts" } });
    const { page } = await openPage(t, people);
    await signIn(page, ada, goodPassword);
    await heading(page, texts.account);
    await field(page, "Name").fill("A");
    await press(page, texts.saveProfile);
    await page.locator(".fault").filter({ hasText: "must" }).waitFor();
    await field(page, "Name").fill("Ada Lovelace");
    await field(page, texts.optional("About")).fill("");
    await press(page, texts.saveProfile);
    await page.getByText(texts.saved).waitFor();
    const { json } = await people.service.send({ path: `/api/v1/users/${user.id}` });
    const { name, about } = json as { name: string; about?: string };
    assert.deepEqual([name, about], ["Ada Lovelace", undefined]);
  });

  test("an unknown identity at a provider is linked after a sign-in, and signs in from then on", async (t) => {
    const google = await startOpenId(t, { name: "google", label: "Google" });
    google.person = { sub: "1", email: ada, email_verified: true };
    const methods = ["password", "email", "providers"] as const;
    const people = await start(t, { users: { methods: [...methods], providers: [google.settings] } });
    await people.join(ada, { profile: { name: "Ada" } });
    const { page } = await openPage(t, people);
    await page.getByRole("link", { name: texts.withProvider("Google") }).click();
    await page.getByText(texts.linkHint("Google")).waitFor();
    assert.doesNotMatch(page.url(), /link=/);
    assert.equal(await field(page, texts.email).inputValue(), ada);
    await field(page, texts.password).fill(goodPassword);
    await page.keyboard.press("Enter");
    await page.getByText(texts.linked("Google")).waitFor();
    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    await page.getByRole("link", { name: texts.withProvider("Google") }).click();
    await heading(page, texts.account);
    await page.getByRole("button", { name: texts.removeOf("Google") }).click();
    await page.getByText(texts.removed).waitFor();
  });

  test("somebody changes the address, with the code in the mail to the new one", async (t) => {
    const later = "ada@example.net";
    const people = await start(t);
    await people.join(ada, { profile: { name: "Ada" } });
    const { page, errors } = await openPage(t, people, { options: onPhone });
    await signIn(page, ada, goodPassword);
    await heading(page, texts.account);
    await field(page, texts.newAddress).fill(later);
    await page.keyboard.press("Enter");
    await heading(page, texts.changeAddress);
    await judge(page);
    await field(page, texts.code).fill(await people.codeFor(later));
    await page.keyboard.press("Enter");
    await page.getByText(texts.addressChanged).waitFor();
    await page.getByText(later).first().waitFor();
    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    await signIn(page, later, goodPassword);
    await heading(page, texts.account);
    assert.deepEqual(faultsIn(errors), []);
  });
});
