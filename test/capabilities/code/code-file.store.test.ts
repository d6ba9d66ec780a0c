/** `code.file`: the functions of an application that run in workers. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { compileConfig } from "../../../src/config.ts";
import { createInside } from "../../../src/http/inside.ts";
import { openService } from "../../../src/server/open-service.ts";
import { makeFolder } from "../../folder.ts";

const source = `
import { isMainThread } from "node:worker_threads";

export default {
  collections: {
    notes: { hooks: { before: ({ resource }) => {
      if (resource.loops) for (;;);
      return { ...resource, isMainThread };
    } } },
  },
  routes: { where: { path: "where", access: "public", run: () => ({ isMainThread }) } },
};
`;

/** An application that passes the configuration of a file. */
async function application(t: TestContext, name = "holdfast.config.mjs") {
  const folder = makeFolder();
  const file = join(folder, name);
  writeFileSync(file, source);
  const { default: own } = (await import(pathToFileURL(file).href)) as { default: object };
  const open = async (code: object, more: object = {}) => {
    const store = `sqlite:${join(folder, "store.db")}`;
    const opened = await openService(await compileConfig({ ...own, store, code, ...more }, folder));
    t.after(opened.close);
    const inside = createInside(opened.service)({ principal: undefined });
    const headers = { "content-type": "application/json" };
    return async (method: string, path: string, body?: object) => {
      const sent = { method, target: `/api/v1/${path}`, headers, body: body && JSON.stringify(body) };
      const { status, body: text = "" } = await inside(sent);
      return { status, json: JSON.parse(text) as Record<string, unknown> };
    };
  };
  return { folder, file, open };
}

for (const [form, fileOf] of [
  ["a URL", (file: string) => pathToFileURL(file)],
  ["the text of a URL", (file: string) => pathToFileURL(file).href],
  ["a path", () => "holdfast.config.mjs"],
] as const)
  test(`the functions run in workers, and an endless loop ends alone: ${form}`, async (t) => {
    const { file, open } = await application(t);
    const send = await open({ file: fileOf(file) });
    assert.equal((await send("POST", "notes", {})).json.isMainThread, false);
    assert.equal((await send("POST", "notes", { loops: true })).json.code, "CODE_FAILED");
    assert.equal((await send("POST", "notes", {})).status, 201);
    assert.deepEqual((await send("GET", "where")).json, { isMainThread: false });
  });

test("without a file, the functions run in the thread of the application", async (t) => {
  const { open } = await application(t);
  const send = await open({});
  assert.equal((await send("POST", "notes", {})).json.isMainThread, true);
  assert.deepEqual((await send("GET", "where")).json, { isMainThread: true });
});

test("a file without one of the functions, or with an async hook, is a fault", async (t) => {
  const { folder, open } = await application(t);
  const more = { jobs: { digest: { cron: "0 7 * * *", run: () => {} } } };
  await assert.rejects(
    open({ file: "holdfast.config.mjs" }, more),
    /code\.file: .*holdfast\.config\.mjs has no function at jobs\.digest\.run\. The default export of the file must have the same functions/,
  );
  const waits = source.replace("before: (", "before: async (");
  assert.notEqual(waits, source);
  writeFileSync(join(folder, "waits.mjs"), waits);
  await assert.rejects(
    open({ file: "waits.mjs" }),
    /^StartError: code\.file: .*waits\.mjs: collections\.notes\.hooks\.before is async, but it must be synchronous\./,
  );
  await assert.rejects(open({ file: "nosuch.mjs" }), /code\.file: .*nosuch\.mjs cannot be loaded: /);
  for (const wrong of [5, "", "https://example.com/x.js"])
    await assert.rejects(open({ file: wrong }), /code\.file must be the path of a module or its URL/);
});
