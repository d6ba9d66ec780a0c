/** The metrics of a service with users. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { families } from "../../../../src/capabilities/users/metrics.ts";
import { type Exposition, familyOf, readExposition } from "../../../metrics/exposition.ts";
import { until } from "../../../until.ts";
import { settingsFor } from "../mail-server.ts";
import { bodyOf, goodPassword, startPeople } from "./people.ts";

const ada = "ada@example.org";

/** A port at which no mail server can be: only the system uses it. */
const closedPort = 1;
const ofUsers = Object.keys(families).filter((name) =>
  /_(?:sign_ins|sessions|password|guess|mail)/.test(name),
);

test("sign-ins, hashes, limits, sessions and mails are counted", async (t) => {
  const { service, join, post } = await startPeople(t, { metrics: { host: "127.0.0.1", port: 0 } });
  const scrape = async () => readExposition(await (await fetch(String(service.metrics))).text());
  await join(ada);
  bodyOf(await post("sign-in", { email: ada, password: goodPassword }));
  for (let n = 0; n < 12; n++) await post("sign-in", { email: ada, password: "wrong wrong wrong" });
  let found = await scrape();
  const signIns = (each: Exposition, method: string, result: string) =>
    each.value("holdfast_sign_ins_total", { method, result });
  await until("everything is counted", async () => {
    found = await scrape();
    return signIns(found, "password", "refused") === 2 && found.value("holdfast_sessions") === 2;
  });
  assert.equal(ofUsers.length, 8);
  for (const name of ofUsers) {
    const { type, labels } = families[name as keyof typeof families];
    assert.equal(found.types.get(name), type, name);
    const samples = found.samples.filter((each) => familyOf(each.name, found.types) === name);
    assert.ok(samples.length > 0, name);
    for (const sample of samples)
      assert.deepEqual(
        Object.keys(sample.labels).filter((label) => label !== "le"),
        labels,
        name,
      );
  }
  assert.equal(signIns(found, "password", "done"), 1);
  assert.equal(signIns(found, "email", "done"), 1);
  assert.equal(signIns(found, "password", "failed"), 10);
  assert.equal(found.value("holdfast_guess_limits_total", { policy: "password-address" }), 2);
  assert.equal(found.value("holdfast_password_hash_seconds_count"), 12);
  assert.equal(found.value("holdfast_password_waiting"), 0);
  assert.equal(found.value("holdfast_mail", { state: "sent" }), 1);
  assert.equal(found.value("holdfast_mail", { state: "waiting" }), 0);
  assert.equal(found.value("holdfast_mail_oldest_age_seconds"), 0);
  assert.equal(found.value("holdfast_metrics_source_up", { source: "users" }), 1);
});

test("a password is taken if the list of stolen ones cannot be asked, which is counted and logged once", async (t) => {
  const real = globalThis.fetch;
  t.after(() => {
    globalThis.fetch = real;
  });
  globalThis.fetch = async (to, options) => {
    if (String(to).startsWith("https://api.pwnedpasswords.com/")) throw new Error("The network is down.");
    return real(to, options);
  };
  const lines: string[] = [];
  const { service, join } = await startPeople(t, {
    metrics: { host: "127.0.0.1", port: 0 },
    users: { password: { words: [], breached: true } },
    log: pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
  });
  for (const email of [ada, "bob@example.org"]) await join(email);
  const found = readExposition(await (await real(String(service.metrics))).text());
  assert.equal(found.value("holdfast_password_unasked_total"), 2);
  const own = lines.filter((line) => line.includes("auth.users.password.breached"));
  assert.equal(own.length, 1);
  assert.match(own[0] ?? "", /The network is down\./);
});

test("passwords that wait, and the age of a mail that is not sent, are measured", async (t) => {
  const metrics = { host: "127.0.0.1", port: 0 };
  const { service, post } = await startPeople(t, { metrics, mail: settingsFor(closedPort) });
  const measured = async (name: string, labels = {}) =>
    readExposition(await (await fetch(String(service.metrics))).text()).value(name, labels);
  assert.equal((await post("sign-up", { email: ada })).status, 202);
  await until("the mail waits", async () => (await measured("holdfast_mail", { state: "waiting" })) === 1);
  await until("it gets older", async () => Number(await measured("holdfast_mail_oldest_age_seconds")) > 0);
  const signIns: Promise<unknown>[] = [];
  await until("a password waits", async () => {
    for (let n = 0; n < 4; n++)
      signIns.push(post("sign-in", { email: `${signIns.length}@example.org`, password: "a wrong one" }));
    return Number(await measured("holdfast_password_waiting")) > 0;
  });
  await Promise.all(signIns);
  await until("no password waits", async () => (await measured("holdfast_password_waiting")) === 0);
});
