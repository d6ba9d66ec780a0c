/** Runs the linter and the type checks side by side, and prints what each says as a whole. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a script of `package.json`. Resolves to its exit code. */
async function runScript(name) {
  const child = spawn("npm", ["run", "--silent", name], {
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  const [code] = await once(child, "close");
  console.log(`${name}: ${code === 0 ? "passed" : "failed"}\n${output}`);
  return code;
}

const codes = await Promise.all(["lint", "types"].map(runScript));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
