/** Somebody acts with the address of another person, before or after the owner of the mailbox does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../until.ts";
import {
  bearer,
  bodyOf,
  codeShape,
  goodPassword,
  type People,
  problemOf,
  type Signed,
  startPeople,
} from "./people.ts";
import { fragmentOf, type Person, startOpenId, TestBrowser } from "./provider-servers.ts";
import { SoftwarePasskey } from "./software-passkey.ts";

const refused = "401 SIGN_IN_FAILED";
const known = "the attacker knows this one";
const ways = ["sign-up", "code", "reset"] as const;

type Way = (typeof ways)[number];

/**
 * What a stranger and the owner do in which order. `npm run prove` tries all orders. Otherwise each pair of what the two do has one order,
 * and the orders take turns.
 */
function ordersOf<Order extends { theirs: string; own: string }>(all: readonly Order[]): readonly Order[] {
  if (process.env.HOLDFAST_TEST_ORDERS === "all") return all;
  const pairs = [...Map.groupBy(all, ({ theirs, own }) => `${theirs}, ${own}`).values()];
  return pairs.map((orders, n) => orders[n % orders.length] as Order); // no pair is empty
}

/** The header of a client with an address of its own, so that no limit of a network is met. */
let client = 0;
const from = () => ({ "x-forwarded-for": `198.51.${Math.floor(++client / 250)}.${client % 250}` });

async function ask({ post }: People, way: Way, email: string, password: string): Promise<string> {
  const content = way === "sign-up" ? { email, password, profile: { name: "Any" } } : { email };
  return bodyOf<{ ticket: string }>(await post(way, content, from()), 202).ticket;
}

