/** The texts of the mails: the values that they take, what is escaped, and what is left out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mailSettings } from "../../../src/capabilities/users/mail/mail-options.ts";
import { type MailValues, templateNames } from "../../../src/capabilities/users/mail/mail-settings.ts";
import { renderMail } from "../../../src/capabilities/users/mail/mail-templates.ts";

const values = {
  title: "Shop & Co.",
  code: "K7QF-29MX",
  link: "https://shop.example/_sign-in#ticket=a&b='c'",
  minutes: "10",
  notice: "Your password was changed on 27 November.",
};

test("each mail of the service has its values, and no name is left", () => {
  for (const name of templateNames) {
    const mail = renderMail(name, undefined, values);
    for (const text of Object.values(mail)) {
      assert.doesNotMatch(text, /[{}]/, name);
      assert.ok(text.length > 10, name);
    }
    assert.match(mail.subject, /Shop & Co\.$/);
    assert.ok(mail.text.includes(values.link), name);
    assert.ok(
      mail.html.includes('<a href="https://shop.example/_sign-in#ticket=a&amp;b=&#39;c&#39;">'),
      name,
    );
    assert.doesNotMatch(mail.html, /& Co/, name);
    assert.equal(
      mail.text.includes(values.code),
      !["invitation", "newAddress", "notice"].includes(name),
      name,
    );
    assert.equal(mail.text.includes(values.notice), name === "notice", name);
    assert.doesNotMatch(mail.subject, /K7QF/); // a locked telephone shows the subject
  }
});

test("the templates of the service pass the checks for those of a configuration", () => {
  for (const name of templateNames) {
    const names = { title: "{{title}}", code: "{{code}}", link: "{{link}}", minutes: "{{minutes}}" };
    const template = renderMail(name, undefined, {
      ...names,
      ...(name === "notice" && { notice: "{{notice}}" }),
    });
    const smtp = "smtps://mail.example";
    assert.ok(mailSettings({ from: "a@b.example", smtp, templates: { [name]: template } }).templates[name]);
  }
});

const render = (template: { subject?: string; text?: string; html?: string }, more: MailValues = {}) =>
  renderMail("notice", { subject: "x", text: "x", html: undefined, ...template }, { title: "Shop", ...more });

test("values are escaped in HTML, and only there", () => {
  const notice = `<img src=x onerror="alert('1')"> & {{code}}`;
  const mail = render({ text: "{{ notice }}!", html: "<p title='{{notice}}'>" }, { notice, code: "C" });
  assert.equal(mail.text, `${notice}!\n`);
  const escaped = "&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; {{code}}";
  assert.equal(mail.html, `<p title='${escaped}'>`);
  const made = render(
    { text: "a < b\n{{notice}}\n\n{{ code }} {{link}}" },
    { notice, code: "C", link: "https://x/" },
  );
  assert.ok(made.html.includes(`<p>a &lt; b<br>\n${escaped}</p>`), made.html);
  assert.match(made.html, /<strong [^>]+>C<\/strong> <a href="https:\/\/x\/">https:\/\/x\/<\/a><\/p>/);
});

test("a paragraph without a value is left out", () => {
  const text = "Hello.\n\nYour code:\n{{code}}\n \r\nOr open {{link}}.\r\n\r\nBye, {{title}}";
  assert.equal(render({ text }).text, "Hello.\n\nBye, Shop\n");
  assert.equal(render({ text }, { code: "C" }).text, "Hello.\n\nYour code:\nC\n\nBye, Shop\n");
  assert.doesNotMatch(render({ text }, { code: "C" }).html, /open/);
  assert.equal(render({ html: "<p>{{code}}</p>" }).html, "");
  const exists = renderMail("exists", undefined, { title: "Shop", minutes: "10" });
  assert.doesNotMatch(exists.text, /code|link|minutes/);
});

test("a subject has one line, and is never empty", () => {
  assert.equal(
    render({ subject: "A\r\nBcc: {{notice}}\u2028x\u0000" }, { notice: "a\nb" }).subject,
    "A Bcc: a b x",
  );
  assert.equal(render({ subject: "{{code}}" }).subject, "Shop");
});
