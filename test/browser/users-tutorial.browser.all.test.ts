/** The tutorial "an application with users", as it is written: its files, a real terminal that shows the mails, and two people in browsers. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, type TestContext, test } from "node:test";
import { signInPageTexts as texts } from "../../console/src/sign-in/sign-in-page-texts.ts";
import { codeShape, goodPassword } from "../capabilities/users/http/people.ts";
import { makeFolder } from "../folder.ts";
import { onFreePort } from "../ports.ts";
import { until } from "../until.ts";
import { type Browser, openBrowser, type Page, patienceMs } from "./browser.ts";

const opened = await openBrowser();
const skip = "why" in opened ? opened.why : process.platform === "linux" ? false : "needs script(1) of Linux";
const { browser } = opened as { browser: Browser };
after(() => browser?.close());

/** Starts a program. It ends with the test. */
function start(t: TestContext, command: string, args: readonly string[], cwd: string) {
  const child: ChildProcess = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  t.after(() => hasEnded() || process.kill(-Number(child.pid), "SIGKILL"));
  const shown = { text: "", hasEnded };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (shown.text += text));
  return shown;
}

/** Starts the service and the page of the tutorial in a new folder. Throws if one of them ends, because another program has its port. */
async function startBoth(t: TestContext, service: number, page: number) {
  const tutorial = await readFile("docs/tutorial/application-with-users.md", "utf8");
  const cwd = makeFolder();
  await mkdir(join(cwd, "node_modules"));
  await symlink(resolve("."), join(cwd, "node_modules", "holdfast"));
  await writeFile(join(cwd, "package.json"), '{"type":"module"}');
  for (const [, name = "", text = ""] of tutorial.matchAll(/^```(?:ts|html) (\S+)\n(.*?)^```$/gms))
    await writeFile(
      join(cwd, name),
      text.replaceAll("localhost:3000", `localhost:${service}`).replaceAll(/\b8080\b/g, String(page)),
    );
  const server = start(t, process.execPath, ["page.ts"], cwd);
  const bin = resolve("bin/holdfast.js");
  const serve = `"${process.execPath}" --conditions=holdfast-source "${bin}" serve --port ${service}`;
  const terminal = start(t, "script", ["-qfec", serve, "/dev/null"], cwd);
  await until("the service and the page listen", async () => {
    if (server.hasEnded() || terminal.hasEnded()) throw new Error(`It has ended: ${terminal.text}`);
    const isPageThere = await fetch(`http://localhost:${page}/`).then(
      ({ ok }) => ok,
      () => false,
    );
    return isPageThere && terminal.text.includes("listens on");
  });
  return { terminal, page };
}

test("the tutorial about users works as it says", { skip }, async (t) => {
  const { terminal, page } = await onFreePort((own) => onFreePort((service) => startBoth(t, service, own)));

  const open = async (): Promise<Page> => {
    const context = await browser.newContext();
    const opened = await context.newPage();
    t.after(() => context.close());
    opened.setDefaultTimeout(patienceMs);
    await opened.goto(`http://localhost:${page}/`);
    return opened;
  };
  const signUp = async (opened: Page, name: string, email: string) => {
    await opened.getByRole("link", { name: "Sign in" }).click();
    await opened.getByRole("link", { name: texts.signUp }).click();
    await opened.getByLabel("Name", { exact: true }).fill(name);
    await opened.getByLabel(texts.email, { exact: true }).fill(email);
    await opened.getByLabel(texts.newPassword, { exact: true }).fill(goodPassword);
    await opened.getByRole("button", { name: texts.signUp }).click();
    const mail = new RegExp(`mail to ${email}.*?(${codeShape.source})`, "s");
    await until(`a mail to ${email}`, () => mail.test(terminal.text));
    await opened.getByLabel(texts.code, { exact: true }).fill(mail.exec(terminal.text)?.[1] ?? "");
    await opened.getByRole("button", { name: texts.finish.signUp }).click();
    await opened.getByRole("link", { name: email }).waitFor();
    assert.equal(opened.url(), `http://localhost:${page}/`);
  };
  const write = async (opened: Page, text: string) => {
    await opened.getByLabel("Note").fill(text);
    await opened.getByRole("button", { name: "Save" }).click();
    await opened.getByText(text).waitFor();
  };

  const ada = await open();
  await signUp(ada, "Ada", "ada@example.org");
  await write(ada, "Salt and sea");
  const bob = await open();
  await signUp(bob, "Bob", "bob@example.org");
  const deleteOf = (text: string) => bob.getByRole("listitem").filter({ hasText: text }).getByRole("button");
  await deleteOf("Ada: Salt and sea").click();
  await bob.getByText(/^Refused: 40[34]$/).waitFor();
  await write(bob, "Sand");
  await deleteOf("Bob: Sand").click();
  await bob.getByText("Bob: Sand").waitFor({ state: "detached" });
  await ada.reload();
  await ada.getByText("Ada: Salt and sea").waitFor();
});
