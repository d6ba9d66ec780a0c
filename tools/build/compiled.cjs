/**
 * Starts the program, sends it requests, and writes the code that V8 compiled for that:
 * `node compiled.cjs <wrapped program> <its file> <output>`. The store is in the present folder.
 */
const { readFileSync, writeFileSync } = require("node:fs");
const { Script } = require("node:vm");

const [source, file, output] = process.argv.splice(2);
process.argv.push("serve", "--port", "0");
const script = new Script(readFileSync(source, "latin1"), { filename: "holdfast.cjs" });
const module_ = { exports: {} };
script.runInThisContext()(module_.exports, require, module_, file);

async function send(base) {
  const headers = { "content-type": "application/json" };
  const created = await fetch(`${base}/topics`, { method: "POST", headers, body: '{"title":"One"}' });
  if (created.status !== 201) throw new Error(`The program does not work: ${await created.text()}`);
  await (await fetch(new URL(created.headers.get("location"), base))).text();
  await (await fetch(`${base}/topics?sort=-title&limit=1`)).text();
}

const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text, ...others) => {
  const base = /listens on +(\S+)/.exec(text)?.[1];
  if (base !== undefined)
    void send(base).then(() => {
      writeFileSync(output, script.createCachedData());
      process.exit();
    });
  return write(text, ...others);
};
module_.exports.runCommandLine();
