/** The page at /_sign-in in a real browser: people sign up, in and out, without a line of code of the application. */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { agentName } from "../../console/src/sign-in/agent-name.ts";
import { returnTarget } from "../../console/src/sign-in/return-target.ts";
import { signInPageTexts as texts } from "../../console/src/sign-in/sign-in-page-texts.ts";
import { signInTexts } from "../../console/src/texts.ts";
import { bearer, goodPassword, type People } from "../capabilities/users/http/people.ts";
import { machineTime, until } from "../until.ts";
import type { Page } from "./browser.ts";
import { focusOf, notLost, tabTo } from "./console/focus.ts";
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

const otherPassword = "battery staple correct horse";

async function signUp(page: Page, email: string, name: string): Promise<void> {
  await page.getByRole("link", { name: texts.signUp }).click();
  await heading(page, texts.signUp);
  await field(page, "Name").fill(name);
  await field(page, texts.email).fill(email);
  await field(page, texts.newPassword).fill(goodPassword);
  await press(page, texts.signUp);
  await heading(page, texts.enterCode);
}

/** The link in the last mail to an address. */
function linkIn({ mails }: People, email: string): string {
  const { text = "" } = mails.findLast(({ to }) => to === email) ?? {};
  return /http\S+/.exec(text)?.[0] ?? "";
}

async function hasSession(page: Page): Promise<boolean> {
  const answer = await page.evaluate("fetch('/api/v1/_auth').then((answer) => answer.json())");
  return (answer as { user?: object }).user !== undefined;
}

/** A service whose administrators have an address at root.example. All others need an invitation. */
const withAdministrator = {
  users: { signUp: { domains: ["root.example"], roles: ["ops"] } },
  collections: {
    users: {
      schema: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, about: { type: "string" } },
      },
      access: { read: "public", create: { role: "ops" } },
    },
  },
} as const;

/** Invites somebody, and opens the link of the mail. */
async function openInvitation(t: TestContext, people: People, content: object): Promise<Page> {
  const wanted = { email: "ada@example.org", ...content };
  const profile = { name: "Root" };
  const { token } = await people.join(`${crypto.randomUUID()}@root.example`, { profile });
  const headers = bearer(token);
  const made = { method: "POST", path: "/api/v1/_invitations", content: wanted, headers };
  const invited = await people.service.send(made);
  assert.equal(invited.status, 201, invited.text);
  await until("the invitation is mailed", () => linkIn(people, wanted.email) !== "");
  const { pathname, hash } = new URL(linkIn(people, wanted.email));
  const { page } = await openPage(t, people, { path: `${pathname}${hash}` });
  await page.getByText(texts.invitedHint).waitFor();
  return page;
}

