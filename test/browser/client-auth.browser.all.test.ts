/** The typed client in a page of the service itself, in a real browser: it signs in by cookie, and tabs hear of each other. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { after, type TestContext, test } from "node:test";
import { goodPassword, startPeople } from "../capabilities/users/http/people.ts";
import { addAuthenticator, type Browser, openBrowser, patienceMs } from "./browser.ts";

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : false;
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

const page = `<!doctype html><script type="module">
  import { createClient } from "./client/index.ts";
  window.client = createClient({ baseUrl: "/api/v1" });
  window.told = [];
  client.$auth.onChange((user) => told.push(user?.email ?? "nobody"));
</script>`;

/** Opens a page of the service with the client in it. */
async function openPages(t: TestContext, origin: string) {
  const context = await browser.newContext();
  t.after(() => context.close());
  context.setDefaultTimeout(patienceMs);
  await context.route("**/page", (route) => route.fulfill({ contentType: "text/html", body: page }));
  await context.route("**/client/*.ts", (route) => {
    const source = readFileSync(
      `client/src${new URL(route.request().url()).pathname.slice("/client".length)}`,
      "utf8",
    );
    return route.fulfill({ contentType: "text/javascript", body: stripTypeScriptTypes(source) });
  });
  return async () => {
    const tab = await context.newPage();
    await tab.goto(`${origin}/page`);
    await tab.waitForFunction("window.client !== undefined");
    return tab;
  };
}

test("a page of the service signs in by a cookie that no script sees, and another tab hears it", {
  skip,
}, async (t) => {
  const { service, join } = await startPeople(t);
  await join("ada@example.org");
  const openTab = await openPages(t, service.origin);
  const [tab, other] = [await openTab(), await openTab()];
  const asked = JSON.stringify({ email: "ada@example.org", password: goodPassword });
  await tab.evaluate(`client.$auth.signIn(${asked})`);
  assert.equal(await tab.evaluate("document.cookie"), "");
  await other.waitForFunction("told.includes('ada@example.org')");
  assert.equal(await other.evaluate("client.$auth.user().then(({ email }) => email)"), "ada@example.org");
  await other.evaluate("client.$auth.signOut()");
  await tab.waitForFunction("told.includes('nobody')");
  assert.equal(await tab.evaluate("client.$auth.user().then((user) => user === undefined)"), true);
});

test("a page adds a passkey, and signs in and confirms with it alone", { skip }, async (t) => {
  const people = await startPeople(t, {
    users: { methods: ["password", "email", "passkey"] },
  });
  const email = "ada@example.org";
  await people.join(email);
  // Passkeys belong to the name in `publicUrl`.
  const openTab = await openPages(t, people.service.origin.replace("127.0.0.1", "localhost"));
  const tab = await openTab();
  await addAuthenticator(tab);
  await tab.evaluate(`client.$auth.signIn(${JSON.stringify({ email, password: goodPassword })})`);
  const kind = "client.$auth.factors.addPasskey({ name: 'laptop' }).then(({ factor }) => factor.kind)";
  assert.equal(await tab.evaluate(kind), "passkey");
  await tab.evaluate("client.$auth.signOut()");
  const signedIn = "client.$auth.signInWithPasskey().then(({ user }) => user.email)";
  assert.equal(await tab.evaluate(signedIn), email);
  const confirmed = "client.$auth.confirmWithPasskey().then(({ user }) => user.email)";
  assert.equal(await tab.evaluate(confirmed), email);
  assert.equal(await tab.evaluate("document.cookie"), "");
});
