import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import {
  createPasswordHasher,
  hashMethods,
  joinPasswordHasher,
  type PasswordHasher,
} from "../../../src/capabilities/users/password-hash.ts";
import { Problem } from "../../../src/errors.ts";
import { answerCalls, createCalls } from "../../../src/server/calls.ts";
import { longestStandstill, standstillBoundMs } from "../../http/probe.ts";
import { until } from "../../until.ts";

const right = "correct horse battery staple";

/** A hash of `password` with lower costs, from the tests of the reference implementation (P-H-C/phc-winner-argon2). */
const foreign = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

/** A hash whose parameters no thread accepts, so that the thread fails. */
const impossible = `$argon2id$v=19$m=64,t=0,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

const hasher = createPasswordHasher();
after(() => hasher.close());

function isProblem(code: string, headers: Record<string, RegExp> = {}): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    assert.equal(error.policy, code === "QUOTA_EXCEEDED" ? "password-waiting" : undefined);
    for (const [name, value] of Object.entries(headers)) assert.match(error.headers[name] ?? "", value);
    return true;
  };
}

/** So many calls, each from another network. The first 20 take as long as usual, the others less. */
function manyCalls(count: number, { by = hasher, network = (n: number) => `192.0.2.${n}` } = {}) {
  return Array.from({ length: count }, (_, n) => by.verify(right, n < 20 ? undefined : foreign, network(n)));
}

describe("a hash", () => {
  test("is a PHC string of argon2id with 19 MiB, 2 passes and 1 lane, and another one each time", async () => {
    const [one, other] = await Promise.all([hasher.hash(right, "a"), hasher.hash(right, "a")]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.notEqual(one, other);
  });

  test("is right for the password that it was made of, and for no other", async () => {
    const phc = await hasher.hash(right, "a");
    assert.deepEqual(await hasher.verify(right, phc, "a"), { isRight: true, isOutdated: false });
    for (const other of [`${right} `, right.toUpperCase(), right.slice(1), ""])
      assert.deepEqual(await hasher.verify(other, phc, "a"), { isRight: false, isOutdated: false });
  });

  test("is right for each form of the same characters and spaces, and not for texts that only look alike", async () => {
    const forms = [
      "caf\u00e9 \ufffd",
      "cafe\u0301 \ufffd",
      "caf\u00e9\u00a0\ufffd",
      "cafe\u0301\u3000\ufffd",
    ];
    for (const made of forms) {
      const phc = await hasher.hash(made, "a");
      for (const sent of forms)
        assert.deepEqual(await hasher.verify(sent, phc, "a"), { isRight: true, isOutdated: false });
      for (const other of [
        "caf\u00e9 \ud800",
        "cafe \ufffd",
        "caf\u00e9\ufffd",
        "CAF\u00c9 \ufffd",
        "\uff43af\u00e9 \ufffd",
      ])
        assert.equal((await hasher.verify(other, phc, "a")).isRight, false, other);
    }
    await assert.rejects(hasher.hash("caf\u00e9 \ud800", "a"), TypeError);
  });

  test("of another program with lower costs is outdated once the password is right", async () => {
    assert.deepEqual(await hasher.verify("password", foreign, "a"), { isRight: true, isOutdated: true });
    assert.deepEqual(await hasher.verify("wrong", foreign, "a"), { isRight: false, isOutdated: false });
  });

  test("that does not exist is right for no password", async () => {
    assert.deepEqual(await hasher.verify(right, undefined, "a"), { isRight: false, isOutdated: false });
  });

  for (const damaged of ["", "$2b$10$abc", foreign.replace("argon2id", "argon2i"), foreign.slice(0, 50)])
    test(`cannot be ${damaged || "empty"}`, async () => {
      await assert.rejects(hasher.verify(right, damaged, "a"), /damaged/);
    });
});

describe("what waits is bounded", () => {
  test("for a network: the fifth call is 429, and the others are answered", async () => {
    const four = Promise.all(manyCalls(4, { network: () => "a" }));
    await assert.rejects(hasher.hash(right, "a"), isProblem("QUOTA_EXCEEDED", { "retry-after": /^1$/ }));
    await four;
    await hasher.verify("password", foreign, "a");
    assert.equal(hasher.waiting, 0);
  });

  test("for the process: the 101st call is 503, the event loop is free, and the others are answered", async () => {
    const standstill = await longestStandstill(async () => {
      const hundred = Promise.all(manyCalls(100));
      assert.equal(hasher.waiting, 100);
      await assert.rejects(
        hasher.hash(right, "z"),
        isProblem("UNAVAILABLE", { "retry-after": /^[1-9]\d*$/ }),
      );
      assert.ok((await hundred).every(({ isRight }) => !isRight));
    });
    assert.ok(standstill <= standstillBoundMs, `${standstill} ms`);
    assert.equal(hasher.waiting, 0);
  });
});

describe("a client that goes", () => {
  test("takes its call out of the queue, and one that a thread works on goes on", async () => {
    const times: number[] = [];
    const own = createPasswordHasher({ threads: 1, onHash: (seconds) => times.push(seconds) });
    const gone = new AbortController();
    const begun = own.verify("password", foreign, "a", gone.signal);
    const [waiting, last] = [own.hash(right, "a", gone.signal), own.verify("password", foreign, "b")];
    gone.abort();
    await assert.rejects(waiting, isProblem("INVALID_REQUEST"));
    assert.equal((await begun).isRight, true);
    assert.equal((await last).isRight, true);
    await assert.rejects(own.hash(right, "a", gone.signal), isProblem("INVALID_REQUEST"));
    assert.deepEqual([times.length, own.waiting], [2, 0]);
    await own.close();
  });
});

describe("a thread that ends", () => {
  test("rejects all that wait, and the next call starts a new one", async () => {
    const [failing, ...others] = [hasher.verify(right, impossible, "a"), ...manyCalls(9)];
    for (const each of [failing, ...others])
      await assert.rejects(each as Promise<unknown>, isProblem("UNAVAILABLE"));
    assert.equal(hasher.waiting, 0);
    assert.equal((await hasher.verify("password", foreign, "a")).isRight, true);
  });

  test("because the hasher is closed rejects all that wait, and later calls", async () => {
    const own = createPasswordHasher({ threads: 2 });
    const calls = manyCalls(10, { by: own });
    const outcomes = Promise.allSettled(calls);
    await own.close();
    for (const { status } of await outcomes) assert.equal(status, "rejected");
    await assert.rejects(own.hash(right, "a"), isProblem("UNAVAILABLE"));
    assert.equal(own.waiting, 0);
  });
});

test("the hasher reports the time of each hash", async () => {
  const times: number[] = [];
  const own = createPasswordHasher({ onHash: (seconds) => times.push(seconds) });
  await own.verify("password", foreign, "a");
  await own.close();
  assert.equal(times.length, 1);
  assert.ok((times[0] as number) > 0);
});

describe("another thread", () => {
  const { port1, port2 } = new MessageChannel();
  answerCalls(port1, hashMethods(hasher));
  const joined: PasswordHasher = joinPasswordHasher(createCalls(port2));
  after(() => port2.close());

  test("uses the hasher of the main thread", async () => {
    const phc = await joined.hash(right, "a");
    assert.deepEqual(await joined.verify(right, phc, "a"), { isRight: true, isOutdated: false });
    assert.equal((await joined.verify(right, undefined, "a")).isRight, false);
  });

  test("takes the call of a client that goes out of the queue", async () => {
    const others = Promise.all(manyCalls(20));
    const gone = new AbortController();
    const call = joined.hash(right, "a", gone.signal);
    await until("the call waits", () => hasher.waiting === 21);
    gone.abort();
    await assert.rejects(call, isProblem("INVALID_REQUEST"));
    await others;
    await assert.rejects(joined.verify(right, foreign, "a", gone.signal), isProblem("INVALID_REQUEST"));
  });

  test("gets the problems of the main thread with their codes and headers", async () => {
    const four = Promise.all(manyCalls(4, { network: () => "a" }));
    await assert.rejects(joined.hash(right, "a"), isProblem("QUOTA_EXCEEDED", { "retry-after": /^1$/ }));
    await four;
    await assert.rejects(joined.verify(right, "no hash", "a"), /damaged/);
  });
});
