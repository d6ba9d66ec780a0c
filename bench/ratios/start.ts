/** From launch to the first answer, against the launch of Node itself: of the clone, of the package and of the single executable. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showMs } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";

/** A form of the program. */
interface Form {
  name: string;
  command: readonly string[];
  /** The most launches of Node that one start may take. */
  aim: number;
}

/** Measures the whole start, npm not counted. Each round starts every form once. */
export function measureStart(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const forms = makeForms(folder);
    const times = new Map(forms.map(({ name }) => [name, [] as number[]]));
    const theirs: number[] = [];
    const rounds = 3 * effort.rounds + 2;
    for (let round = 0; round < rounds; round++) {
      theirs.push(nodeMs());
      for (const { name, command } of forms)
        times.get(name)?.push(await inFolder((stores) => firstAnswerMs(command, `${stores}/start.db`)));
    }
    return forms.map(({ name, aim }) =>
      figureOf(
        `launch to first answer against \`node -e 0\`: ${name}`,
        { ours: times.get(name) ?? [], theirs },
        { aim: { atMost: aim }, show: showMs },
      ),
    );
  });
}

/** Builds the package and the single executable in a folder. */
function makeForms(folder: string): Form[] {
  for (const args of [["tools/build/package.ts"], ["tools/build/binary.ts", folder]])
    execFileSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const installed = join(folder, "node_modules/holdfast");
  for (const part of ["bin", "dist", "package.json"])
    cpSync(part, join(installed, part), { recursive: true });
  for (const name of Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies)) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve("node_modules", name), link);
  }
  const program = "bin/holdfast.js";
  return [
    { name: "the clone", command: [process.execPath, "--conditions=holdfast-source", program], aim: 12 },
    { name: "the package", command: [process.execPath, join(installed, program)], aim: 6 },
    { name: "the single executable", command: [join(folder, "holdfast")], aim: 6 },
  ];
}

function nodeMs(): number {
  const begin = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return performance.now() - begin;
}

async function firstAnswerMs([program = "", ...args]: readonly string[], store: string): Promise<number> {
  const begin = performance.now();
  const child = spawn(program, [...args, "serve", "--port", "0", "--store", `sqlite:${store}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const base = /listens on\s+(\S+)/.exec(line)?.[1];
    if (base === undefined) continue;
    await (await fetch(`${base}/topics`)).text();
    break;
  }
  const took = performance.now() - begin;
  child.kill("SIGKILL");
  await once(child, "exit");
  return took;
}
