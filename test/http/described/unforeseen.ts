/** A test file that must fail, because its service sends a response that the document does not describe. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../src/config.ts";
import { startServer } from "../../../src/server.ts";
import { makeFolder } from "../../folder.ts";
import { watchAnswers } from "./watch-answers.ts";

test("the answers are as they should be", async () => {
  const cwd = makeFolder({});
  const config = await loadConfig({ flags: { port: "0" }, env: {}, cwd });
  const server = await startServer(config);
  watchAnswers(Number(new URL(server.origin).port), { ...config, http: { ...config.http, docs: false } });
  for (const path of ["/livez", "/openapi.json"])
    assert.equal((await fetch(`${server.origin}${path}`)).status, 200);
  await server.stop();
});
