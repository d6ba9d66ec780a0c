/** The service is killed between two calls to its store while somebody signs up, resets a password, links an identity or goes. */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import type { Account } from "../../../src/capabilities/users/user-records.ts";
import { Records } from "../../../src/records.ts";
import { openStore, type StoreAddress } from "../../../src/store/open.ts";
import { createClient } from "../../durability/program.ts";
import { makeFolder } from "../../folder.ts";
import type { Answer, Service } from "../../http/service.ts";
import { nodeFlags } from "../../node.ts";
import { databaseFor, query } from "../../postgres/databases.ts";
import { generator } from "../../seed.ts";
import { until } from "../../until.ts";
import { fragmentOf, type RunningProvider, startOpenId, TestBrowser } from "./http/provider-servers.ts";
import type { Order } from "./kill/service.ts";
import { headerOf, type MailServer, readable, startMailServer } from "./mail-server.ts";

/** A short form. `npm run prove -- users` makes 200 kills on each store. */
const kills = Number(process.env.HOLDFAST_TEST_KILLS ?? 6);

const password = "correct horse battery staple";
const newPassword = "a very different passphrase";

/** A mail that the service was sending when it was killed is due again after this time, in milliseconds. */
const afterClaimMs = 100_000;

/** After this time no limit counts what was before, in milliseconds. */
const afterLimitsMs = 2 * 3_600_000;

/** Thrown for a request without a response. */
class Killed extends Error {}

/** What happened to a request during which the service should die. */
type Sent = { status: number; text: string } | "killed";

/** The service, the mail server and the provider. */
class World {
  readonly mails: MailServer;
  readonly provider: RunningProvider;
  readonly #store: StoreAddress;
  readonly #cwd: string;
  #child: ChildProcess | undefined;
  #port = 0;
  #aheadMs = 0;

  constructor(store: StoreAddress, parts: { cwd: string; mails: MailServer; provider: RunningProvider }) {
    this.#store = store;
    this.#cwd = parts.cwd;
    this.mails = parts.mails;
    this.provider = parts.provider;
  }

