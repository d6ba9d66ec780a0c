import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, describe, test } from "node:test";
import {
  GuessLimits,
  type GuessLimitsParts,
  type GuessPolicy,
  guessesName,
  guessPolicies,
  mailOfService,
} from "../../../src/capabilities/users/guess-limits.ts";
import { Problem } from "../../../src/errors.ts";
import { openStore } from "../../../src/store/open.ts";
import type { ServingStore, Store } from "../../../src/store/port/store.ts";
import type { OpenFixture } from "../../store/contract/fixture.ts";
import { openPostgresFixture } from "../../store/postgres-fixture.ts";
import { openSqliteFixture } from "../../store/sqlite-fixture.ts";

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const minute = 60_000;
const hour = 60 * minute;

const mac = (text: string) => createHmac("sha256", "a key of the test").update(text).digest("base64url");

function limitsOn(store: ServingStore, parts: Partial<GuessLimitsParts> = {}): GuessLimits {
  return new GuessLimits({ store, mac, ...parts });
}

/** The problem of a refusal. */
async function refusal(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(error instanceof Problem, String(error));
  return error;
}

const waitOf = async (promise: Promise<unknown>) => Number((await refusal(promise)).headers["retry-after"]);

/** Takes so often, one after the other. */
async function takeOften(limits: GuessLimits, policy: GuessPolicy, times: number, at = now): Promise<void> {
  for (let n = 0; n < times; n++) await limits.take([{ policy, subject: "ada" }], at);
}

async function allTexts(store: Store): Promise<string[]> {
  const { items } = await store.list({ collection: guessesName, limit: 10_000 });
  return items.map(({ text }) => text);
}

const { passwordOfAddress, passwordOfNetwork, mailToAddress } = guessPolicies;

