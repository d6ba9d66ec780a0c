/** What administrators do with the accounts of users in the console, signed in with an account of their own. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { signInPageTexts } from "../../../console/src/sign-in/sign-in-page-texts.ts";
import { administrationTexts, listTexts, signInTexts, texts } from "../../../console/src/texts.ts";
import {
  bearer,
  bodyOf,
  codeShape,
  goodPassword,
  type People,
  problemOf,
  startPeople,
} from "../../capabilities/users/http/people.ts";
import { startOpenId, TestBrowser } from "../../capabilities/users/http/provider-servers.ts";
import { machineTime, until } from "../../until.ts";
import { inConsole, pressInDialog, skip } from "./console-page.ts";
import { focusOf, tabTo } from "./focus.ts";

const { accounts, mail } = administrationTexts;
const root = "root@root.example";
const ada = "ada@example.org";

/** A service in which the addresses of one domain administer. */
async function start(
  t: TestContext,
  { users, ...options }: Pick<NonNullable<Parameters<typeof startPeople>[1]>, "now" | "users"> = {},
): Promise<People> {
  const people = await startPeople(t, {
    ...options,
    // What drives the browser runs in the thread of the service.
    console: true,
    users: { signUp: { domains: ["root.example"], roles: ["ops"] }, roles: ["editor", "ops"], ...users },
  });
  await people.join(root, { profile: { name: "Root" } });
  return people;
}

