/** Nothing tells whether an address has an account: neither a response, nor the work of the store, nor the time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Answer } from "../../../http/service.ts";
import { watchCalls } from "../../../http/store-spy.ts";
import { generator } from "../../../seed.ts";
import { machineTime, until } from "../../../until.ts";
import { onHash } from "./hashes.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";

/** A short form. `npm run prove -- users` makes 2,000 rounds, and compares the times. */
const rounds = Number(process.env.HOLDFAST_TEST_ROUNDS ?? 3);
const judgesTimes = process.env.HOLDFAST_TEST_TIMES === "yes";

/** So many addresses of each kind take turns, because a stranger seldom asks for the same address twice. */
const addresses = Math.min(rounds, 25);

const hourMs = 3_600_000;

/** What an address can be. `unknown` has no account, and all others are compared with it. */
const kinds = ["unknown", "known", "without a password", "disabled", "invited"] as const;
type Kind = (typeof kinds)[number];

/** What a stranger can ask for. The last ones need the ticket of one before them. */
const requests = ["sign-in", "sign-up", "sign-up by code", "code", "reset", "wrong code"] as const;
type Asked = (typeof requests)[number];

/** How many mails the requests of one round bring to an address. */
const mailsOf: Readonly<Record<Kind, number>> = {
  unknown: 2,
  known: 4,
  "without a password": 4,
  disabled: 2,
  invited: 2,
};

const emailOf = (kind: Kind, n: number) => `${kind.replaceAll(" ", "-")}${n % addresses}@example.org`;

/** A client with an address of its own, so that no limit of a network is met. */
let client = 0;
function from(): { "x-forwarded-for": string } {
  client++;
  return { "x-forwarded-for": `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}` };
}

/** Makes the addresses what they are. */
async function populate({ post, codeFor, join, service, mails }: People): Promise<void> {
  const root = await join("root@root.example");
  const ask = (method: string, path: string, content: object) =>
    service.send({ method, path: `/api/v1/${path}`, content, headers: bearer(root.token) });
  for (let n = 0; n < addresses; n++) {
    for (const kind of ["known", "without a password", "disabled"] as const) {
      const email = emailOf(kind, n);
      const password = kind === "without a password" ? {} : { password: goodPassword };
      const asked = await post("sign-up", { email, ...password }, from());
      const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
      const proof = { ticket, code: await codeFor(email) };
      const { user } = bodyOf<Signed>(await post("sign-in", proof, from()));
      if (kind === "disabled") bodyOf(await ask("PATCH", `_accounts/${user.id}`, { disabled: true }));
    }
    const invited = emailOf("invited", n);
    bodyOf(await ask("POST", "_invitations", { email: invited, roles: [] }), 201);
    await until("the invitation is mailed", () => mails.some(({ to }) => to === invited));
  }
}

/** What a response shows, without what differs by nature: times, ids and random texts. */
function shownBy({ status, rawHeaders, text, bytes }: Answer): unknown {
  const plain = (value: string) =>
    value
      .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "any id")
      .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z/g, "any time");
  const body = plain(text).replace(/"ticket":"[\w-]{43}"/, "any ticket");
  return { status, headers: rawHeaders.map(plain), body, length: bytes.length };
}

/** A call in the background, or one that removes what is old, which depends on the time or on the number of requests before. */
function isOfOthers(call: string): boolean {
  return (
    [
      "list _mail",
      "count _guesses",
      "list _guesses",
      "count _audit",
      "list _audit",
      "list _sessions",
    ].includes(call) || /^commit( -?_mail)+$|^commit( -\w+)+$/.test(call)
  );
}

/** Adds `hash` to calls for each password that a service of this process hashes, until the test ends. */
function watchHashes(t: TestContext, calls: string[]): void {
  onHash(t, (give) => {
    calls.push("hash");
    give();
  });
}

/** The chance that a value of the first sample is larger than one of the second (Mann and Whitney). */
function chanceOfLarger(first: readonly number[], second: readonly number[]): number {
  const all = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].toSorted((a, b) => a.value - b.value);
  const ranks = all.reduce((sum, { isFirst }, n) => (isFirst ? sum + n + 1 : sum), 0);
  return (ranks - (first.length * (first.length + 1)) / 2) / (first.length * second.length);
}

const random = generator();

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

