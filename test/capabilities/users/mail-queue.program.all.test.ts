/** Mails that wait: each is sent, once, and only while it is of use. With a real mail server. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type MailQueue, mailName } from "../../../src/capabilities/users/mail/mail-queue.ts";
import type { MailSettings } from "../../../src/capabilities/users/mail/mail-settings.ts";
import { Problem, StartError } from "../../../src/errors.ts";
import { put, remove } from "../../../src/records.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";
import { headerOf, openQueue, readable, refusal, settingsFor, startMailServer } from "./mail-server.ts";

const folder = makeFolder();

const newStore = () => ({ kind: "sqlite", path: join(folder, `${crypto.randomUUID()}.db`) }) as const;

const isEmpty = async ({ queue }: Awaited<ReturnType<typeof openQueue>>) =>
  (await queue.state()).waiting === 0;

/** A mail is counted after the commit that removes it. */
const isCounted = (
  { queue }: Pick<Awaited<ReturnType<typeof openQueue>>, "queue">,
  counts: MailQueue["counts"],
) => until(`the counts are ${JSON.stringify(counts)}`, () => isDeepStrictEqual(queue.counts, counts));

test("a mail is sent with the stored address in envelope and header, and is then removed", async () => {
  const server = await startMailServer();
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  opened.queue.start();
  const id = await opened.add();
  await until("it is removed", () => isEmpty(opened));
  const [mail, ...others] = server.taken;
  assert.deepEqual(others, []);
  assert.ok(mail);
  assert.deepEqual([mail.from, mail.to], ["noreply@shop.example", ["ada@example.org"]]);
  assert.equal(headerOf(mail.raw, "From"), "Shop <noreply@shop.example>");
  assert.equal(headerOf(mail.raw, "To"), "ada@example.org");
  assert.equal(headerOf(mail.raw, "Subject"), "Your code for Shop");
  assert.equal(headerOf(mail.raw, "Message-ID"), `<${id}@shop.example>`);
  assert.equal(headerOf(mail.raw, "Auto-Submitted"), "auto-generated");
  const body = readable(mail.raw);
  assert.match(body, /K7QF-29MX/);
  assert.match(body, /for 10 minutes/);
  assert.match(body, /<a href="https:\/\/shop\.example\/_sign-in#x">/);
  await isCounted(opened, { sent: 1, failed: 0, lost: 0 });
  await opened.close();
  await server.close();
});

test("nothing in the address or the values can add a header or a receiver", async () => {
  const server = await startMailServer();
  const opened = await openQueue(newStore(), {
    settings: settingsFor(server.port, {
      templates: {
        notice: { subject: "{{notice}} at {{title}}", text: "{{notice}}", html: undefined },
      },
    }),
    title: "Shop\r\nBcc: eve@evil.example",
  });
  opened.queue.start();
  for (const to of [
    "ada@example.org\r\nBcc: eve@evil.example",
    "ada@example.org, eve@evil.example",
    "ada@example.org,eve@evil.example",
    "<ada@example.org> eve@evil.example",
    '"eve@evil.example x"@example.org',
    "eve@evil.example(comment)@example.org",
    "a@b@example.org",
    "ada@example.org>",
    "ada@exämple.org",
    "ada@[127.0.0.1]",
    " ada@example.org",
    "ada",
    `${"a".repeat(250)}@example.org`,
  ])
    await assert.rejects(opened.add({ to }), /one plain address/, to);
  await opened.add({
    template: "notice",
    to: "o'neil+a{b}=c?d!e#f$g%h&i*j/k^l_m`n|p~q@example.org",
    values: { notice: "Hello\r\nBcc: eve@evil.example\r\n\r\nX: y" },
  });
  await until("it is removed", () => isEmpty(opened));
  const [mail] = server.taken;
  assert.ok(mail);
  assert.deepEqual(mail.to, ["o'neil+a{b}=c?d!e#f$g%h&i*j/k^l_m`n|p~q@example.org"]);
  assert.equal(headerOf(mail.raw, "Bcc"), undefined);
  assert.equal(headerOf(mail.raw, "X"), undefined);
  assert.equal(
    headerOf(mail.raw, "Subject"),
    "Hello Bcc: eve@evil.example X: y at Shop Bcc: eve@evil.example",
  );
  await opened.close();
  await server.close();
});