/** Opens the console at a page, and signs in there with the account of an administrator. */
function asRoot(
  { service }: People,
  fragment: string,
  steps: (page: Page) => Promise<void>,
  options: { width?: number } = {},
): Promise<void> {
  const origin = service.origin.replace("127.0.0.1", "localhost");
  const whole = async (page: Page) => {
    await page.getByRole("button", { name: texts.signIn }).first().click();
    await page.getByRole("link", { name: signInTexts.withAccount }).click();
    await page.getByLabel(signInPageTexts.email, { exact: true }).fill(root);
    await page.getByLabel(signInPageTexts.password, { exact: true }).fill(goodPassword);
    await page.keyboard.press("Enter");
    await page.getByTitle(listTexts.signedInAs(root)).waitFor({ state: "attached" });
    await steps(page);
  };
  return inConsole({ origin }, fragment, whole, { refused: [400, 401, 404, 409, 412], ...options });
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Fails if axe-core finds a fault in the dialog that is open, or in the page. */
async function judge(page: Page, screen: string): Promise<void> {
  await page.evaluate(axe);
  await until("the page is still", () =>
    page.evaluate<boolean>(
      "document.getAnimations().every(({ playState, effect }) => playState !== 'running' || effect.getTiming().iterations === Infinity)",
    ),
  );
  const found = await page.evaluate<string[]>(
    "axe.run(document.querySelector('[role=dialog], [role=menu]') ?? document).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 160), nodes[0].failureSummary].join(' ')))",
  );
  assert.deepEqual(found, [], screen);
  const by = await page.evaluate<number>("document.scrollingElement.scrollWidth - innerWidth");
  assert.ok(by <= 0, `${screen} is ${by} pixels too wide`);
}

const dialogOf = (page: Page) => page.getByRole("dialog");

function rowWith(page: Page, email: string) {
  const actions = page.getByRole("button", { name: administrationTexts.actionsOf(email), exact: true });
  return page.getByRole("row").filter({ has: actions });
}

/** Chooses an action of an account, by keyboard. */
async function act(page: Page, email: string, action: string): Promise<void> {
  await page.getByRole("button", { name: administrationTexts.actionsOf(email) }).focus();
  await page.keyboard.press("Enter");
  const item = page.getByRole("menuitem", { name: action, exact: true });
  await item.waitFor();
  await until(`the focus is at ${action}`, async () => {
    if ((await focusOf(page)).text === action) return true;
    await page.keyboard.press("ArrowDown");
    return false;
  });
  await page.keyboard.press("Enter");
  await dialogOf(page).waitFor();
  await item.waitFor({ state: "detached" });
}

const closed = (page: Page) => dialogOf(page).waitFor({ state: "detached" });

describe("the accounts in the console", { skip }, () => {
  test("an administrator invites a person by keyboard, and withdraws an invitation", async (t) => {
    const people = await start(t);
    await asRoot(people, "#/_accounts", async (page) => {
      await rowWith(page, root).waitFor();
      await tabTo(page, ({ text }) => text === accounts.invite);
      await page.keyboard.press("Enter");
      await dialogOf(page).waitFor();
      await judge(page, "invite");
      await page.keyboard.type("no address");
      await page.keyboard.press("Enter");
      await dialogOf(page).locator(".mantine-InputWrapper-error").waitFor();
      await tabTo(page, ({ label }) => label === accounts.columns.email);
      await page.keyboard.press("Control+A");
      await page.keyboard.type(ada);
      await page.keyboard.press("Enter");
      await closed(page);
      await rowWith(page, ada).waitFor();
      await until("the invitation is mailed", () => people.mails.some(({ to }) => to === ada));
      await judge(page, "invitations");
      await act(page, ada, accounts.withdraw);
      await pressInDialog(page, accounts.withdraw);
      await page.getByText(accounts.noInvitations).waitFor();
    });
  });

  test("an administrator changes, signs out, resets, disables and deletes an account", async (t) => {
    const people = await start(t);
    const { post, service } = people;
    const signUp = await service.send({ path: "/api/v1/_auth" });
    assert.equal(signUp.status, 200);
    const { token, user } = await people.join("bob@root.example", { profile: { name: "Bob" } });
    const email = user.email;
    const isIn = async () =>
      (await service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) })).status === 200;
    await asRoot(people, "#/_accounts", async (page) => {
      await rowWith(page, email).waitFor();
      await judge(page, "accounts");

      await act(page, email, accounts.edit);
      await dialogOf(page).getByLabel(accounts.columns.email).fill("bob@");
      await pressInDialog(page, accounts.doSave);
      await dialogOf(page).locator(".mantine-InputWrapper-error").waitFor();
      await dialogOf(page).getByLabel(accounts.columns.email).fill("bob@example.net");
      await dialogOf(page).getByLabel(accounts.columns.claims).fill('{"tenant": "acme"');
      await judge(page, "change");
      await pressInDialog(page, accounts.doSave);
      await dialogOf(page).getByText(accounts.notAnObject).waitFor();
      await dialogOf(page).getByLabel(accounts.columns.claims).fill('{"tenant": "acme"}');
      await dialogOf(page).getByRole("combobox", { name: accounts.columns.roles }).click();
      await page.getByRole("option", { name: "editor" }).click();
      await page.keyboard.press("Escape");
      await pressInDialog(page, accounts.doSave);
      await closed(page);
      await rowWith(page, email).getByText('{"tenant":"acme"}').waitFor();
      await until("the new address gets a mail", () =>
        people.mails.some(({ to }) => to === "bob@example.net"),
      );
      await rowWith(page, email).getByText("editor", { exact: true }).waitFor();

      const claims = {
        method: "PATCH",
        path: `/api/v1/_accounts/${user.id}`,
        content: { claims: { tenant: "acme", x: 1 } },
      };
      const { token: rootToken } = bodyOf<{ token: string }>(
        await post("sign-in", { email: root, password: goodPassword }),
      );
      const type = { "content-type": "application/merge-patch+json" };
      await act(page, email, accounts.edit);
      await dialogOf(page).getByLabel(accounts.columns.claims).fill('{"tenant": "other"}');
      const other = await service.send({ ...claims, headers: { ...bearer(rootToken), ...type } });
      assert.equal(other.status, 200, other.text);
      await pressInDialog(page, accounts.doSave);
      await dialogOf(page).getByText(accounts.changed).waitFor();
      await rowWith(page, email).getByText('{"tenant":"acme","x":1}').waitFor();
      // The form stays about the version that it shows, although the list behind it was read again.
      const refused = page.waitForResponse((each) => each.request().method() === "PATCH");
      await pressInDialog(page, accounts.doSave);
      assert.equal((await refused).status(), 412);
      await pressInDialog(page, texts.cancel);
      await closed(page);

      await act(page, email, accounts.edit);
      await dialogOf(page).getByLabel(accounts.columns.claims).fill("");
      await pressInDialog(page, accounts.doSave);
      await closed(page);
      await rowWith(page, email).getByText('"tenant"').waitFor({ state: "detached" });

      const search = page.getByRole("searchbox", { name: accounts.find });
      await search.fill("nobody@root.example");
      await search.press("Enter");
      await page.getByText(accounts.noneWith("nobody@root.example")).waitFor();
      await judge(page, "no such address");
      await search.fill("BOB@root.example");
      await search.press("Enter");
      await rowWith(page, email).waitFor();
      assert.equal(await rowWith(page, root).count(), 0);
      await search.fill("");
      await rowWith(page, root).waitFor();

      const key = { name: "backup", expiresAt: new Date(machineTime() + 86_400_000).toISOString() };
      assert.equal((await post("sessions", key, bearer(token))).status, 201);
      await act(page, email, accounts.sessions);
      await dialogOf(page).getByText(accounts.programKey("backup")).waitFor();
      await dialogOf(page).getByRole("columnheader", { name: accounts.session.network }).waitFor();
      await judge(page, "sessions");
      await pressInDialog(page, texts.close);
      await closed(page);

      // This service has no providers.
      await act(page, email, accounts.identities);
      await dialogOf(page).getByText(accounts.noIdentities).waitFor();
      await pressInDialog(page, texts.close);
      await closed(page);

      assert.equal(await isIn(), true);
      await act(page, email, accounts.actions.signOut.action);
      assert.equal(await isIn(), true, "the dialog only asks");
      await pressInDialog(page, accounts.actions.signOut.action);
      await closed(page);
      await until("the session has ended", async () => !(await isIn()));

      await act(page, email, accounts.actions.disable.action);
      await pressInDialog(page, accounts.actions.disable.action);
      await rowWith(page, email).getByText(accounts.disabled, { exact: true }).waitFor();
      const asked = { email, password: goodPassword };
      assert.equal(problemOf(await post("sign-in", asked)), "401 SIGN_IN_FAILED");
      await act(page, email, accounts.actions.enable.action);
      await pressInDialog(page, accounts.actions.enable.action);
      await rowWith(page, email).getByText(accounts.disabled, { exact: true }).waitFor({ state: "detached" });
      assert.equal((await post("sign-in", asked)).status, 200);

      await act(page, email, accounts.actions.resetFactors.action);
      await pressInDialog(page, accounts.actions.resetFactors.action);
      await closed(page);

      await act(page, email, accounts.actions.reset.action);
      await pressInDialog(page, accounts.actions.reset.action);
      await closed(page);
      assert.equal(problemOf(await post("sign-in", asked)), "401 SIGN_IN_FAILED");

      await act(page, email, accounts.actions.remove.action);
      await judge(page, "delete");
      await pressInDialog(page, accounts.actions.remove.action);
      await rowWith(page, email).waitFor({ state: "detached" });
      assert.equal((await service.send({ path: `/api/v1/users/${user.id}` })).status, 200);

      await act(page, root, accounts.actions.disable.action);
      await pressInDialog(page, accounts.actions.disable.action);
      await dialogOf(page).getByRole("alert").getByText("This is the last account").waitFor();
    });
  });

  test("an administrator sees the identities of a user, and removes one", async (t) => {
    const work = await startOpenId(t, { trustEmail: true });
    const people = await start(t, {
      users: { methods: ["password", "email", "providers"], providers: [work.settings] },
    });
    const email = "bob@root.example";
    work.person = { sub: "1", email, email_verified: true };
    const browser = new TestBrowser(people.service);
    await browser.signIn("work");
    assert.equal((await browser.user())?.email, email);
    await asRoot(people, "#/_accounts", async (page) => {
      await act(page, root, accounts.identities);
      await dialogOf(page).getByText(accounts.noIdentities).waitFor();
      await pressInDialog(page, texts.close);
      await closed(page);
      await act(page, email, accounts.identities);
      await dialogOf(page).getByRole("cell", { name: "work", exact: true }).waitFor();
      await dialogOf(page).getByRole("cell", { name: email, exact: true }).waitFor();
      await judge(page, "identities");
      const remove = dialogOf(page).getByRole("button", { name: accounts.unlinkOf("work", email) });
      await remove.click();
      await pressInDialog(page, texts.cancel);
      await remove.click();
      await dialogOf(page).getByText(accounts.unlinkTitle("work", email)).waitFor();
      await pressInDialog(page, accounts.unlink);
      await dialogOf(page).getByText(accounts.noIdentities).waitFor();
    });
    await until("the session of the user has ended", async () => (await browser.user()) === undefined);
  });

  test("a long list is read page by page, also on a small screen", async (t) => {
    const people = await start(t);
    const { token } = await people.join("ops@root.example");
    for (let n = 0; n < 101; n++) {
      const content = { email: `guest${n}@example.org` };
      const headers = bearer(token);
      const path = "/api/v1/_invitations";
      assert.equal((await people.service.send({ method: "POST", path, content, headers })).status, 201);
    }
    const steps = async (page: Page) => {
      await page.getByText(accounts.invited, { exact: true }).click();
      const guests = page.getByRole("button", { name: administrationTexts.actionsOf("guest") });
      await guests.first().waitFor();
      assert.equal(await guests.count(), 100);
      await judge(page, "a long list");
      await page.getByRole("button", { name: accounts.more }).click();
      await until("the list is complete", async () => (await guests.count()) === 101);
      assert.equal(await page.getByRole("button", { name: accounts.more }).count(), 0);
    };
    await asRoot(people, "#/_accounts", steps, { width: 390 });
  });

  test("the audit shows what has happened, and only one kind of it if asked", async (t) => {
    let ahead = 0;
    const people = await start(t, { now: () => machineTime() + ahead });
    // Equal failures share an entry if they come in the same minute, so a minute begins here.
    ahead = 60_000 - (machineTime() % 60_000);
    for (let n = 0; n < 2; n++) await people.post("sign-in", { email: root, password: "a wrong password" });
    const { audit } = administrationTexts;
    await asRoot(people, "#/_audit", async (page) => {
      await page.getByText(audit.results.failed, { exact: true }).waitFor();
      await page.getByText(audit.times(2), { exact: true }).waitFor();
      const signUp = page.getByRole("cell", { name: audit.kinds.signUp, exact: true });
      await signUp.waitFor();
      await judge(page, "audit");
      await page.getByRole("combobox", { name: audit.kind }).click();
      await page.getByRole("option", { name: audit.kinds.signIn, exact: true }).click();
      await signUp.waitFor({ state: "detached" });
      await page.getByText(audit.results.failed, { exact: true }).waitFor();
    });
  });

  test("the mails of a local service are in the console, and its user can sign out there", async (t) => {
    const people = await start(t);
    await asRoot(people, "#/_mail", async (page) => {
      const { subject, text } = people.mails.at(-1) ?? { subject: "", text: "" };
      await page.getByText(subject, { exact: true }).waitFor();
      const code = codeShape.exec(text)?.[0] ?? "";
      await page.getByText(mail.to(root)).first().waitFor();
      assert.ok((await page.locator(".mail-text").first().innerText()).includes(code));
      await judge(page, "mail");
      await tabTo(page, ({ label }) => label === texts.signOut);
      await page.keyboard.press("Enter");
      await page.getByText(signInTexts.notSignedIn).waitFor();
      const answer = (await page.evaluate("fetch('/api/v1/_auth').then((each) => each.json())")) as object;
      assert.ok(!("user" in answer), "the session has ended");
    });
  });
});
