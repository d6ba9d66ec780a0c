/** The example applications: follows their pages, with any installation of Holdfast. */
import assert from "node:assert/strict";
import { chmodSync, cpSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { serve, Terminal } from "../first-hour/terminal.ts";
import { typeUntil } from "../first-hour/tutorial.ts";
import { makeFolder } from "../folder.ts";
import { headerOf } from "../pages/shell.ts";

/** The variable with the address of the service beside each application; `undefined` if there is none. */
const applications: Readonly<Record<string, string | undefined>> = {
  names: undefined,
  shop: "PAYMENTS",
  digest: "MAILS",
};

/** How `npx` finds its programs. */
export interface Installed {
  /** A folder in which configurations find the package. The examples are copied into it. */
  cwd: string;
  /** The words of the command `holdfast`. */
  holdfast: readonly string[];
}

/** Runs each application with the commands that its page prints, and compares the outputs, each in its own test. */
export async function followApplications(t: TestContext, { cwd, holdfast }: Installed): Promise<void> {
  const path = withNpx(holdfast);
  for (const [name, variable] of Object.entries(applications))
    await t.test(`the application ${name} does what its page prints`, async (t) => {
      const folder = join("examples", name);
      cpSync(folder, join(cwd, folder), { recursive: true });
      const commands = headerOf(readFileSync(join(folder, "holdfast.config.ts"), "utf8"));
      const [command = "", beside] = commands.toReversed();
      const settings: string[] = [];
      if (beside !== undefined) {
        const { origin } = await serve(t, cwd, [path, beside]);
        settings.push(`export ${variable}=${origin}/`);
      }
      const { origin } = await serve(t, cwd, [path, ...settings, command]);
      const terminal = new Terminal(t, cwd);
      await terminal.type(path);
      const page = readFileSync(join(folder, "README.md"), "utf8");
      await follow(page.replaceAll("localhost:3000", new URL(origin).host), terminal);
    });
}

/** Types the commands of a page, and compares their outputs. */
async function follow(page: string, terminal: Terminal): Promise<void> {
  const blocks = [...page.matchAll(/^```console\n(.*?)^```$/gms)];
  const steps = blocks.flatMap(([, text = ""]) => text.split(/^\$ /m).slice(1));
  assert.ok(steps.length > 3);
  for (const step of steps) {
    const [command = "", ...lines] = step.trim().split("\n");
    await typeUntil(terminal, command, lines.join("\n"));
  }
}

/** The line that makes `npx` run this Node and this Holdfast. */
export function withNpx(holdfast: readonly string[]): string {
  const words = (list: readonly string[]) => list.map((word) => `'${word}'`).join(" ");
  const folder = makeFolder({
    npx: `#!/bin/sh
case "$1" in
  holdfast) shift; exec ${words(holdfast)} "$@" ;;
  node) shift; exec ${words([process.execPath])} "$@" ;;
esac
exit 1
`,
  });
  chmodSync(resolve(folder, "npx"), 0o755);
  return `export PATH='${folder}':"$PATH"`;
}