test("a mail is tried again at 10 s, 1 min and 5 min, until the server is back", async () => {
  const server = await startMailServer();
  const { port } = server;
  await server.close();
  const opened = await openQueue(newStore(), { settings: settingsFor(port) });
  const { clock, queue } = opened;
  const start = clock.now();
  queue.start();
  const id = await opened.add();
  const failed = (count: number) => until(`${count} attempts failed`, () => queue.counts.failed === count);
  const nextAt = async () => (await opened.records.read<{ nextAt: number }>(mailName, id))?.value.nextAt;
  let at = start;
  for (const [n, wait] of [10_000, 60_000, 300_000].entries()) {
    await failed(n + 1);
    at += wait;
    assert.equal(await nextAt(), at);
    if (n < 2) clock.moveTo(at);
  }
  const again = await startMailServer({}, port);
  clock.moveTo(at);
  await until("it is removed", () => isEmpty(opened));
  assert.equal(again.taken.length, 1);
  assert.match(readable(again.taken[0]?.raw ?? ""), /for 4 minutes/);
  assert.match(
    opened.warnings.join("\n"),
    /^mail: a mail was not sent, and will be tried again: .*ECONNREFUSED$/m,
  );
  await opened.close();
  await again.close();
});

test("a code that has expired is not sent, and no attempt follows that would be too late", async () => {
  const server = await startMailServer();
  server.onReceiver = () => refusal(450);
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  const { clock, queue } = opened;
  await opened.add({ to: "late@example.org", expiresAt: clock.now() + 60_000 });
  clock.moveTo(clock.now() + 60_000);
  await opened.add({ to: "soon@example.org", expiresAt: clock.now() + 9_000 });
  queue.start();
  await until("both are removed", () => isEmpty(opened));
  await isCounted({ queue }, { sent: 0, failed: 0, lost: 2 });
  assert.deepEqual(server.taken, []);
  assert.match(opened.warnings.join("\n"), /expired/);
  await opened.close();
  await server.close();
});

test("a refused receiver ends a mail, and no other refusal does", async () => {
  const server = await startMailServer();
  server.onReceiver = (address) => {
    if (address === "gone@example.org") return refusal(550);
    return address === "full@example.org" ? refusal(452) : undefined;
  };
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  const { queue } = opened;
  await opened.add({ to: "gone@example.org" });
  await opened.add({ to: "full@example.org" });
  queue.start();
  await until("both were tried", () => queue.counts.lost + queue.counts.failed === 2);
  assert.deepEqual(queue.counts, { sent: 0, failed: 1, lost: 1 });
  assert.equal((await queue.state()).waiting, 1);
  await opened.close();
  await server.close();
  const said = opened.warnings.join("\n");
  assert.doesNotMatch(said, /example\.org|said by|K7QF/);
});

test("a server that refuses the sender is tried again", async () => {
  const server = await startMailServer({
    onMailFrom: (_, __, callback) => callback(refusal(550)),
  });
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  await opened.add();
  opened.queue.start();
  await until("it has failed", () => opened.queue.counts.failed === 1);
  assert.match(opened.warnings.join("\n"), /MAIL FROM 550/);
  await opened.close();
  await server.close();
});

