/** The output in a terminal. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run } from "./cli.ts";
import { atTerminal, skip } from "./terminal.ts";

const ctrlC = "\x03";
const showCursor = "\x1b[?25h";

const headers = { "Content-Type": "application/json" };

const numbered = (n: number) => Array.from({ length: n }, (_, id) => `{"id":"${id}"}\n`).join("");

describe("at a terminal", { skip }, () => {
  test("an import shows a bar that comes to its end, and then what it did", async (t) => {
    const cwd = makeFolder({ things: numbered(20_000) });
    const { exitCode, shown } = await atTerminal(t, cwd, ["import", "things", "things"]).ended;
    assert.equal(exitCode, 0, shown);
    assert.match(shown, /importing things ░+ 0% \| 0 resources \|/);
    assert.match(shown, /importing things █+ 100% \| 20000 resources \| 0s left/);
    assert.ok(shown.includes(showCursor), "the cursor is there again");
    assert.match(shown, /\r\n20,000 resources imported into things in \d+\.\d s; [^\r\n]+ on disk\r\n$/);
  });

  test("an export to a file shows a bar too", async (t) => {
    const cwd = makeFolder({ things: numbered(2_000) });
    await run(t, ["import", "things", "things"], { cwd });
    const { exitCode, shown } = await atTerminal(t, cwd, ["export", "things", "-o", "out"]).ended;
    assert.equal(exitCode, 0, shown);
    assert.match(shown, /exporting things .+ 0 resources \|/);
    assert.ok(shown.includes(showCursor));
    assert.match(shown, /\r\n2,000 resources of things exported to out in [^\r\n]+\r\n$/);
  });

  test("an import that Ctrl-C ends gives the cursor back and says that nothing was imported", async (t) => {
    const cwd = makeFolder({ things: numbered(400_000) });
    const terminal = atTerminal(t, cwd, ["import", "things", "things"]);
    await terminal.shows(/% \| [1-9]\d* resources/);
    terminal.type(ctrlC);
    const { exitCode, shown } = await terminal.ended;
    assert.equal(exitCode, 130, shown);
    assert.ok(shown.includes(showCursor), "the cursor is there again");
    assert.match(shown, /\r\nholdfast: interrupted; nothing was imported\r\n$/);
  });

  test("the service says where it listens, shows each request in a line for people, and Ctrl-C ends it", async (t) => {
    const cwd = makeFolder();
    const terminal = atTerminal(t, cwd, ["serve", "--port", "0"]);
    const [, base] = await terminal.shows(/listens on +(http:\S+)/);
    const path = new URL(`${base}/things`).pathname;
    assert.equal((await fetch(`${base}/things?limit=1`)).status, 200);
    assert.equal((await fetch(`${base}/things/none`)).status, 404);
    assert.equal((await fetch(`${base}/others`, { method: "POST", headers, body: "{}" })).status, 201);
    assert.equal((await fetch(`${base}/other`)).status, 200);
    await terminal.shows(/INFO: GET \S+\/other 200 \d+(?:\.\d+)? ms: did you mean "others"\?\r\n/);
    await terminal.shows(new RegExp(`INFO: GET ${path} 200 \\d+(?:\\.\\d+)? ms`));
    await terminal.shows(new RegExp(`INFO: GET ${path}/none 404 \\d+(?:\\.\\d+)? ms`));
    terminal.type(ctrlC);
    const { exitCode, shown } = await terminal.ended;
    assert.equal(exitCode, 0, shown);
    assert.doesNotMatch(shown, /"level"|limit=1/, "neither JSON nor query strings");
  });

  test("with --watch the difference is shown above the restarted service, and Ctrl-C ends both processes", async (t) => {
    const cwd = makeFolder(configuration({ topics: {} }));
    const terminal = atTerminal(t, cwd, ["serve", "--watch", "--port", "0"]);
    const [, base] = await terminal.shows(/listens on +(http:\S+)/);
    for (const [name, content] of Object.entries(configuration({ users: {} })))
      await writeFile(join(cwd, name), content);
    await terminal.shows(
      /has changed, and the service restarts:\s+collections\.topics: removed\s+collections\.users: added\s+Holdfast/,
    );
    await terminal.shows(/mode +declared: users/);
    assert.equal((await fetch(`${base}/users`)).status, 200);
    await terminal.shows(/INFO: GET \S+\/users 200/);
    terminal.type(ctrlC);
    const { exitCode, shown } = await terminal.ended;
    assert.equal(exitCode, 0, shown);
    await assert.rejects(fetch(`${base}/users`), "the service has ended too");
  });
});