for (const [kind, open] of [
  ["SQLite", openSqliteFixture],
  ["PostgreSQL", openPostgresFixture],
] as const satisfies [string, OpenFixture][])
  describe(`on ${kind}, guesses`, async () => {
    const fixture = await open();
    let { store } = fixture;
    after(() => fixture.cleanup());
    /** A policy of its own for each test. */
    const named = (policy: GuessPolicy, name: string): GuessPolicy => ({ ...policy, name });

    test("are refused with the time to wait and the name of the policy, which is also told to the operator", async () => {
      const refused: string[] = [];
      const limits = limitsOn(store, { onRefused: (policy) => refused.push(policy) });
      await takeOften(limits, passwordOfAddress, 10);
      const problem = await refusal(
        limits.take([{ policy: passwordOfAddress, subject: "ada" }], now + 10 * minute),
      );
      assert.equal(problem.code, "QUOTA_EXCEEDED");
      assert.equal(problem.policy, "password-address");
      assert.equal(problem.headers["retry-after"], "3000");
      assert.deepEqual(refused, ["password-address"]);
      await limits.take([{ policy: passwordOfAddress, subject: "eve" }], now); // another subject
      await limits.take([{ policy: passwordOfNetwork, subject: "ada" }], now); // another policy
    });

    test("start again after each window, until the longest one is full", async () => {
      const policy = named(passwordOfAddress, "windows");
      const limits = limitsOn(store);
      for (const hours of [0, 1, 2]) await takeOften(limits, policy, 10, now + hours * hour);
      assert.equal(await waitOf(takeOften(limits, policy, 1, now + 3 * hour)), 21 * 3_600);
      await takeOften(limits, policy, 1, now + 24 * hour);
    });

    test("above the limit of mails are allowed one in ten minutes", async () => {
      const policy = named(mailToAddress, "mails");
      const limits = limitsOn(store);
      await takeOften(limits, policy, 5);
      assert.equal(await waitOf(takeOften(limits, policy, 1, now + minute)), 9 * 60);
      await takeOften(limits, policy, 1, now + 10 * minute);
      assert.equal(await waitOf(takeOften(limits, policy, 1, now + 19 * minute)), 60);
      await takeOften(limits, policy, 1, now + 20 * minute);
      await takeOften(limits, policy, 5, now + 60 * minute); // a new window
    });

    test("of the service are 503", async () => {
      const limits = limitsOn(store);
      await takeOften(limits, mailOfService(3), 3);
      const { code, policy, headers } = await refusal(takeOften(limits, mailOfService(3), 1));
      assert.deepEqual([code, policy, headers["retry-after"]], ["UNAVAILABLE", undefined, "3600"]);
    });

    test("count for all policies or for none", async () => {
      const address = named(passwordOfAddress, "all-address");
      const network = named(passwordOfNetwork, "all-network");
      const limits = limitsOn(store);
      const both = [
        { policy: network, subject: "ada" },
        { policy: address, subject: "ada" },
      ];
      for (let n = 0; n < 10; n++) await limits.take(both, now);
      for (let n = 0; n < 10; n++)
        assert.equal((await refusal(limits.take(both, now))).policy, "all-address");
      await takeOften(limits, network, 90);
      assert.equal((await refusal(takeOften(limits, network, 1))).policy, "all-network");
    });

    test("that are listed twice count once", async () => {
      const policy = named(passwordOfAddress, "twice");
      const limits = limitsOn(store);
      const take = { policy, subject: "ada" };
      for (let n = 0; n < 10; n++) await limits.take([take, take], now);
      await refusal(limits.take([take, take], now));
    });

    test("can be given back, but only those of the same window", async () => {
      const policy = named(passwordOfAddress, "back");
      const limits = limitsOn(store);
      await takeOften(limits, policy, 9);
      const taken = await limits.take([{ policy, subject: "ada" }], now);
      await taken.giveBack();
      const last = await limits.take([{ policy, subject: "ada" }], now);
      await refusal(takeOften(limits, policy, 1));
      await takeOften(limits, policy, 10, now + hour);
      await last.giveBack();
      await refusal(takeOften(limits, policy, 1, now + hour));
    });

    test("are not refused for longer after a clock was set back", async () => {
      const policy = named(passwordOfNetwork, "clock");
      const limits = limitsOn(store);
      await takeOften(limits, policy, 99, now + 365 * 24 * hour);
      await takeOften(limits, policy, 1);
      assert.equal(await waitOf(takeOften(limits, policy, 1)), 3_600);
    });

    test("at the same time are counted exactly, in two instances with several policies", async () => {
      const other = await openStore(fixture.address as NonNullable<typeof fixture.address>).catch(
        () => store,
      );
      assert.equal(other === store, kind === "SQLite", "only PostgreSQL has instances; SQLite has threads");
      const policies = [named(passwordOfAddress, "race-address"), named(passwordOfNetwork, "race-network")];
      const both = [limitsOn(store), limitsOn(other)];
      const calls = Array.from({ length: 64 }, (_, n) => {
        const [first, second] = n % 4 < 2 ? policies : policies.toReversed();
        const takes = [first, second].map((policy) => ({ policy: policy as GuessPolicy, subject: "ada" }));
        return (both[n % 2] as GuessLimits).take(takes, now);
      });
      const outcomes = await Promise.allSettled(calls);
      const taken = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      for (const outcome of outcomes)
        if (outcome.status === "rejected") assert.equal(outcome.reason.policy, "race-address");
      assert.equal(taken.length, 10);
      await Promise.all(taken.slice(0, 5).map((each) => each.giveBack()));
      const again = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) =>
          (both[n % 2] as GuessLimits).take([{ policy: policies[0] as GuessPolicy, subject: "ada" }], now),
        ),
      );
      assert.equal(again.filter(({ status }) => status === "fulfilled").length, 5);
      if (other !== store) await other.close();
    });

    test("cost the same for a subject that was counted before and for a new one", async () => {
      const policy = named(passwordOfNetwork, "cost");
      const calls: string[] = [];
      const counting = new Proxy(store, {
        get: (target, name) => {
          const value = Reflect.get(target, name, target) as unknown;
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            calls.push(String(name));
            return value.apply(target, args);
          };
        },
      });
      const limits = limitsOn(counting);
      const callsOf = async (subject: string) => {
        calls.length = 0;
        await limits.take([{ policy, subject }], now);
        return [...calls];
      };
      await callsOf("warm");
      assert.deepEqual(await callsOf("ada"), ["read", "commit"]);
      assert.deepEqual(await callsOf("ada"), ["read", "commit"]);
      assert.deepEqual(await callsOf("somebody else"), ["read", "commit"]);
    });

    test("survive a restart, and the store says nothing about whom they are", async () => {
      const policy = named(passwordOfAddress, "restart");
      await limitsOn(store).take([{ policy, subject: "grace@example.org" }], now);
      await takeOften(limitsOn(store), policy, 10);
      store = await fixture.reopen();
      await refusal(takeOften(limitsOn(store), policy, 1));
      const texts = await allTexts(store);
      assert.ok(texts.length > 2);
      assert.doesNotMatch(texts.join(), /ada|grace|example|restart|address/);
    });

    test("that are over leave the store, and so do the ones that expire first if there are too many", async () => {
      const later = now + 1_000 * hour;
      const policy = named(passwordOfNetwork, "many");
      const limits = limitsOn(store, { mostCounters: 200 });
      let most = 0;
      for (let n = 0; n < 400; n++) {
        await limits.take([{ policy, subject: `subject ${n}` }], later + n);
        most = Math.max(most, await store.count(guessesName));
      }
      assert.ok(most <= 200, `${most} counters`);
      const ids = (await allTexts(store)).map((text) => JSON.parse(text).id);
      assert.ok(ids.includes(mac("many\nsubject 399")));
      assert.ok(!ids.includes(mac("many\nsubject 0")));
    });
  });
