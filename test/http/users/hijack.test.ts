/** Somebody acts with the address of another person, before or after the owner of the mailbox does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";
import { fragmentOf, startOpenId, TestBrowser } from "./provider-servers.ts";

const refused = "401 SIGN_IN_FAILED";
const known = "the attacker knows this one";
const ways = ["sign-up", "code", "reset"] as const;

type Way = (typeof ways)[number];

/** The header of a client with an address of its own, so that no limit of a network is met. */
let client = 0;
const from = () => ({ "x-forwarded-for": `198.51.${Math.floor(++client / 250)}.${client % 250}` });

async function ask({ post }: People, way: Way, email: string, password: string): Promise<string> {
  const content = way === "sign-up" ? { email, password, profile: { name: "Any" } } : { email };
  return bodyOf<{ ticket: string }>(await post(way, content, from()), 202).ticket;
}

/** The codes in all mails to an address, the latest last. */
const codesTo = ({ mails }: People, email: string) =>
  mails.filter(({ to }) => to === email).map(({ text }) => /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0] ?? "");

async function finish({ post }: People, way: Way, proof: { ticket: string; code: string }, password: string) {
  if (way === "reset") return post("password", { ...proof, password }, from());
  return post("sign-in", proof, from());
}

test("in no order does what a stranger asked for work after the owner has proven the address", async (t) => {
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"] });
  const { post, codeFor } = people;
  const cases = [true, false].flatMap((hasAccount) =>
    ways.flatMap((theirs) =>
      (hasAccount ? ways : (["sign-up"] as const)).flatMap((own) =>
        [true, false].map((isFirst) => ({ hasAccount, theirs, own, isFirst })),
      ),
    ),
  );
  for (const [n, { hasAccount, theirs, own, isFirst }] of cases.entries()) {
    const called = JSON.stringify({ hasAccount, theirs, own, isFirst });
    const email = `owner${n}@example.org`;
    let mails = 0;
    const next = async () => codeFor(email, mails++);
    if (hasAccount) {
      const ticket = await ask(people, "sign-up", email, goodPassword);
      bodyOf(await post("sign-in", { ticket, code: await next() }, from()));
    }
    const isMailed = hasAccount || theirs === "sign-up";
    const attack = async () => {
      const ticket = await ask(people, theirs, email, known);
      if (isMailed) await next();
      return ticket;
    };
    let stolen = isFirst ? await attack() : "";
    const ticket = await ask(people, own, email, goodPassword);
    const code = await next();
    if (!isFirst) stolen = await attack();
    const signed = bodyOf<Signed>(await finish(people, own, { ticket, code }, goodPassword));
    assert.equal(signed.user.email, email, called);
    for (const each of new Set(codesTo(people, email).filter((code) => code !== "")))
      assert.equal(
        problemOf(await finish(people, theirs, { ticket: stolen, code: each }, known)),
        refused,
        called,
      );
    assert.equal(problemOf(await post("sign-in", { email, password: known }, from())), refused, called);
    bodyOf(await post("sign-in", { email, password: goodPassword }, from()));
  }
});

