/** The requests of the page of everyday requests: each is sent as it is written, in the order of the page. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { type Service, type ServiceOptions, startService } from "./http/service.ts";

const page = readFileSync("docs/how-to/everyday.md", "utf8");

/** The requests of a row: code that begins with a method, and behind it the headers and the body. */
function requestsOf(
  cell: string,
): { method: string; path: string; headers: Record<string, string>; body: string }[] {
  const codes = [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
  const requests: ReturnType<typeof requestsOf> = [];
  for (const code of codes) {
    const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(code) ?? [];
    const request = requests.at(-1);
    if (method !== undefined && path !== undefined) requests.push({ method, path, headers: {}, body: "" });
    else if (code.startsWith("{") && request) request.body = code;
    else if (request) {
      const [name = "", value = ""] = code.split(": ");
      request.headers[name] = value;
    }
  }
  return requests;
}

const rows = [...page.matchAll(/^\| (.+?) \| (`.+`) \| .* \|$/gm)].map(([, want = "", cell = ""]) => ({
  want,
  cell,
}));

describe("the page of everyday requests", () => {
  let service: Service;
  before(async () => {
    const [, config = ""] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
    service = await startService(JSON.parse(config) as ServiceOptions);
  });
  after(() => service.stop());

  test("has at least twenty", () => assert.ok(rows.length >= 20, `${rows.length} rows`));
  for (const { want, cell } of rows)
    test(`says rightly how to do this: ${want}`, async () => {
      for (const { method, path, headers, body } of requestsOf(cell)) {
        const answer = await service.send({
          method,
          path: `/api/v1${path}`,
          headers: { ...(body !== "" && { "Content-Type": "application/json" }), ...headers },
          ...(body !== "" && { body }),
        });
        assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
        if (method !== "GET" || path.includes("limit=0")) continue;
        assert.notEqual((answer.json as unknown[]).length, 0, path);
      }
    });
});