/** The codes in all mails to an address, the latest last. */
const codesTo = ({ mails }: People, email: string) =>
  mails.filter(({ to }) => to === email).map(({ text }) => codeShape.exec(text)?.[0] ?? "");

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
  for (const [n, { hasAccount, theirs, own, isFirst }] of ordersOf(cases).entries()) {
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

const doors = ["sign-up", "code", "invitation", "first provider", "second provider"] as const;

/** Who comes first to which door. A code is mailed only to somebody with an account, and an invitation only to somebody without. */
const meetings = [true, false].flatMap((hasAccount) =>
  doors.flatMap((theirs) =>
    doors.flatMap((own) =>
      [true, false].flatMap((isFirst) => {
        const canMeet = hasAccount ? theirs !== "invitation" && own !== "invitation" : own !== "code";
        return canMeet ? [{ hasAccount, theirs, own, isFirst }] : [];
      }),
    ),
  ),
);

test("in no order of doors does a stranger get into the account of the owner of an address", async (t) => {
  const providers = {
    "first provider": await startOpenId(t, { name: "work" }),
    "second provider": await startOpenId(t, { name: "club" }),
  };
  const settings = Object.values(providers).map((provider) => provider.settings);
  const methods = ["password", "email", "providers"] as const;
  const signUp = { domains: ["example.org"], roles: ["ops"] };
  const users = { methods, providers: settings, signUp };
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"], users });
  const { post, codeFor, service, mails } = people;
  const root = await people.join("root@example.org");
  const mailsTo = (email: string) => mails.filter(({ to }) => to === email).length;
  /** Comes back from a provider, and returns the ticket to link the identity. */
  const arrive = async (browser: TestBrowser, door: keyof typeof providers, person: Person) => {
    const { settings } = providers[door];
    providers[door].person = { email_verified: true, ...person };
    return fragmentOf(await browser.signIn(settings.name)).link ?? "";
  };
  const link = (browser: TestBrowser, ticket: string) =>
    browser.send("/api/v1/_auth/identities", { content: { ticket } });
  /** Asks for a code, and waits for it if the address gets one. */
  const request = async (
    path: "sign-up" | "code",
    content: { email: string; [more: string]: unknown },
    isMailed = true,
  ) => {
    const before = mailsTo(content.email);
    const { ticket } = bodyOf<{ ticket: string }>(await post(path, content, from()), 202);
    return { ticket, code: isMailed ? await codeFor(content.email, before) : "" };
  };
  const prove = async (browser: TestBrowser, proof: { ticket: string; code: string }) =>
    bodyOf(await browser.send("/api/v1/_auth/sign-in", { content: { ...proof, cookie: true } }));
  const invite = async (email: string): Promise<string> => {
    const [before, headers] = [mailsTo(email), bearer(root.token)];
    const path = "/api/v1/_invitations";
    bodyOf(await service.send({ method: "POST", path, content: { email }, headers }), 201);
    await until("the invitation is mailed", () => mailsTo(email) > before);
    return /#invitation=([\w-]{43})/.exec(mails.findLast(({ to }) => to === email)?.text ?? "")?.[1] ?? "";
  };
  for (const [n, { hasAccount, theirs, own, isFirst }] of ordersOf(meetings).entries()) {
    const called = JSON.stringify({ hasAccount, theirs, own, isFirst });
    const email = `met${n}@example.org`;
    if (hasAccount) await prove(new TestBrowser(service, from), await request("sign-up", { email }));
    const [attacker, owner] = [new TestBrowser(service, from), new TestBrowser(service, from)];
    const invitation = [theirs, own].includes("invitation") ? await invite(email) : undefined;
    /** What the stranger has got: the ticket of a mail to the owner, or the one to link an identity. */
    const attack = async (): Promise<string> => {
      if (theirs in providers) {
        const person = { sub: `attacker${n}`, email };
        return arrive(attacker, theirs as keyof typeof providers, person);
      }
      if (theirs === "code") return (await request("code", { email }, hasAccount)).ticket;
      const more = theirs === "invitation" ? { invitation } : {};
      return (await request("sign-up", { email, password: known, ...more })).ticket;
    };
    let stolen = isFirst ? await attack() : "";
    const linkable =
      own in providers
        ? await arrive(owner, own as keyof typeof providers, { sub: `owner${n}`, email })
        : undefined;
    const more = own === "invitation" ? { invitation } : {};
    const proof = await request(own === "code" ? "code" : "sign-up", { email, ...more });
    if (!isFirst) stolen = await attack();
    await prove(owner, proof);
    if (linkable !== undefined) bodyOf(await link(owner, linkable));
    const user = await owner.user();
    assert.equal(user?.email, email, called);
    if (theirs in providers) {
      const door = theirs as keyof typeof providers;
      assert.equal((await link(attacker, stolen)).status, 401, called);
      assert.equal(problemOf(await link(owner, stolen)), refused, called);
      await arrive(attacker, door, { sub: `attacker${n}`, email });
      assert.equal(await attacker.user(), undefined, called);
      const mine = new TestBrowser(service, from);
      await prove(mine, await request("sign-up", { email: `attacker${n}@example.org` }));
      bodyOf(await link(mine, await arrive(mine, door, { sub: `attacker${n}`, email })));
      await attacker.signIn(providers[door].settings.name);
      assert.equal((await attacker.user())?.email, `attacker${n}@example.org`, called);
    } else {
      for (const code of new Set(codesTo(people, email).filter((each) => each !== ""))) {
        const again = await post("sign-in", { ticket: stolen, code }, from());
        assert.equal(problemOf(again), refused, called);
      }
      assert.equal(problemOf(await post("sign-in", { email, password: known }, from())), refused, called);
    }
    if (invitation !== undefined) {
      const again = await post("sign-up", { email, password: known, invitation }, from());
      assert.equal(problemOf(again), "400 INVALID_PARAMETER", called);
    }
    if (linkable === undefined) continue;
    const again = new TestBrowser(service, from);
    providers[own as keyof typeof providers].person = { sub: `owner${n}`, email: "changed@example.org" };
    await again.signIn(providers[own as keyof typeof providers].settings.name);
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

test("thousands of wrong passwords from many networks lock nobody out: neither a known device, nor a code, nor a passkey", async (t) => {
  const methods = ["password", "email", "passkey"] as const;
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"], users: { methods } });
  const { post, service } = people;
  const email = "ada@example.org";
  const { device, token } = await people.join(email);
  const passkey = new SoftwarePasskey(`http://localhost:${service.port}`);
  type Begun = { ticket: string; options: { challenge: string; rpId: string } };
  const added = bodyOf<Begun>(await post("factors", { kind: "passkey" }, bearer(token)));
  const made = { ticket: added.ticket, passkey: passkey.create(added.options), name: "laptop" };
  bodyOf(await post("factors", made, bearer(token)));
  const rounds = Number(process.env.HOLDFAST_TEST_GUESSES ?? 100);
  const begun = performance.now();
  const statuses = new Map<number, number>();
  for (let n = 0; n < rounds; n++) {
    const headers = { "x-forwarded-for": `203.0.113.${n % 100}` };
    const { status } = await post("sign-in", { email, password: `wrong password ${n}` }, headers);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const seconds = (performance.now() - begun) / 1_000;
  t.diagnostic(`${rounds} guesses in ${seconds.toFixed(1)} s: ${JSON.stringify([...statuses])}`);
  assert.deepEqual(
    [...statuses],
    [
      [401, 10],
      [429, rounds - 10],
    ],
  );
  const stranger = await post("sign-in", { email, password: goodPassword }, from());
  assert.equal(problemOf(stranger), "429 QUOTA_EXCEEDED");
  assert.ok(Number(stranger.headers["retry-after"]) > 0);
  bodyOf(await post("sign-in", { email, password: goodPassword, device }, from()));
  const before = codesTo(people, email).length;
  const ticket = await ask(people, "code", email, "");
  bodyOf(await post("sign-in", { ticket, code: await people.codeFor(email, before) }, from()));
  const asked = bodyOf<Begun>(await post("passkey", {}, from()));
  const proof = { ticket: asked.ticket, passkey: passkey.get(asked.options) };
  assert.equal(bodyOf<Signed>(await post("sign-in", proof, from())).user.email, email);
});