test("a provider that is not trusted gives nobody an account of somebody else, in whatever order", async (t) => {
  const work = await startOpenId(t, { name: "work" });
  const methods = ["password", "email", "providers"] as const;
  const users = { methods, providers: [work.settings] };
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"], users });
  const { post, codeFor, service } = people;
  /** Comes back from the provider, and returns the ticket to link the identity. */
  const arrive = async (browser: TestBrowser, sub: string, email: string) => {
    work.person = { sub, email, email_verified: true };
    return fragmentOf(await browser.signIn("work")).link ?? "";
  };
  const link = (browser: TestBrowser, ticket: string) =>
    browser.send("/api/v1/_auth/identities", { content: { ticket } });
  /** Proves an address by a code, in a browser. `meanwhile` happens while the owner reads the mail. */
  const prove = async (browser: TestBrowser, way: Way, email: string, meanwhile = async () => {}) => {
    const before = codesTo(people, email).length;
    const ticket = await ask(people, way, email, goodPassword);
    const code = await codeFor(email, before);
    await meanwhile();
    bodyOf(await browser.send("/api/v1/_auth/sign-in", { content: { ticket, code, cookie: true } }));
  };
  const cases = [true, false].flatMap((hasAccount) =>
    (["provider", "sign-up"] as const).flatMap((theirs) =>
      (["provider", "sign-up"] as const).flatMap((own) =>
        [true, false].map((isFirst) => ({ hasAccount, theirs, own, isFirst })),
      ),
    ),
  );
  for (const [n, { hasAccount, theirs, own, isFirst }] of cases.entries()) {
    const called = JSON.stringify({ hasAccount, theirs, own, isFirst });
    const email = `linked${n}@example.org`;
    if (hasAccount) await prove(new TestBrowser(service, from), "sign-up", email);
    const [attacker, owner] = [new TestBrowser(service, from), new TestBrowser(service, from)];
    const attack = async () => {
      if (theirs === "provider") return arrive(attacker, `attacker${n}`, email);
      const before = codesTo(people, email).length;
      const ticket = await ask(people, "sign-up", email, known);
      await codeFor(email, before);
      return ticket;
    };
    let stolen = isFirst ? await attack() : "";
    const linkable = own === "provider" ? await arrive(owner, `owner${n}`, email) : undefined;
    await prove(owner, hasAccount ? "code" : "sign-up", email, async () => {
      if (!isFirst) stolen = await attack();
    });
    if (linkable !== undefined) bodyOf(await link(owner, linkable));
    const user = await owner.user();
    assert.equal(user?.email, email, called);
    if (theirs === "provider") {
      assert.equal((await link(attacker, stolen)).status, 401, called);
      assert.equal(problemOf(await link(owner, stolen)), refused, called);
      await arrive(attacker, `attacker${n}`, email);
      assert.equal(await attacker.user(), undefined, called);
      const mine = new TestBrowser(service, from);
      await prove(mine, "sign-up", `attacker${n}@example.org`);
      bodyOf(await link(mine, await arrive(mine, `attacker${n}`, email)));
      await attacker.signIn("work");
      assert.equal((await attacker.user())?.email, `attacker${n}@example.org`, called);
    } else {
      for (const each of new Set(codesTo(people, email).filter((code) => code !== "")))
        assert.equal(
          problemOf(await post("sign-in", { ticket: stolen, code: each }, from())),
          refused,
          called,
        );
      assert.equal(problemOf(await post("sign-in", { email, password: known }, from())), refused, called);
    }
    if (own !== "provider") continue;
    const again = new TestBrowser(service, from);
    work.person = { sub: `owner${n}`, email: "changed@example.org" };
    await again.signIn("work");
    assert.deepEqual(await again.user(), user, called);
  }
});

test("a ticket takes no code of another person and does nothing else than it was asked for", async (t) => {
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"] });
  for (const name of ["ada", "bob"]) await people.join(`${name}@example.org`);
  for (const theirs of ways)
    for (const other of ways) {
      const mine = await ask(people, theirs, "ada@example.org", known);
      await ask(people, other, "bob@example.org", known);
      const code = await people.codeFor("bob@example.org", codesTo(people, "bob@example.org").length - 1);
      assert.equal(problemOf(await finish(people, theirs, { ticket: mine, code }, known)), refused);
      const right = codesTo(people, "ada@example.org").at(-1) ?? "";
      const wrongWay = theirs === "reset" ? "code" : "reset";
      assert.equal(problemOf(await finish(people, wrongWay, { ticket: mine, code: right }, known)), refused);
    }
});

test("thousands of wrong passwords from many networks do not lock a known device out", async (t) => {
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"] });
  const email = "ada@example.org";
  const { device } = await people.join(email);
  const rounds = Number(process.env.HOLDFAST_TEST_GUESSES ?? 300);
  const statuses = new Map<number, number>();
  for (let n = 0; n < rounds; n++) {
    const headers = { "x-forwarded-for": `203.0.113.${n % 100}` };
    const { status } = await people.post("sign-in", { email, password: `wrong password ${n}` }, headers);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.deepEqual(
    [...statuses],
    [
      [401, 10],
      [429, rounds - 10],
    ],
  );
  const stranger = await people.post("sign-in", { email, password: goodPassword }, from());
  assert.equal(problemOf(stranger), "429 QUOTA_EXCEEDED");
  assert.ok(Number(stranger.headers["retry-after"]) > 0);
  bodyOf(await people.post("sign-in", { email, password: goodPassword, device }, from()));
  const before = codesTo(people, email).length;
  const ticket = await ask(people, "code", email, "");
  bodyOf(await people.post("sign-in", { ticket, code: await people.codeFor(email, before) }, from()));
});
