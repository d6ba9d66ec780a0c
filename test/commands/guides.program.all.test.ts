/** Runs guides: serves each configuration, and compares the output of each command with the guide. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { claimsAt, createPair, tokenOf } from "../access/issuer.ts";
import { makeFolder } from "../folder.ts";
import { node } from "../node.ts";
import { machineTime } from "../until.ts";
import { type RunningService, serve } from "./cli.ts";

interface Step {
  language: "ts" | "console";
  /** The file that a configuration is written to. */
  file: string;
  text: string;
}

async function stepsOf(guide: string): Promise<Step[]> {
  const text = await readFile(`docs/how-to/${guide}.md`, "utf8");
  return [...text.matchAll(/^```(ts|console)(?: (\S+))?\n(.*?)^```$/gms)].map(([, language, file, code]) => ({
    language: language as Step["language"],
    file: file ?? "holdfast.config.ts",
    text: code ?? "",
  }));
}

/** The commands of a block, each with the lines that it writes. */
function commandsOf(text: string): { command: string; output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((each) => {
      const [command = "", ...lines] = each.split("\n");
      return { command, output: lines.join("\n") };
    });
}

/** Runs a command with the variables of the previous commands. Returns its standard output. */
async function runIn(cwd: string, command: string): Promise<string> {
  const script = `touch env.sh; . ./env.sh; ${command}\nset | grep -E '^[A-Z]+=' | grep -vE '^(IFS|PATH|PPID|PWD|OPTIND|PS[124])=' > env.sh`;
  const child = spawn("sh", ["-c", script], { cwd });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  await once(child, "close");
  return output;
}

/** `holdfast` as the command that npx runs, and as the package that a configuration imports. */
async function install(cwd: string): Promise<void> {
  await mkdir(join(cwd, "node_modules", ".bin"), { recursive: true });
  await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
  const program = join(cwd, "node_modules", ".bin", "holdfast");
  const words = [...node, resolve("bin/holdfast.js")];
  await writeFile(program, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  await chmod(program, 0o755);
}

/** What an answer has that no guide can know. */
const generalId = (text: string) =>
  text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>");

test("every step of the guide to rules comes to what it says", async (t) => {
  const cwd = makeFolder({});
  await install(cwd);
  const pair = createPair("ES256");
  await writeFile(join(cwd, "jwks.json"), JSON.stringify({ keys: [pair.jwk] }));
  const token = tokenOf(pair, claimsAt(machineTime(), { tenant: "acme", roles: ["editor"] }));
  await writeFile(join(cwd, "env.sh"), `TOKEN='${token}'\n`);
  let service: RunningService | undefined;
  let id = "";
  for (const { language, text } of await stepsOf("secure")) {
    if (language === "ts") {
      service?.process.kill("SIGTERM");
      await service?.ended;
      await writeFile(
        join(cwd, "holdfast.config.ts"),
        text.replace("https://id.example.org/jwks.json", "jwks.json"),
      );
      const port = service === undefined ? "0" : new URL(service.origin).port;
      service = await serve(t, ["--port", port], { cwd });
      continue;
    }
    for (const { command, output } of commandsOf(text)) {
      const real = command.replaceAll("http://localhost:3000", service?.origin ?? "").replaceAll("<id>", id);
      const written = await runIn(cwd, real);
      assert.equal(generalId(written).trim(), output.trim(), command);
      id = /"id":"([^"]+)"/.exec(written)?.[1] ?? id;
    }
  }
});

test("every step of the guide to a changed schema has the output that the guide shows", async (t) => {
  const cwd = makeFolder({});
  await install(cwd);
  let service: RunningService | undefined;
  const restart = async () => {
    service?.process.kill("SIGTERM");
    await service?.ended;
    service = await serve(t, ["--port", service === undefined ? "0" : new URL(service.origin).port], { cwd });
    return service;
  };
  for (const { language, file, text } of await stepsOf("change-a-schema")) {
    if (language === "ts") {
      await writeFile(join(cwd, file), text);
      if (service !== undefined) continue;
      const { base } = await restart();
      for (const state of ["DONE", "DONE", "OPEN", undefined]) {
        const body = JSON.stringify({ title: "One", state });
        const headers = { "Content-Type": "application/json" };
        const { status } = await fetch(`${base}/topics`, { method: "POST", headers, body });
        assert.equal(status, 201);
      }
      continue;
    }
    for (const { command, output } of commandsOf(text)) {
      const written = await runIn(cwd, command.replaceAll("http://localhost:3000", service?.origin ?? ""));
      assert.equal(generalId(written).replaceAll(cwd, "/srv/shop").trim(), output.trim(), command);
      if (command.startsWith("mv ")) await restart();
    }
  }
  const topics = (await (await fetch(`${service?.base}/topics?sort=status`)).json()) as { status?: string }[];
  assert.deepEqual(
    topics.map(({ status }) => status),
    [undefined, "done", "done", "open"],
  );
});
