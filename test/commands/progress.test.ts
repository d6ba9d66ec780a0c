/** What commands show of long work. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { type Progress, startProgress } from "../../src/commands/progress-display.ts";
import { inShell } from "../../src/commands/shell.ts";
import { until } from "../until.ts";

for (const isTTY of [true, false])
  test(`work that shows nothing for a while says that it goes on, ${isTTY ? "on" : "without"} a terminal`, async () => {
    let shown = "";
    const stream = () => Object.assign(new PassThrough(), { isTTY });
    const stderr = stream();
    stderr.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
    });
    const streams = { stdin: stream(), stdout: stream(), stderr, cwd: () => "." };
    let progress: Progress | undefined;
    await inShell(streams as never, async () => {
      progress = await startProgress({ what: "importing things", total: 100, everyMs: 20 });
      progress.update(90, 900);
      await until("it says so twice", () => (shown.match(/still working, \d+ s so far/g) ?? []).length > 1);
      progress.stop();
      return 0;
    });
    const before = shown.length;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(shown.length, before, "nothing is shown after the stop");
  });