test("known, disabled, invited and unknown addresses get the same responses by the same work", async (t) => {
  let passed = 0;
  const people = await startPeople(t, {
    trustProxy: ["127.0.0.1"],
    now: () => machineTime() + passed,
    isWatched: !judgesTimes,
    users: { signUp: { domains: ["example.org", "root.example"], roles: ["ops"] } },
  });
  const { post, mails } = people;
  await populate(people);
  const calls = watchCalls(t);
  watchHashes(t, calls);
  const times = new Map<string, number[]>();
  const ask = async (asked: Asked, email: string, ticket: string): Promise<Answer> => {
    const byPassword = { email, password: goodPassword };
    const profile = { name: "Any" };
    switch (asked) {
      case "sign-in":
        // The password is right where the account is disabled. It would begin a session where it is known.
        return post(
          asked,
          email.startsWith("known") ? { email, password: "not the right one" } : byPassword,
          from(),
        );
      case "sign-up":
        return post(asked, { ...byPassword, profile }, from());
      case "sign-up by code":
        return post("sign-up", { email, profile }, from());
      case "wrong code":
        return post("sign-in", { ticket, code: "0000-0000" }, from());
      default:
        return post(asked, { email }, from());
    }
  };
  let expected = mails.length;
  for (let n = 0; n < rounds; n++) {
    passed += 2 * hourMs; // the limits of addresses begin again
    const tickets = new Map<Kind, string>();
    for (const asked of requests) {
      const seen = new Map<Kind, unknown>();
      for (const kind of shuffled(kinds)) {
        calls.length = 0;
        const begun = performance.now();
        const answer = await ask(asked, emailOf(kind, n), tickets.get(kind) ?? "");
        const name = `${asked}, ${kind}`;
        const ms = performance.now() - begun;
        if (times.get(name)?.push(ms) === undefined) times.set(name, [ms]);
        const own = calls.filter((call) => !isOfOthers(call));
        assert.ok(own.length > 3, `${name}: ${own}`);
        const hashes = asked === "sign-in" || asked === "sign-up" ? 1 : 0;
        assert.equal(own.filter((call) => call === "hash").length, hashes, name);
        seen.set(kind, { answer: shownBy(answer), calls: own });
        if (asked === "code") tickets.set(kind, bodyOf<{ ticket: string }>(answer, 202).ticket);
        else assert.equal(answer.status, asked === "reset" || asked.startsWith("sign-up") ? 202 : 401);
      }
      for (const kind of kinds)
        assert.deepEqual(seen.get(kind), seen.get("unknown"), `${asked}: ${kind} differs from unknown`);
    }
    expected += kinds.reduce((sum, kind) => sum + mailsOf[kind], 0);
    await until("the mails of the round are sent", () => mails.length >= expected);
  }
  assert.equal(mails.length, expected);
  if (!judgesTimes) return;
  const told: string[] = [];
  for (const asked of requests)
    for (const kind of kinds.slice(1)) {
      const [own = [], other = []] = [kind, "unknown"].map((each) => times.get(`${asked}, ${each}`));
      const chance = chanceOfLarger(own, other);
      const text = `${asked}: ${kind} is slower than unknown with a chance of ${chance.toFixed(4)}`;
      t.diagnostic(text);
      if (Math.abs(chance - 0.5) > 0.03) told.push(text);
    }
  assert.deepEqual(told, []);
});

test("where people need an invitation, a sign-up without the right one tells nothing about the address", async (t) => {
  const people = await startPeople(t, { users: { signUp: { domains: ["root.example"], roles: ["ops"] } } });
  const { token } = await people.join("ada@root.example");
  const invite = async (email: string) =>
    people.service.send({
      method: "POST",
      path: "/api/v1/_invitations",
      content: { email },
      headers: bearer(token),
    });
  const mailed = async (email: string) => {
    const find = () => people.mails.findLast(({ to }) => to === email)?.text;
    await until("the invitation is mailed", () => find() !== undefined);
    return /#invitation=([\w-]{43})/.exec(find() ?? "")?.[1] ?? "";
  };
  bodyOf(await invite("known@example.org"), 201);
  const own = { email: "known@example.org", password: goodPassword };
  const asked = await people.post("sign-up", { ...own, invitation: await mailed(own.email) });
  const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
  bodyOf(await people.post("sign-in", { ticket, code: await people.codeFor(own.email, 1) }));
  bodyOf(await invite("invited@example.org"), 201);
  const invitation = await mailed("invited@example.org");
  for (const more of [{}, { invitation: "x".repeat(43) }, { invitation }]) {
    if (more.invitation === invitation) await invite("other@example.org");
    const seen: unknown[] = [];
    for (const email of ["known@example.org", "unknown@example.org", "other@example.org"]) {
      const answer = await people.post("sign-up", { email, password: goodPassword, ...more });
      assert.equal(problemOf(answer), "400 INVALID_PARAMETER");
      seen.push(shownBy(answer));
    }
    for (const each of seen) assert.deepEqual(each, seen[0]);
  }
});
