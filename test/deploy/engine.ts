/** An engine that builds images and runs containers: Docker, or Podman with a storage of its own. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { baseImages } from "./dockerfile.ts";

/** What a command of the engine printed, and its exit code. */
export interface Output {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** An engine. */
export interface Engine {
  name: "docker" | "podman";
  /** Runs a command of the engine. */
  run(...args: string[]): Promise<Output>;
  /** Runs a command of the engine, and throws if it fails. Returns its standard output. */
  do(...args: string[]): Promise<string>;
  /** Builds the image of the clone. */
  build(tag: string): Promise<void>;
  /** Options that `run` needs here. */
  runOptions: readonly string[];
  /** Removes everything that it made. */
  remove(): Promise<void>;
}

const works = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

/** Why no engine can be used; `false` if there is one. */
export function whyNoEngine(): string | false {
  if (works("docker", "info") || works("podman", "--version")) return false;
  return "needs Docker or Podman: on Debian apt-get install podman buildah runc debootstrap";
}

/** Finds an engine. If the registry of images cannot be reached, makes an image that replaces the one of Node. */
export async function openEngine(): Promise<Engine> {
  return works("docker", "info") ? docker() : podman();
}

function docker(): Engine {
  const tags: string[] = [];
  const commands = runner("docker", []);
  return {
    ...commands,
    name: "docker",
    runOptions: [],
    async build(tag) {
      await commands.do("build", "--tag", tag, ".");
      tags.push(tag);
    },
    async remove() {
      await commands.run("image", "rm", "--force", ...tags);
    },
  };
}

async function podman(): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-containers-"));
  const runtime = works("runc", "--version") ? ["--runtime=runc"] : []; // crun refuses a machine with both versions of cgroups
  const commands = runner("podman", [
    `--root=${join(folder, "storage")}`,
    `--runroot=${join(folder, "run")}`,
    "--cgroup-manager=cgroupfs",
    "--log-level=error",
    ...runtime,
  ]);
  const [base = ""] = baseImages;
  const cache = execFileSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).trim();
  return {
    ...commands,
    name: "podman",
    runOptions: ["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"],
    async build(tag) {
      if ((await commands.run("pull", base)).exitCode !== 0)
        await commands.do("import", await makeNodeImage(folder), `docker.io/library/${base}`);
      const options = [
        "--isolation=chroot",
        "--pull=never",
        "--format=docker",
        `--volume=${cache}:/root/.npm`,
      ];
      await commands.do("build", ...options, "--tag", tag, ".");
    },
    async remove() {
      await commands.run("system", "reset", "--force");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function runner(command: string, options: readonly string[]): Pick<Engine, "run" | "do"> {
  const run = async (...args: string[]): Promise<Output> => {
    try {
      const found = await promisify(execFile)(command, [...options, ...args], { maxBuffer: 2 ** 26 });
      return { exitCode: 0, ...found };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
      if (typeof code !== "number") throw error;
      return { exitCode: code, stdout, stderr };
    }
  };
  return {
    run,
    async do(...args) {
      const { exitCode, stdout, stderr } = await run(...args);
      if (exitCode !== 0)
        throw new Error(`${command} ${args.join(" ")}: exit code ${exitCode}\n${stdout}${stderr}`);
      return stdout.trim();
    },
  };
}

/** A file system like that of the image of Node: Debian with this Node, its npm, and the user 1000. Returns an archive of it. */
async function makeNodeImage(folder: string): Promise<string> {
  const [root, archive] = [join(folder, "root"), join(folder, "root.tar")];
  const execute = (command: string, ...args: string[]) =>
    promisify(execFile)(command, args, { maxBuffer: 2 ** 26 });
  try {
    await execute("debootstrap", "--variant=minbase", "--include=ca-certificates,libatomic1", "stable", root);
  } catch (error) {
    throw new Error("The registry of images cannot be reached, and debootstrap cannot replace it.", {
      cause: error,
    });
  }
  copyFileSync(process.execPath, join(root, "usr/local/bin/node"));
  const npm = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
  await execute("cp", "-rL", join(npm, "npm"), join(root, "usr/local/lib/npm"));
  writeFileSync(
    join(root, "usr/local/bin/npm"),
    '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n',
    {
      mode: 0o755,
    },
  );
  const certificates = "/etc/ssl/certs/ca-certificates.crt"; // the registry of npm can be behind a proxy of this machine
  if (existsSync(certificates)) {
    copyFileSync(certificates, join(root, certificates));
    mkdirSync(join(root, "usr/local/etc"), { recursive: true });
    writeFileSync(join(root, "usr/local/etc/npmrc"), `cafile=${certificates}\n`);
  }
  await execute("chroot", root, "useradd", "--create-home", "--uid", "1000", "node");
  await execute("tar", "-C", root, "-cf", archive, ".");
  return archive;
}
