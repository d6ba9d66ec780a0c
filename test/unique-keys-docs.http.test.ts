/** The page about writes by a unique key: its examples are sent in their order, and each case of its tables. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Answer, startServiceForFile } from "./http/service.ts";

const page = readFileSync("docs/reference/unique-keys.md", "utf8");
const blocks = [...page.matchAll(/^```(?:http|json)\n([^`]*?)\n```$/gm)].map(([, text = ""]) => text);
const [configuration = "", ...examples] = blocks;
const service = await startServiceForFile(JSON.parse(configuration));
const users = "/api/v1/users";

/** A message of the page. */
function read(text: string): { first: string; headers: Record<string, string>; content: unknown } {
  const [head = "", body = ""] = text.split("\n\n");
  const [first = "", ...lines] = head.split("\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(": ", 2) as [string, string]));
  return { first, headers, content: JSON.parse(body) };
}

test("every request has the response that the page shows", async () => {
  let id = "";
  assert.equal(examples.length, 6);
  for (let n = 0; n < examples.length; n += 2) {
    const { first, headers, content } = read(examples[n] as string);
    const [method = "", path = ""] = first.split(" ");
    const answer = await service.send({ method, path, headers, content });
    id ||= (answer.json as { id: string }).id;
    const shown = read((examples[n + 1] as string).replaceAll("0190f5a0-7c3e-7b1a-9c54-000000000001", id));
    assert.equal(String(answer.status), shown.first);
    for (const [name, value] of Object.entries(shown.headers))
      assert.equal(answer.headers[name.toLowerCase()], value);
    assert.deepEqual(answer.json, shown.content);
  }
});

const outcome = ({ status, text }: Answer) =>
  [status, text.startsWith("{") ? ((JSON.parse(text) as { code?: string }).code ?? "") : ""].join(" ").trim();
const cellOf = (cell: string) => cell.replaceAll("`", "").replace(/[:,].*/, "");

const cases = [...page.matchAll(/^\| `(PUT|PATCH|DELETE)`(.*?) \| (\d.*?) \| (\d.*?) \|$/gm)];
for (const [line, method = "", which = "", absent = "", present = ""] of cases)
  test(line, async () => {
    const [, header, value] = /with `(.*?): (\*)`/.exec(which) ?? [];
    const headers = header === undefined ? {} : { [header]: value as string };
    for (const [email, expected] of [
      [`absent${line.length}${method}${which.length}@x.org`, absent],
      [`present${line.length}${method}${which.length}@x.org`, present],
    ] as const) {
      if (expected === present) await service.create("users", { email });
      const content: Record<string, string> = { email, ...(which.includes("`id`") && { id: "other" }) };
      if (which.includes("other values") || which.includes("another value")) content.email = `x${email}`;
      const answer = await service.send({
        method,
        path: `${users}?email=${email}`,
        headers,
        ...(method !== "DELETE" && { content }),
      });
      assert.equal(outcome(answer), cellOf(expected));
    }
  });

test("the tables have all cases", () => assert.equal(cases.length, 8));

for (const [line, query = "", expected = ""] of page.matchAll(/^\| (`[^`]*=[^`]*`|none) \| (\d.*?) \|$/gm))
  test(line, async () => {
    const asked = query === "none" ? "" : `?${query.slice(1, -1)}`;
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const content = method === "DELETE" ? {} : { content: {} };
      const answer = await service.send({ method, path: users + asked, ...content });
      assert.equal(outcome(answer), cellOf(expected));
    }
  });
