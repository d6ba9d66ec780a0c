/** `serve --watch` serves with the code of the file as it is now. */
import assert from "node:assert/strict";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { serve, stop } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

const configuration = `
import { mark } from "./mark.ts";

export default { collections: { things: { hooks: { before: ({ resource }) => ({ ...resource, mark: mark() }) } } } };
`;

test("a changed function counts for the next writes, and a broken file leaves the earlier one", async (t) => {
  const cwd = makeFolder();
  /** Saves a file as many editors do: replaces it at once. */
  const save = async (name: string, text: string) => {
    await writeFile(join(cwd, "saved~"), text);
    await rename(join(cwd, "saved~"), join(cwd, name));
  };
  await save("mark.ts", 'export const mark = () => "first";');
  await save("holdfast.config.ts", configuration);
  const service = await serve(t, ["--watch"], { cwd });
  const markOf = async () => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${service.base}/things`, { method: "POST", headers, body: "{}" });
    return ((await response.json()) as { mark: string }).mark;
  };
  /** While it restarts, the service takes no connections. */
  const makes = (mark: string) =>
    until(`hooks make ${mark}`, async () => (await markOf().catch(() => "")) === mark);
  await makes("first");
  await save("mark.ts", 'export const mark = () => "second";');
  await makes("second");
  await save("mark.ts", "export const mark = () => {");
  await until("the service says what is wrong", () =>
    /keeps the previous configuration/.test(service.output().stderr),
  );
  assert.equal(await markOf(), "second");
  await save("mark.ts", 'export const mark = () => "third";');
  await makes("third");
  assert.match(
    (await stop(service)).stderr,
    /The code of the configuration has changed, and the service restarts\./,
  );
});
