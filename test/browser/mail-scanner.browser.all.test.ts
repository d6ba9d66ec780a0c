/** Programs that read mails before their owners do, open every link in them, and press every button behind it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signInPageTexts as texts } from "../../console/src/sign-in/sign-in-page-texts.ts";
import { openReader } from "../../src/store/open.ts";
import { bearer, bodyOf, goodPassword, type People, type Signed } from "../capabilities/users/http/people.ts";
import { fragmentOf, startOpenId, TestBrowser } from "../capabilities/users/http/provider-servers.ts";
import { until } from "../until.ts";
import type { Page } from "./browser.ts";
import { field, openPage, skip, start } from "./sign-in-page.ts";

const ada = "ada@example.org";
const root = "root@example.org";

/** How many sessions, accounts, identities and resources of the collection of profiles a store has. */
async function countsOf({ service }: People): Promise<Record<string, number>> {
  const store = await openReader(service.store);
  const counts: Record<string, number> = {};
  for (const name of ["_sessions", "_accounts", "_identities", "users"]) {
    counts[name] = 0;
    for await (const { text } of store.scan(name)) counts[name] += text === "" ? 0 : 1;
  }
  await store.close();
  return counts;
}

/** The links in a mail, also those of its HTML. */
function linksIn(text: string): string[] {
  return [
    ...new Set([...text.matchAll(/https?:\/\/[^\s"<]+/g)].map(([link]) => link.replaceAll("&amp;", "&"))),
  ];
}

const pressable = "button, a, input, select, summary";

async function isSignedIn(page: Page): Promise<boolean> {
  const answer = await page.evaluate("fetch('/api/v1/_auth').then((answer) => answer.json())");
  return (answer as { user?: object }).user !== undefined;
}

/** Asks for a link as programs without a browser do. */
async function fetchPlainly({ service }: People, link: string): Promise<void> {
  const { pathname, search } = new URL(link);
  const headers = { host: new URL(link).host, accept: "text/html" };
  for (const method of ["GET", "HEAD", "POST"])
    for (const site of [undefined, "none", "cross-site"]) {
      const more = site === undefined ? {} : { "sec-fetch-site": site };
      const answer = await service.send({
        method,
        path: pathname + search,
        headers: { ...headers, ...more },
      });
      assert.ok(answer.status < 500 && answer.headers["set-cookie"] === undefined, `${method} ${link}`);
      assert.equal(answer.status < 300, method !== "POST", `${method} ${link}: ${answer.status}`);
    }
}

/** Opens a link in a browser of its own, and presses everything on the page, and everything on the pages that this leads to. */
async function pressAll(t: Parameters<typeof openPage>[0], people: People, link: string): Promise<void> {
  const { page } = await openPage(t, people, { path: link });
  const open = async () => {
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByRole("heading", { level: 1 }).waitFor();
  };
  const count = await page.locator(pressable).count();
  for (let n = 0; n < count; n++) {
    await open();
    // A press can hide what follows, or lead elsewhere.
    await page
      .locator(pressable)
      .nth(n)
      .click({ timeout: 2_000 })
      .catch(() => {});
    for (const each of await page.locator("button").all()) await each.click({ timeout: 500 }).catch(() => {});
    await open();
    assert.equal(await isSignedIn(page), false, link);
  }
  const names = (await page.context().cookies()).map(({ name }) => name);
  assert.ok(!names.some((name) => /^holdfast-\d+$/.test(name)), names.join());
}

describe("a program that opens every link of every mail", { skip }, () => {
  test("begins no session, makes no account, and spends no code", async (t) => {
    let isScanning = false;
    // A scanner has no session at the provider, so the provider asks who it is.
    const work = await startOpenId(t, { label: "Work", trustEmail: true }, (request, response) => {
      if (!isScanning || request.url?.startsWith("/interaction/") !== true) return false;
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Who are you?</h1>");
      return true;
    });
    const people = await start(t, {
      users: { methods: ["password", "email", "providers"], providers: [work.settings], roles: ["ops"] },
    });
    const { service, post, mails, codeFor } = people;
    /** What must not change while links are opened. */
    const scan = async (links: readonly string[]) => {
      assert.ok(links.length > 0);
      const before = await countsOf(people);
      isScanning = true;
      for (const link of links) {
        await fetchPlainly(people, link);
        await pressAll(t, people, link);
      }
      isScanning = false;
      assert.deepEqual(await countsOf(people), before, links.join());
    };
    /** The links of the next mail to an address. */
    const mailed = async (email: string, work: () => Promise<unknown>) => {
      const before = mails.length;
      const result = await work();
      await until(`a mail to ${email}`, () => mails.slice(before).some(({ to }) => to === email));
      const mail = mails.findLast(({ to }) => to === email);
      return { result, links: linksIn(mail?.text ?? ""), subject: mail?.subject ?? "" };
    };
    const ticketOf = (answer: unknown) => bodyOf<{ ticket: string }>(answer as never, 202).ticket;
    const subjects: string[] = [];
    /** Asks for a code, lets a scanner at its mail, and then uses it as its owner does. */
    const useAfterScan = async (
      email: string,
      ask: () => Promise<unknown>,
      use: (proof: { ticket: string; code: string }) => Promise<unknown>,
    ): Promise<Signed> => {
      const { result, links, subject } = await mailed(email, ask);
      subjects.push(subject);
      await scan(links);
      return bodyOf<Signed>((await use({ ticket: ticketOf(result), code: await codeFor(email) })) as never);
    };
    const signIn = (proof: object) => post("sign-in", proof);

    const first = await service.offerFirstAccount();
    await scan([String(first)]);
    const [, invitation] = /#invitation=([\w-]+)/.exec(String(first)) ?? [];
    const profile = { name: "Somebody" };
    const { token: administrator } = await useAfterScan(
      root,
      () => post("sign-up", { email: root, password: goodPassword, invitation, profile }),
      signIn,
    );

    const { token } = await useAfterScan(
      ada,
      () => post("sign-up", { email: ada, password: goodPassword, profile }),
      signIn,
    );
    await useAfterScan(
      ada,
      () => post("sign-up", { email: ada, password: "quite another password", profile }),
      signIn,
    );
    await useAfterScan(ada, () => post("code", { email: ada }), signIn);
    const later = "ada@example.net";
    const moved = await useAfterScan(
      later,
      () => post("email", { email: later }, bearer(token)),
      (proof) => post("email", proof, bearer(token)),
    );
    await until("a notice of the new address", () => mails.at(-1)?.to === ada);
    subjects.push(mails.at(-1)?.subject ?? "");
    await scan(linksIn(mails.at(-1)?.text ?? ""));
    assert.equal(moved.user.email, later);
    await useAfterScan(
      later,
      () => post("reset", { email: later }),
      (proof) => post("password", { ...proof, password: "a new and long password" }),
    );

    const browser = new TestBrowser(service);
    bodyOf(
      await browser.send("/api/v1/_auth/sign-in", {
        content: { email: later, password: "a new and long password", cookie: true },
      }),
    );
    work.person = { sub: "1", email: later, email_verified: true };
    const { link: ticket } = fragmentOf(await browser.signIn("work", "?link=true&return=/x"));
    const linked = await mailed(later, () =>
      browser.send("/api/v1/_auth/identities", { content: { ticket } }),
    );
    await scan(linked.links);

    const cleo = "cleo@example.org";
    const content = { email: cleo };
    const invited = await mailed(cleo, () =>
      service.send({ method: "POST", path: "/api/v1/_invitations", content, headers: bearer(administrator) }),
    );
    subjects.push(invited.subject);
    await scan(invited.links);
    const [, token2] = /#invitation=([\w-]+)/.exec(invited.links[0] ?? "") ?? [];
    await useAfterScan(cleo, () => post("sign-up", { email: cleo, invitation: token2, profile }), signIn);
    assert.equal(new Set(subjects).size, 6, subjects.join("\n"));
  });

  test("ASVS 6.2.6 and 6.2.7: passwords are masked, can be pasted, and managers know their fields", async (t) => {
    const people = await start(t);
    for (const [path, label, kind] of [
      ["/_sign-in", texts.password, "current-password"],
      ["/_sign-in#sign-up", texts.newPassword, "new-password"],
    ] as const) {
      const { page } = await openPage(t, people, { path });
      const input = field(page, label);
      assert.equal(await input.getAttribute("type"), "password");
      assert.equal(await input.getAttribute("autocomplete"), kind);
      await field(page, texts.email).fill(goodPassword);
      await field(page, texts.email).press("ControlOrMeta+a");
      await page.keyboard.press("ControlOrMeta+c");
      await input.focus();
      await page.keyboard.press("ControlOrMeta+v");
      assert.equal(await input.inputValue(), goodPassword);
    }
  });
});