test("notices are tried for a day", async () => {
  const server = await startMailServer();
  server.onReceiver = () => refusal(450);
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  const { clock, queue } = opened;
  const start = clock.now();
  const id = await opened.add({
    template: "notice",
    values: { notice: "Your password was changed." },
    expiresAt: start + 7 * 24 * 3_600_000,
  });
  queue.start();
  for (let attempts = 1; queue.counts.lost === 0; attempts++) {
    await until("it was tried", () => queue.counts.failed + queue.counts.lost >= attempts);
    const mail = await opened.records.read<{ nextAt: number }>(mailName, id);
    if (mail !== undefined) clock.moveTo(mail.value.nextAt);
  }
  const passed = clock.now() - start;
  assert.ok(passed > 20 * 3_600_000 && passed < 24 * 3_600_000, String(passed));
  assert.equal(queue.counts.failed, 15);
  await opened.close();
  await server.close();
});

test("a killed attempt is repeated when its claim has expired, with the same Message-ID", async () => {
  const address = newStore();
  const server = await startMailServer();
  const first = await openQueue(address, { settings: settingsFor(server.port) });
  const id = await first.add();
  // What the store has after a kill between the sending and its record.
  const mail = await first.records.read<{ nextAt: number }>(mailName, id);
  assert.ok(mail);
  const claimed = { ...mail.value, attempts: 1, nextAt: first.clock.now() + 90_000 };
  await first.records.commit([put(mailName, id, mail.version, claimed)], first.clock.now());
  await first.close();
  const second = await openQueue(address, { settings: settingsFor(server.port) });
  second.queue.start();
  await second.add({ to: "other@example.org" });
  await until("only the other is sent", () => server.taken.length === 1);
  assert.deepEqual(server.taken[0]?.to, ["other@example.org"]);
  second.clock.moveTo(claimed.nextAt);
  await until("it is removed", () => isEmpty(second));
  assert.equal(headerOf(server.taken[1]?.raw ?? "", "Message-ID"), `<${id}@shop.example>`);
  await second.close();
  await server.close();
});

test("a stop in the middle of an attempt leaves the mail to the next start", async () => {
  const address = newStore();
  const server = await startMailServer();
  let isHeld = true;
  let attempts = 0;
  server.beforeEnd = async () => {
    attempts++;
    if (isHeld) await new Promise(() => {});
  };
  const first = await openQueue(address, { settings: settingsFor(server.port) });
  await first.add();
  first.queue.start();
  await until("the server has the mail", () => attempts === 1);
  await first.close();
  assert.deepEqual(first.queue.counts, { sent: 0, failed: 0, lost: 0 });
  isHeld = false;
  const second = await openQueue(address, { settings: settingsFor(server.port) });
  second.queue.start();
  await until("it is removed", () => isEmpty(second));
  assert.equal(server.taken.length, 1);
  await second.close();
  await server.close();
});

test("five mails are sent at the same time, never more", async () => {
  const server = await startMailServer();
  const waiting: (() => void)[] = [];
  server.beforeEnd = () => new Promise((resolve) => waiting.push(resolve));
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  for (let n = 0; n < 12; n++) await opened.add({ to: `user${n}@example.org` });
  opened.queue.start();
  for (let done = 0; done < 12; done++) {
    await until("enough are open", () => waiting.length >= Math.min(5, 12 - done));
    waiting.shift()?.();
    await until("one is sent", () => server.taken.length > done);
  }
  await until("all are removed", () => isEmpty(opened));
  assert.equal(new Set(server.taken.map(({ to }) => to[0])).size, 12);
  assert.ok(server.mostAtOnce <= 6, String(server.mostAtOnce)); // one connection can still be closing
  await opened.close();
  await server.close();
});

test("10,000 mails wait, and no more", async () => {
  const opened = await openQueue(newStore());
  const now = opened.clock.now();
  const mail = { template: "signIn", to: "a@example.org", values: {}, expiresAt: now + 1_000 } as const;
  assert.deepEqual(await opened.queue.state(), { waiting: 0, oldestAt: undefined });
  for (let n = 0; n < 20; n++) {
    const changes = Array.from({ length: 500 }, (_, m) =>
      put(mailName, `${n}-${m}`, undefined, { queuedAt: now + n, nextAt: now }),
    );
    await opened.records.commit(changes, now);
  }
  assert.deepEqual(await opened.queue.state(), { waiting: 10_000, oldestAt: now });
  const isFull = (error: unknown) => error instanceof Problem && error.code === "UNAVAILABLE";
  await assert.rejects(opened.queue.changeFor(mail, now), isFull);
  await opened.records.commit([remove(mailName, "0-0", 1)], now);
  await opened.queue.changeFor(mail, now);
  await opened.close();
});

