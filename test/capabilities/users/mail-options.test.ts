/** The option `mail`: what it accepts, the place of each fault, and that no password is in a file or a message. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailOption, mailSettings, shownMail } from "../../../src/capabilities/users/mail/mail-options.ts";
import { compileConfig, originOf, remakeConfig } from "../../../src/config.ts";
import { StartError } from "../../../src/errors.ts";

const from = "Shop <noreply@shop.example>";

const smtpOf = (smtp: unknown) => mailSettings({ from, smtp }).smtp;

test("a mail server is a URL or an object, encrypted except on this machine", () => {
  const tls = { host: "mail.example", port: 465, encryption: "tls", user: undefined };
  assert.deepEqual(smtpOf("smtps://mail.example"), tls);
  assert.deepEqual(smtpOf("smtps://mail.example:465/"), tls);
  assert.deepEqual(smtpOf({ host: "mail.example" }), tls);
  assert.deepEqual(smtpOf({ host: "mail.example", port: 8465, secure: true }), { ...tls, port: 8465 });
  assert.deepEqual(smtpOf("smtps://me%40shop.example@mail.example"), { ...tls, user: "me@shop.example" });
  const starttls = { ...tls, port: 587, encryption: "starttls", user: "me" };
  assert.deepEqual(smtpOf("smtp://me@mail.example"), starttls);
  assert.deepEqual(smtpOf({ host: "mail.example", port: 587, user: "me" }), starttls);
  assert.deepEqual(smtpOf({ host: "mail.example", secure: false, user: "me" }), starttls);
  assert.deepEqual(smtpOf("smtp://10.0.0.1:25"), {
    ...tls,
    host: "10.0.0.1",
    port: 25,
    encryption: "starttls",
  });
  for (const host of ["localhost", "127.0.0.1", "::1"]) {
    const url = `smtp://${host.includes(":") ? `[${host}]` : host}:1025`;
    assert.deepEqual(smtpOf(url), { ...tls, host, port: 1025, encryption: "none" });
  }
});

test("the sender is an address, with or without a name", () => {
  const senderOf = (from: unknown) => mailSettings({ from, smtp: "smtps://mail.example" }).from;
  assert.deepEqual(senderOf(from), { name: "Shop", address: "noreply@shop.example" });
  assert.deepEqual(senderOf("Müller, Söhne & Co. <a@b.example>"), {
    name: "Müller, Söhne & Co.",
    address: "a@b.example",
  });
  assert.deepEqual(senderOf("noreply@shop.example"), { name: "", address: "noreply@shop.example" });
  for (const wrong of [
    "",
    "Shop",
    "a@b, c@d",
    "<a@b>",
    "Shop <a@b> x",
    "S\r\nBcc: e@f <a@b>",
    "a@b\n",
    'Shop "x" <a@b>',
  ])
    assert.throws(() => senderOf(wrong), /^StartError: mail\.from must be/, JSON.stringify(wrong));
});

function faultsOf(mail: unknown): string[] {
  try {
    mailOption(mail);
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    for (const { text } of error.faults) assert.doesNotMatch(text, /hunter2/);
    return error.faults.map(({ path, text }) => `${path.join("/")}: ${text}`);
  }
  throw new Error("There is no fault.");
}

test("a password is refused with advice, wherever it is, and is in no message", () => {
  const places: [place: string, mail: unknown][] = [
    ["smtp: mail.smtp", { from, smtp: "smtps://me:hunter2@mail.example" }],
    ["smtp: mail.smtp", { from, smtp: { host: "mail.example", user: "me", pass: "hunter2" } }],
    ["smtp: mail.smtp", { from, smtp: { host: "mail.example", auth: { user: "me", pass: "hunter2" } } }],
    [": mail", { from, smtp: "smtps://me@mail.example", password: "hunter2" }],
  ];
  for (const [place, mail] of places)
    assert.deepEqual(faultsOf(mail), [
      `${place} contains a password. Remove it, name only the user, and set the environment variable HOLDFAST_SMTP_PASSWORD to the password.`,
    ]);
  for (const smtp of [
    "smtps//me:hunter2@mail",
    "http://me@hunter2",
    "smtps://mail.example/hunter2",
    "smtps://",
    7,
  ])
    assert.match(faultsOf({ from, smtp }).join("\n"), /^smtp: mail\.smtp must be/, String(smtp));
  assert.match(faultsOf("hunter2").join("\n"), /^: mail must be an object/);
});

test("every fault is reported with its place", () => {
  const template = { subject: "Your code", text: "{{code}}" };
  const found = faultsOf({
    smtp: { host: "a b", port: 0, secure: "yes", use: "me" },
    perHour: 0,
    templates: {
      signIn: { ...template, text: "{{code}} {{name}}" },
      signUp: { ...template, html: "<b>{{title}}</b>" },
      reset: { subject: "{{notice}}", text: "{{code" },
      notice: { subject: "x", text: "{{ notice }}", body: "x" },
      sign: template,
      invitation: { subject: "x" },
    },
  });
  const starts = [
    "from: mail.from is missing.",
    "smtp/use: mail.smtp.use is not an option. Did you mean",
    "smtp/host: mail.smtp.host must be the name",
    "smtp/port: mail.smtp.port must be a whole number",
    "smtp/secure: mail.smtp.secure must be true or false",
    "templates/sign: mail.templates.sign is not a mail of the service. Did you mean",
    "templates/signUp/html: mail.templates.signUp.html must contain {{code}}",
    "templates/signIn/text: mail.templates.signIn.text contains {{name}}, which this mail does not have. It has {{title}}, {{code}}, {{link}}, {{minutes}}.",
    "templates/reset/subject: mail.templates.reset.subject contains {{notice}}",
    "templates/reset/text: mail.templates.reset.text contains {{ without",
    "templates/invitation/text: mail.templates.invitation.text is missing.",
    "templates/notice/body: mail.templates.notice.body is not an option.",
    "perHour: mail.perHour must be a whole number",
  ];
  assert.deepEqual(
    found.map((fault, n) => (fault.startsWith(starts[n] ?? "-") ? starts[n] : fault)),
    starts,
  );
});

test("the configuration has the password of the environment, also in another thread, and shows none", async () => {
  const none = await compileConfig({}, ".");
  assert.equal(none.users, undefined);
  const mail = {
    from,
    smtp: "smtps://me@mail.example",
    templates: { notice: { subject: "x", text: "{{notice}}" } },
  };
  const people = { collections: { users: {} }, auth: { users: { collection: "users" } } };
  const config = await compileConfig({ mail, ...people }, ".");
  assert.deepEqual([config.users?.mail?.password, config.users?.mail?.perHour], [undefined, 1_000]);
  const { file, content } = originOf(config);
  const env = { HOLDFAST_SMTP_PASSWORD: "hunter2" };
  const remade = await remakeConfig({ file, content, outside: { flags: {}, env, cwd: "." } });
  assert.equal(remade.users?.mail?.password, "hunter2");
  const again = await remakeConfig(originOf(remade));
  assert.equal(again.users?.mail?.password, "hunter2");
  const shown = again.options.find(({ name }) => name === "mail");
  assert.deepEqual(shown?.value, {
    from: { name: "Shop", address: "noreply@shop.example" },
    smtp: { host: "mail.example", port: 465, encryption: "tls", user: "me" },
    perHour: 1_000,
    templates: ["notice"],
  });
  assert.doesNotMatch(JSON.stringify(again.options), /hunter2/);
  assert.deepEqual(shownMail({ ...mailSettings(mail) }), shown?.value);
});