describe("the page for signing in", { skip }, () => {
  test("an invited person opens the link, and signs up with the code that follows", async (t) => {
    const people = await start(t, withAdministrator);
    const page = await openInvitation(t, people, { profile: { about: "Counts" } });
    assert.equal(new URL(page.url()).hash, "#sign-up", "the token is not in the address");
    await field(page, "Name").fill("Ada");
    await field(page, texts.newPassword).fill(goodPassword);
    await press(page, texts.signUp);
    await heading(page, texts.enterCode);
    await field(page, texts.code).fill(await people.codeFor("ada@example.org", 1));
    await press(page, texts.finish.signUp);
    await heading(page, texts.account);
  });

  test("profiles without a schema need nothing: a person signs up and sees the account", async (t) => {
    const collections = {
      users: { access: { read: "public", update: { where: { id: "$subject" } } } },
    } as const;
    const people = await start(t, { collections });
    const { page, errors } = await openPage(t, people);
    await page.getByRole("link", { name: texts.signUp }).click();
    await heading(page, texts.signUp);
    await field(page, texts.email).fill("ada@example.org");
    await field(page, texts.newPassword).fill(goodPassword);
    await press(page, texts.signUp);
    await field(page, texts.code).fill(await people.codeFor("ada@example.org"));
    await press(page, texts.finish.signUp);
    await heading(page, texts.account);
    assert.deepEqual(faultsIn(errors), []);
  });

  test("an invitation for a profile that exists, or with all its attributes, asks for none of them", async (t) => {
    const people = await start(t, withAdministrator);
    const { json } = await people.service.send({
      method: "POST",
      path: "/api/v1/users",
      content: { name: "Ada" },
      headers: bearer((await people.join("root@root.example", { profile: { name: "Root" } })).token),
    });
    for (const [n, content] of [
      { user: (json as { id: string }).id },
      { profile: { name: "Ada" } },
    ].entries()) {
      const email = `ada${n}@example.org`;
      const page = await openInvitation(t, people, { ...content, email });
      assert.equal(await field(page, texts.email).inputValue(), email);
      assert.equal((await focusOf(page)).label, texts.newPassword);
      await page.keyboard.type(goodPassword);
      await page.keyboard.press("Enter");
      await heading(page, texts.enterCode);
      await field(page, texts.code).fill(await people.codeFor(email, 1));
      await press(page, texts.finish.signUp);
      await heading(page, texts.account);
    }
    const users = await people.service.send({ path: "/api/v1/users?name=Ada" });
    assert.equal((users.json as object[]).length, 2, "the profile that existed, and a new one");
  });

  test("a new address from an administrator counts after its code, and the account keeps its password", async (t) => {
    const people = await start(t, withAdministrator);
    const root = await people.join("root@root.example", { profile: { name: "Root" } });
    const email = "ada@example.org";
    const page = await openInvitation(t, people, { profile: { name: "Ada" } });
    await field(page, texts.newPassword).fill(goodPassword);
    await press(page, texts.signUp);
    await field(page, texts.code).fill(await people.codeFor(email, 1));
    await press(page, texts.finish.signUp);
    await heading(page, texts.account);
    const headers = bearer(root.token);
    const path = `/api/v1/_accounts?email=${encodeURIComponent(email)}`;
    const { accounts } = (await people.service.send({ path, headers })).json as {
      accounts: { id: string }[];
    };
    const later = "ada.later@example.org";
    const changed = await people.service.send({
      method: "PATCH",
      path: `/api/v1/_accounts/${accounts[0]?.id}`,
      content: { email: later },
      headers: { ...headers, "Content-Type": "application/merge-patch+json" },
    });
    assert.equal(changed.status, 200, changed.text);
    await until("the link is mailed", () => linkIn(people, later) !== "");
    const { pathname, hash } = new URL(linkIn(people, later));
    const { page: other } = await openPage(t, people, { path: `${pathname}${hash}` });
    await heading(other, texts.changeAddress);
    await other.getByText(texts.newAddressHint).waitFor();
    assert.equal(await other.locator("input").count(), 1, "the address alone");
    await press(other, texts.changeAddress);
    await field(other, texts.code).fill(await people.codeFor(later, 1));
    await press(other, texts.finish.signUp);
    await heading(other, texts.account);
    assert.equal((await people.post("sign-in", { email: later, password: goodPassword })).status, 200);
    assert.equal((await people.post("sign-in", { email, password: goodPassword })).status, 401);
  });

  test("the link of an invitation that has ended says so at once", async (t) => {
    const people = await start(t);
    const { page } = await openPage(t, people, { path: `/_sign-in#invitation=${"A".repeat(43)}` });
    await heading(page, texts.signIn);
    await page.getByRole("alert").getByText("The invitation has expired").waitFor();
  });

  test("somebody signs up with the code of the mail, out, and in again", async (t) => {
    const people = await start(t);
    const { page, errors } = await openPage(t, people);
    await signUp(page, "ada@example.org", "Ada");
    await field(page, texts.code).fill(await people.codeFor("ada@example.org"));
    await press(page, texts.finish.signUp);
    await heading(page, texts.account);
    await page.getByText("ada@example.org", { exact: true }).waitFor();
    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    assert.equal(await hasSession(page), false);
    await signIn(page, "ada@example.org", "wrong horse battery");
    await page.getByRole("alert").getByText("The address, the password or the code is wrong").waitFor();
    await notLost(page, "after a wrong password");
    await signIn(page, "ada@example.org", goodPassword);
    await heading(page, texts.account);
    const { json } = await people.service.send({ path: "/api/v1/users" });
    assert.deepEqual(
      (json as { name: string }[]).map(({ name }) => name),
      ["Ada"],
    );
    assert.deepEqual(faultsIn(errors), []);
  });

  test("what the service refuses is shown at its field", async (t) => {
    const people = await start(t);
    const { page } = await openPage(t, people, { path: "/_sign-in#sign-up" });
    const faultOf = async (label: string) => {
      const input = field(page, label);
      const described = (await input.getAttribute("aria-describedby"))?.split(" ").at(-1);
      return `${await input.getAttribute("aria-invalid")} ${await page.locator(`#${described}`).textContent()}`;
    };
    await press(page, texts.signUp);
    assert.equal(await faultOf("Name"), `true ${texts.fillIn}`);
    for (const [label, name, email, password, fault] of [
      ["Name", "A", "ada@example.org", goodPassword, /^true must /],
      [texts.email, "Ada", "ada", goodPassword, /^true A mail address has one @/],
      [texts.newPassword, "Ada", "ada@example.org", "password1", /^true This password is on a list/],
    ] as const) {
      await field(page, "Name").fill(name);
      await field(page, texts.email).fill(email);
      await field(page, texts.newPassword).fill(password);
      await press(page, texts.signUp);
      await until(`the fault of ${label}`, async () => fault.test(await faultOf(label)));
      assert.equal((await focusOf(page)).label, label);
    }
    assert.deepEqual(people.mails, []);
  });

  test("an attribute that strangers cannot see becomes a field when it is needed", async (t) => {
    const people = await start(t, {
      collections: {
        users: {
          schema: { type: "object", required: ["email"], properties: { email: { type: "string" } } },
          access: { read: { role: "ops" } },
        },
      },
    });
    const { page } = await openPage(t, people, { path: "/_sign-in#sign-up" });
    await field(page, texts.email).fill("ada@example.org");
    await field(page, texts.newPassword).fill(goodPassword);
    await press(page, texts.signUp);
    await page.locator("input[name='profile/email']").fill("shown@example.org");
    await press(page, texts.signUp);
    await heading(page, texts.enterCode);
  });

  test("a forgotten password is replaced by a code", async (t) => {
    const people = await start(t);
    await people.join("ada@example.org", { profile: { name: "Ada" } });
    const { page, errors } = await openPage(t, people);
    await page.getByRole("link", { name: texts.forgotten }).click();
    await heading(page, texts.forgotten); // until then, the page has the fields of the part before
    await field(page, texts.email).fill("ada@example.org");
    await press(page, texts.sendCode);
    await heading(page, texts.enterCode);
    await field(page, texts.code).fill(await people.codeFor("ada@example.org", 1));
    await field(page, texts.newPassword).fill(otherPassword);
    await press(page, texts.finish.reset);
    await heading(page, texts.account);
    await press(page, texts.signOut);
    await heading(page, texts.signIn);
    await signIn(page, "ada@example.org", otherPassword);
    await heading(page, texts.account);
    assert.deepEqual(faultsIn(errors), []);
  });

  test("the link of the mail finishes by one press in the browser that asked, and in no other", async (t) => {
    const people = await start(t);
    const { page } = await openPage(t, people);
    await signUp(page, "ada@example.org", "Ada");
    const code = await people.codeFor("ada@example.org");
    const path = linkIn(people, "ada@example.org");
    assert.ok(path.startsWith(`${ownOrigin(people)}/_sign-in#code=`), path);

    // A scanner opens the link elsewhere, and presses everything.
    const { page: scanner } = await openPage(t, people, { path });
    await heading(scanner, texts.yourCode);
    await scanner.getByText(code, { exact: true }).waitFor();
    for (const each of await scanner.locator("button, a, input").all()) await each.click();
    assert.equal(await hasSession(scanner), false);
    assert.deepEqual((await scanner.context().cookies()).length, 0);

    // To open it alone does nothing in the right browser either.
    const { page: tab } = await openPage(t, people, { path, beside: page });
    await heading(tab, texts.enterCode);
    assert.doesNotMatch(tab.url(), /code=/);
    assert.equal(await hasSession(tab), false);
    await press(tab, texts.finish.signUp);
    await heading(tab, texts.account);
    assert.equal(await hasSession(page), true);
  });

  test("the account ends other sessions and changes the password, after a proof if it is old", async (t) => {
    let ahead = 0;
    const people = await start(t, { now: () => machineTime() + ahead });
    await people.join("ada@example.org", { profile: { name: "Ada" } });
    const { page, errors } = await openPage(t, people);
    await signIn(page, "ada@example.org", goodPassword);
    await heading(page, texts.account);
    ahead = 11 * 60_000;
    assert.equal(await page.locator("li").count(), 2);
    await page.locator("li button").click();
    await heading(page, texts.confirm);
    await field(page, texts.currentPassword).fill(goodPassword);
    await press(page, texts.confirmButton);
    await page.getByText(texts.ended).waitFor();
    assert.equal(await page.locator("li").count(), 1);
    await field(page, texts.newPassword).fill(otherPassword);
    await press(page, texts.changePassword);
    await page.getByText(texts.changed).waitFor();
    await press(page, texts.everywhere);
    await heading(page, texts.signIn);
    // The address of the account is the one that the page had before the sign-in.
    // The page shows the form again, and then it is empty.
    await page.evaluate('document.querySelector("h1").dataset.old = ""; location.hash = "account"');
    await page.waitForSelector("h1:not([data-old])");
    await signIn(page, "ada@example.org", otherPassword);
    await heading(page, texts.account);
    assert.deepEqual(faultsIn(errors), []);
  });

  test("a key for a program is in the list of sessions with its name, and is ended there", async (t) => {
    const people = await start(t);
    const { token } = await people.join("ada@example.org", { profile: { name: "Ada" } });
    const expiresAt = new Date(machineTime() + 86_400_000).toISOString();
    const made = await people.post("sessions", { name: "backup", expiresAt }, bearer(token));
    assert.equal(made.status, 201, made.text);
    const { page } = await openPage(t, people);
    await signIn(page, "ada@example.org", goodPassword);
    const name = texts.programKey("backup");
    await page.getByText(name, { exact: true }).waitFor();
    await press(page, texts.removeOf(name));
    await page.getByText(texts.ended).waitFor();
    assert.equal(await page.getByText(name, { exact: true }).count(), 0);
  });

  test("everything works by keyboard alone", async (t) => {
    const people = await start(t);
    const { page } = await openPage(t, people);
    assert.equal((await focusOf(page)).label, texts.email);
    await tabTo(page, ({ text }) => text === texts.signUp);
    await page.keyboard.press("Enter");
    await heading(page, texts.signUp);
    assert.equal((await focusOf(page)).label, "Name");
    for (const [label, value] of [
      ["Name", "Ada"],
      [texts.email, "ada@example.org"],
      [texts.newPassword, goodPassword],
    ] as const) {
      await tabTo(page, (focus) => focus.label === label);
      await page.keyboard.type(value);
    }
    await page.keyboard.press("Enter");
    await heading(page, texts.enterCode);
    assert.equal((await focusOf(page)).label, texts.code);
    await page.keyboard.type(await people.codeFor("ada@example.org"));
    await page.keyboard.press("Enter");
    await heading(page, texts.account);
    assert.equal((await focusOf(page)).text, texts.account, "the page begins at its top");
    await tabTo(page, ({ text }) => text === texts.signOut);
    await page.keyboard.press("Enter");
    await heading(page, texts.signIn);
    assert.equal((await focusOf(page)).label, texts.email);
  });

  test("goes to a path of the service afterwards, and to no foreign address", async (t) => {
    const people = await start(t);
    await people.join("ada@example.org", { profile: { name: "Ada" } });
    for (const [target, path] of [
      ["/api/v1/users?limit=1", "/api/v1/users?limit=1"],
      ["//evil.example/", "/_sign-in"],
      ["javascript:alert(1)", "/_sign-in"],
    ] as const) {
      const query = new URLSearchParams({ return: target });
      const { page } = await openPage(t, people, { path: `/_sign-in?${query}` });
      await signIn(page, "ada@example.org", goodPassword);
      await page.waitForURL((url) => url.hash === "#account" || url.pathname !== "/_sign-in");
      const { pathname, search, origin } = new URL(page.url());
      assert.equal(origin, ownOrigin(people));
      assert.equal(pathname + (pathname === "/_sign-in" ? "" : search), path);
    }
  });

  test("the console is used by an administrator who has signed in here", async (t) => {
    const people = await start(t, {
      collections: { users: { access: { read: { role: "ops" } } } },
      users: { signUp: { domains: ["example.org"], roles: ["ops"] } },
    });
    await people.join("ada@example.org", { profile: { name: "Ada" } });
    const { page, errors } = await openPage(t, people, { path: "/#/users" });
    await page.getByRole("link", { name: signInTexts.withAccount }).click();
    await heading(page, texts.signIn);
    await signIn(page, "ada@example.org", goodPassword);
    await page.waitForURL((url) => url.pathname === "/" && url.hash.startsWith("#/users"));
    await page.getByRole("grid").getByText("Ada", { exact: true }).waitFor();
    assert.deepEqual(faultsIn(errors), []);
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`has no fault that axe-core finds, and fits a telephone: ${colorScheme}`, async (t) => {
      const people = await start(t);
      await people.join("ada@example.org", { profile: { name: "Ada" } });
      const options = { colorScheme, bypassCSP: true, viewport: { width: 390, height: 844 } };
      const { page } = await openPage(t, people, { options });
      const judge = async (name: string) => {
        await heading(page, name);
        await page.evaluate(axe);
        const faults = await page.evaluate(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
        );
        assert.deepEqual(faults, [], name);
        const isTooWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
        assert.equal(await page.evaluate(isTooWide), false, name);
      };
      await press(page, texts.signIn); // with empty fields, so that there are faults
      await judge(texts.signIn);
      for (const [fragment, name] of [
        ["by-code", texts.byCode],
        ["forgotten", texts.forgotten],
        ["sign-up", texts.signUp],
        ["code=K7QF-29MX", texts.yourCode],
      ] as const) {
        await page.evaluate(`location.hash = "${fragment}"`);
        await judge(name);
      }
      await page.evaluate('location.hash = "by-code"');
      await heading(page, texts.byCode);
      await field(page, texts.email).fill("ada@example.org");
      await press(page, texts.sendCode);
      await judge(texts.enterCode);
      await page.evaluate('location.hash = ""');
      await heading(page, texts.signIn);
      await signIn(page, "ada@example.org", goodPassword);
      await judge(texts.account);
    });
});

test("the page is a document of services with users alone", async (t) => {
  const people = await start(t, { console: false, users: { origins: ["https://shop.example"] } });
  const { status, headers, text } = await people.service.send({ path: "/_sign-in?return=/x" });
  assert.equal(status, 200);
  assert.match(String(headers["content-security-policy"]), /default-src 'none'.* frame-ancestors 'none'/);
  assert.match(text, /<meta name="holdfast-origins" content="https:\/\/shop\.example">/);
  assert.doesNotMatch(text, /<style|<script(?![^>]* src=)|<[^>]* (?:style|on[a-z]+)=/i);
  for (const [, file = ""] of text.matchAll(/(?:src|href)="\.(\/_console[^"]+)"/g))
    assert.equal((await people.service.send({ path: file })).status, 200, file);
  const inConsole = readdirSync("dist/console/_console").find((name) => /^index-.*\.js$/.test(name));
  assert.equal((await people.service.send({ path: `/_console/${inConsole}` })).status, 404);
  assert.equal((await people.service.send({ path: "/_sign-in?x=1" })).status, 400);
});

test("the page has at most 60 kB", () => {
  const files = readdirSync("dist/console/_console").filter((name) => /^sign-in-.*\.br$/.test(name));
  const { size: page } = statSync("dist/console/sign-in.html");
  const sizes = files.map((name) => statSync(join("dist/console/_console", name)).size);
  assert.equal(sizes.length, 2);
  assert.ok(sizes.reduce((sum, size) => sum + size, page) < 60_000);
});

test("a browser has the name that people know, and a program its own", () => {
  const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";
  const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)";
  for (const [agent, name] of [
    [`${mac} Version/18.0 Safari/605.1.15`, "Safari, macOS"],
    [`${windows} Chrome/130.0.0.0 Safari/537.36`, "Chrome, Windows"],
    [`${windows} Chrome/130.0.0.0 Safari/537.36 Edg/130.0`, "Edge, Windows"],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox, Linux"],
    [
      "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36",
      "Chrome, Android",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari, iPhone",
    ],
    ["backup/1.0", "backup/1.0"],
    ["", ""],
  ] as const)
    assert.equal(agentName(agent), name, agent);
});

test("only addresses of the service and of its other origins can be returned to", () => {
  const own = "https://shop.example";
  const read = (text: string) => returnTarget(text, own, ["https://app.example"]);
  assert.equal(read("/orders?x=1#y"), "https://shop.example/orders?x=1#y");
  assert.equal(read("https://app.example/a"), "https://app.example/a");
  for (const text of [
    "//evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "/.//evil.example",
    "/\t/evil.example",
    "https:evil.example//",
    "https://evil.example",
    "https://app.example.evil.example",
    "https://app.example:444/",
    "https://shop.example@evil.example",
    "https://user@shop.example/",
    "http://shop.example/",
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "blob:https://shop.example/1",
    "",
  ]) {
    const target = read(text);
    // A browser reads some of these texts as a path of the service.
    assert.ok(target === undefined || new URL(target).origin === own, text);
    if (!text.startsWith("https:evil")) assert.equal(target, undefined, text);
  }
  assert.equal(returnTarget(null, own, []), undefined);
});