test("no file of the store has anything of a mail in clear text", async () => {
  const address = newStore();
  const opened = await openQueue(address, { settings: settingsFor(1) });
  await opened.add({
    template: "notice",
    to: "canary@example.org",
    values: { notice: "CANARY", code: "K7QF-29MX" },
  });
  await opened.close();
  const names = (await readdir(folder)).filter((name) => join(folder, name).startsWith(address.path));
  assert.ok(names.length > 0);
  const bytes = (await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")))).join("");
  assert.match(bytes, /"sealed"/);
  assert.doesNotMatch(bytes, /K7QF|canary|CANARY/);
});

test("a mail that nothing decrypts is given up, and the others are sent", async () => {
  const server = await startMailServer();
  const opened = await openQueue(newStore(), { settings: settingsFor(server.port) });
  const id = await opened.add();
  const mail = await opened.records.read<object>(mailName, id);
  const changed = { ...mail?.value, sealed: "AAAA" };
  await opened.records.commit([put(mailName, id, mail?.version, changed)], opened.clock.now());
  await opened.add({ to: "other@example.org" });
  opened.queue.start();
  await until("nothing waits", () => isEmpty(opened));
  await isCounted(opened, { sent: 1, failed: 0, lost: 1 });
  await opened.close();
  await server.close();
});

test("the mails to a user go with the profile, in the same commit", async () => {
  const opened = await openQueue(newStore());
  const { records, clock } = opened;
  await records.commit([put("users", "ada", undefined, { name: "Ada" })], clock.now());
  await opened.add({ user: "ada" });
  await opened.add();
  assert.equal((await opened.queue.state()).waiting, 2);
  await records.commit([remove("users", "ada", 1)], clock.now());
  assert.equal((await opened.queue.state()).waiting, 1);
  await opened.close();
});

test("without a mail server, a local service keeps the last 100 mails", async () => {
  const shown: string[] = [];
  const opened = await openQueue(newStore(), { onLocalMail: ({ text }) => shown.push(text) });
  opened.queue.start();
  for (let n = 0; n < 103; n++)
    await opened.add({ to: `user${n}@example.org`, values: { code: `CODE-${n}` } });
  await until("all are kept", () => isEmpty(opened));
  const kept = opened.queue.kept();
  assert.equal(kept.length, 100);
  assert.equal(shown.length, 103);
  const last = kept.find(({ to }) => to === "user102@example.org");
  assert.equal(last?.subject, "Your code for Shop");
  assert.match(last?.text ?? "", /CODE-102/);
  assert.deepEqual(opened.warnings, []);
  await opened.close();
});

test("a service that is not local queues nothing without a mail server", async () => {
  const opened = await openQueue(newStore(), { isLocal: false });
  assert.equal(opened.queue.canSend, false);
  await assert.rejects(opened.add(), /no mail server/);
  await opened.close();
});

test("a user needs a password, and a password a user", async () => {
  const open = (more: Partial<MailSettings>, user?: string) =>
    openQueue(newStore(), { settings: settingsFor(1, { ...more, smtp: { ...settingsFor(1).smtp, user } }) });
  const isMissing = (error: unknown) =>
    error instanceof StartError && /HOLDFAST_SMTP_PASSWORD is missing/.test(error.message);
  await assert.rejects(open({}, "me"), isMissing);
  await assert.rejects(open({ password: "p" }), /is set, but mail\.smtp names no user/);
});
