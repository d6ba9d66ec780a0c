/** The documents that describe a service satisfy the judges of others: Spectral and Redocly. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";
import { declared, guarded, startDescribed } from "./openapi-services.ts";
import { startService } from "./service.ts";

/** The findings of a judge; none is the empty string. */
async function judge(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const script = `test/node_modules/.bin/${command}`;
  return promisify(execFile)(process.execPath, [script, ...args], { env }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
}

test("the documents of a service satisfy Spectral and Redocly", async (t) => {
  const { users = {}, articles = {}, odd = {} } = declared.collections ?? {};
  const collections = { ...guarded.collections, users, articles, odd };
  const short = await startService({
    ...{ ...declared, ...guarded, collections },
    openCollections: true,
  });
  const services = { ...(await startDescribed()), short };
  t.after(() => Promise.all(Object.values(services).map((service) => service.stop())));
  // No option sets the contact and the license of the interface.
  // `/{collection}/_events` and `/_webhooks/{id}` both match `/_webhooks/_events`, where nothing exists.
  const cwd = makeFolder({
    "redocly.yaml": "extends: [recommended]\nrules:\n  info-license: off\n  no-ambiguous-paths: off\n",
    "spectral.yaml": 'extends: ["spectral:oas"]\nrules:\n  info-contact: off\n',
  });
  const files: string[] = [];
  for (const [name, service] of Object.entries(services))
    for (const version of ["openapi", "openapi-3.2"]) {
      const file = join(cwd, `${name}-${version}.json`);
      await writeFile(file, (await service.send({ path: `/${version}.json` })).text);
      files.push(file);
    }
  const redocly = await judge("redocly", [
    "lint",
    "--format=json",
    "--config",
    join(cwd, "redocly.yaml"),
    ...files,
  ]);
  const found = [...redocly.matchAll(/"(?:errors|warnings)": (\d+)/g)].map(([, count]) => count);
  assert.deepEqual(found, Array(2 * files.length).fill("0"), redocly);
  // Spectral knows nothing of OpenAPI 3.2 yet. It takes a minute of processor time for ten collections, so it gets the service
  // that has each kind of collection once, and in which every other name is a collection too.
  const spectral = await judge("spectral", [
    "lint",
    "--format=json",
    "--fail-severity=hint",
    "-r",
    join(cwd, "spectral.yaml"),
    join(cwd, "short-openapi.json"),
  ]);
  assert.deepEqual(JSON.parse(spectral.slice(spectral.indexOf("["), spectral.lastIndexOf("]") + 1)), []);
});