  /** Starts it, on the same port as before. Another program can have that port for a moment. */
  start(): Promise<void> {
    return until("the service starts", () => this.#tryToStart());
  }

  async #tryToStart(): Promise<boolean> {
    const store = this.#store;
    const address = store.kind === "sqlite" ? `sqlite:${store.path}` : store.url;
    const provider = JSON.stringify(this.provider.settings);
    const file = resolve("test/capabilities/users/kill/service.ts");
    const child = fork(file, [address, String(this.#port), String(this.#aheadMs), provider], {
      cwd: this.#cwd,
      execArgv: nodeFlags,
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const [, port] = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (port === undefined) continue;
      this.#port = Number(port);
      return true;
    }
    return false;
  }

  /** Kills it, unless it has killed itself, and waits until nothing of it works any more. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    if (this.#store.kind === "sqlite") return;
    const { url } = this.#store;
    const others =
      "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
    await until(
      "the database has ended its sessions",
      async () => (await query(url, others)).rows.length === 0,
    );
  }

  async order(order: Order): Promise<void> {
    const child = this.#child as ChildProcess;
    const done = once(child, "message");
    child.send(order);
    await done;
  }

  /** Lets time pass, also for the next start. */
  async pass(ms: number): Promise<void> {
    this.#aheadMs += ms;
    if (this.#child !== undefined) await this.order({ pass: ms });
  }

  /** Sends a request. Throws `Killed` without a response. */
  async send(method: string, path: string, content?: unknown, headers: Record<string, string> = {}) {
    const client = createClient(this.#port);
    const answer = await client.send(method, path, content, headers);
    client.close();
    if (answer === undefined) throw new Killed();
    return answer;
  }

  async post(path: string, content: unknown): Promise<{ status: number; text: string }> {
    return this.send("POST", `/_auth/${path}`, content);
  }

  /** A browser with cookies of its own. */
  browser(): TestBrowser {
    const send: Service["send"] = async ({ method = "GET", path, content, headers = {} }) => {
      const answer = await this.send(
        method,
        path.replace("/api/v1", ""),
        content,
        headers as Record<string, string>,
      );
      const all = Object.entries(answer.headers).flatMap(([name, value]) =>
        [value ?? []].flat().flatMap((each) => [name, each]),
      );
      const { status, text, headers: named } = answer;
      return {
        status,
        text,
        headers: named,
        rawHeaders: all,
        json: text && JSON.parse(text),
      } as never as Answer;
    };
    return new TestBrowser({ send, port: this.#port } as never as Service);
  }

  /** The different mails to an address, each with its code if it has one. */
  mailsTo(email: string): { id: string; code: string | undefined }[] {
    const own = this.mails.taken.filter(({ to }) => to[0] === email).map(({ raw }) => raw);
    const byId = new Map(own.map((raw) => [headerOf(raw, "Message-ID") ?? "", raw]));
    return [...byId].map(([id, raw]) => ({ id, code: /#code=([\w-]{9})/.exec(readable(raw))?.[1] }));
  }

  async untilMails(email: string, count: number): Promise<void> {
    await until(`${count} mails to ${email}`, () => this.mailsTo(email).length >= count);
  }

  /** Asks for a code, and returns it with its ticket. */
  async codeFor(path: string, content: { email: string }): Promise<{ ticket: string; code: string }> {
    const before = this.mailsTo(content.email).length;
    const { status, text } = await this.post(path, content);
    assert.equal(status, 202, text);
    await this.untilMails(content.email, before + 1);
    const code = this.mailsTo(content.email).at(-1)?.code ?? "";
    return { ticket: (JSON.parse(text) as { ticket: string }).ticket, code };
  }

  async join(email: string): Promise<{ id: string; token: string }> {
    const proof = await this.codeFor("sign-up", { email, password } as { email: string });
    const { status, text } = await this.post("sign-in", proof);
    assert.equal(status, 200, text);
    const { user, token } = JSON.parse(text) as { user: { id: string }; token: string };
    return { id: user.id, token };
  }

  async signIn(email: string, by: string): Promise<number> {
    return (await this.post("sign-in", { email, password: by })).status;
  }

  /** Reads the store while no service uses it, and checks that no part of anything is missing. */
  async contents(called: string): Promise<Contents> {
    const store = await openStore(this.#store);
    try {
      const records = new Records(store, []);
      const all = async <T>(collection: string): Promise<T[]> => {
        const page = await records.list<T>({ collection, limit: 10_000 });
        assert.equal(page.more, false);
        return page.records.map(({ value }) => value);
      };
      const profiles = await all<{ id: string }>("users");
      const accounts = await all<Account>("_accounts");
      const [own, shown] = [accounts, profiles].map((each) => each.map(({ id }) => id).sort());
      assert.deepEqual(own, shown, `${called}: every account has a profile, and every profile an account`);
      assert.equal(new Set(accounts.map(({ address }) => address)).size, accounts.length);
      const ids = new Set(accounts.map(({ id }) => id));
      const owned = async (name: string) => {
        const found = await all<{ user?: string }>(name);
        for (const { user } of found)
          assert.ok(
            user === undefined || ids.has(user),
            `${called}: ${name} has something of an account that is gone`,
          );
        return found;
      };
      const sessions = await owned("_sessions");
      const identities = await owned("_identities");
      for (const each of ["_tickets", "_mail", "_invitations"]) await owned(each);
      const entries = await all<{ kind: string; subject?: string }>("_audit");
      for (const { id } of accounts) {
        const signUps = entries.filter(({ kind, subject }) => kind === "signUp" && subject === id);
        assert.equal(signUps.length, 1, `${called}: a new account has one entry in the audit`);
      }
      return { accounts, sessions, identities };
    } finally {
      await store.close();
    }
  }
}

interface Contents {
  accounts: readonly Account[];
  sessions: readonly { user?: string }[];
  identities: readonly { user?: string }[];
}

/** What is done while the service dies: prepares it, and returns the request and what must be true after it. */
type Flow = (
  world: World,
  email: string,
) => Promise<{
  send: () => Promise<{ status: number; text: string }>;
  /** Before the next start: whether the request has taken effect. */
  isDone: (contents: Contents) => boolean;
  /** After the next start. */
  check: (isDone: boolean, sent: Sent) => Promise<void>;
}>;

/** A code that has done its work does it never again; another one does it once. */
async function requireOnce(
  send: () => Promise<{ status: number; text: string }>,
  isDone: boolean,
): Promise<void> {
  const first = await send();
  assert.equal(first.status, isDone ? 401 : 200, first.text);
  const second = await send();
  assert.equal(second.status, 401, second.text);
}

const flows: Readonly<Record<string, Flow>> = {
  async "asking to sign up"(world, email) {
    const send = () => world.post("sign-up", { email, password });
    return {
      send,
      isDone: () => false,
      async check(_, sent) {
        // The mail of a request without a response can come, but not twice as two mails.
        const isAnswered = sent !== "killed";
        if (isAnswered) await world.untilMails(email, 1);
        const { ticket } = JSON.parse(isAnswered ? sent.text : (await send()).text) as { ticket: string };
        let status = 0;
        const tried = new Set<string>(); // a ticket takes only five wrong codes
        await until("the code comes", async () => {
          for (const { code } of world.mailsTo(email)) {
            if (code === undefined || tried.has(code) || status === 200) continue;
            tried.add(code);
            status = (await world.post("sign-in", { ticket, code })).status;
          }
          return status === 200;
        });
        const { length } = world.mailsTo(email);
        assert.ok(length >= 1 && length <= (isAnswered ? 1 : 2), `${length} mails`);
        assert.equal(await world.signIn(email, password), 200);
      },
    };
  },
  async "signing up"(world, email) {
    const proof = await world.codeFor("sign-up", { email, password } as { email: string });
    const send = () => world.post("sign-in", proof);
    return {
      send,
      isDone: ({ accounts }) => accounts.some(({ address }) => address === email),
      async check(isDone) {
        await requireOnce(send, isDone);
        assert.equal(await world.signIn(email, password), 200);
        assert.equal(world.mailsTo(email).length, 1);
      },
    };
  },
  async "resetting a password"(world, email) {
    const { id } = await world.join(email);
    const proof = await world.codeFor("reset", { email });
    const send = () => world.post("password", { ...proof, password: newPassword });
    const kept = (contents: Contents) => contents.accounts.find((account) => account.id === id)?.password;
    await world.kill();
    const before = kept(await world.contents("before a reset"));
    await world.start();
    return {
      send,
      isDone: (contents) => kept(contents) !== before,
      async check(isDone) {
        if (!isDone) assert.equal(await world.signIn(email, password), 200);
        await requireOnce(send, isDone);
        assert.equal(await world.signIn(email, newPassword), 200);
        assert.equal(await world.signIn(email, password), 401);
        await world.untilMails(email, 3); // of the sign-up, of the reset, and the notice
        assert.equal(world.mailsTo(email).length, 3);
      },
    };
  },
  async "linking an identity"(world, email) {
    const { id } = await world.join(email);
    const browser = world.browser();
    world.provider.person = { sub: email, email: `other-${email}` };
    const signedIn = await browser.send("/api/v1/_auth/sign-in", {
      content: { email, password, cookie: true },
    });
    assert.equal(signedIn.status, 200, signedIn.text);
    const { link: ticket } = fragmentOf(await browser.signIn("work"));
    assert.ok(ticket !== undefined);
    const send = () => browser.send("/api/v1/_auth/identities", { content: { ticket } });
    return {
      send,
      isDone: ({ identities }) => identities.some(({ user }) => user === id),
      async check(isDone) {
        await requireOnce(send, isDone);
        world.provider.person = { sub: email };
        const other = world.browser();
        await other.signIn("work");
        assert.equal((await other.user())?.id, id);
        await world.untilMails(email, 2); // of the sign-up, and the notice
        assert.equal(world.mailsTo(email).length, 2);
      },
    };
  },
  async "deleting the own profile"(world, email) {
    const { id, token } = await world.join(email);
    await world.post("code", { email });
    const headers = { authorization: `Bearer ${token}` };
    const send = () => world.send("DELETE", `/users/${id}`, undefined, headers);
    return {
      send,
      isDone: ({ accounts }) => accounts.every((account) => account.id !== id),
      async check(isDone) {
        assert.equal(await world.signIn(email, password), isDone ? 401 : 200);
        const again = await send();
        assert.equal(again.status, isDone ? 401 : 205, again.text);
        assert.equal(await world.signIn(email, password), 401);
        assert.notEqual((await world.join(email)).id, id);
      },
    };
  },
};

/** Every flow dies at one of these calls to the store. */
const calls = 12;
const moments = ["before", "during", "after"] as const;

async function prove(t: TestContext, store: StoreAddress): Promise<void> {
  const mails = await startMailServer();
  const provider = await startOpenId(t, { name: "work" });
  const configuration = {
    collections: {
      users: {
        id: "uuid",
        access: { read: "public", delete: { where: { id: "$subject" } } },
      },
    },
    auth: { users: { collection: "users", signUp: "open" } },
    mail: { from: "Shop <noreply@shop.example>", smtp: `smtp://127.0.0.1:${mails.port}` },
  };
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(configuration) });
  const world = new World(store, { cwd, mails, provider });
  t.after(async () => {
    await world.kill();
    await mails.close();
  });
  await world.start();
  const counts = { killed: 0, done: 0 };
  const names = Object.keys(flows);
  const random = generator();
  const first = Math.floor(random() * calls * moments.length);
  for (let n = 0; n < kills; n++) {
    const turn = first + Math.floor(n / names.length) * 7; // 7 has no factor of the number of places
    const name = names[n % names.length] as string;
    const place = {
      kill: 1 + (turn % calls),
      when: moments[Math.floor(turn / calls) % moments.length],
      ms: 3 * random(),
    } as Order;
    const called = `${name}, ${JSON.stringify(place)}`;
    await world.pass(afterLimitsMs);
    const { send, isDone, check } = await (flows[name] as Flow)(world, `person${n}@example.org`);
    await world.order(place);
    const sent: Sent = await send().catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
      return "killed";
    });
    await world.kill();
    const wasDone = isDone(await world.contents(called));
    if (sent === "killed") counts.killed++;
    else assert.ok(sent.status < 300, `${called}: ${sent.text}`);
    if (wasDone) counts.done++;
    await world.pass(afterClaimMs);
    await world.start();
    try {
      if (sent !== "killed" && name !== "asking to sign up")
        assert.ok(wasDone, "what was confirmed is there");
      await check(wasDone, sent);
    } catch (error) {
      throw new Error(
        `${called}, ${sent === "killed" ? sent : sent.status}, ${wasDone ? "done" : "not done"}`,
        { cause: error },
      );
    }
  }
  await world.kill();
  await world.contents("at the end");
  const ids = new Set(mails.taken.map(({ raw }) => headerOf(raw, "Message-ID")));
  t.diagnostic(
    `${counts.killed} of ${kills} kills before the response, ${counts.done} of them after the effect; ${ids.size} mails, ${mails.taken.length - ids.size} of them twice`,
  );
  assert.ok(mails.taken.length - ids.size <= kills * 2, "a mail comes twice only because of a kill");
}

test(`SQLite: after ${kills} kills, no account is a half, no code works twice and no mail is lost`, async (t) => {
  await prove(t, { kind: "sqlite", path: `${makeFolder()}/store.db` });
});

test(`PostgreSQL: after ${kills} kills, no account is a half, no code works twice and no mail is lost`, async (t) => {
  const url = await databaseFor(t);
  await prove(t, { kind: "postgres", url });
});
