/** The reference of figures: its examples are run against a service, and its tables held against the code. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { after, before, describe, test } from "node:test";
import { attributeFigures, dateUnits } from "../src/query/figures.ts";
import { figureLimits } from "../src/query/figures-request.ts";
import { type Service, startService } from "./http/service.ts";

const reference = readFileSync("docs/reference/figures.md", "utf8");
const examples = [...reference.matchAll(/^```http\n(.*?)\n\nHTTP\/1\.1 (.*?)\n\n(.*?)^```$/gms)];

/** The first line, the headers and the body of a message. A long header continues, indented, on the next line. */
function readMessage(text: string): {
  first: string;
  headers: Record<string, string>;
  body: string | undefined;
} {
  const [head = "", ...rest] = text.split("\n\n");
  const [first = "", ...lines] = head.replaceAll(/\n +/g, " ").split("\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return { first, headers, body: rest.length === 0 ? undefined : rest.join("\n\n") };
}

describe("the reference of figures", () => {
  let service: Service;
  before(async () => {
    service = await startService();
    const [, orders = ""] = /^```ndjson\n(.*?)^```$/ms.exec(reference) ?? [];
    for (const line of orders.trim().split("\n")) await service.create("orders", JSON.parse(line));
  });
  after(() => service.stop());

  assert.ok(examples.length >= 7, `${examples.length} examples`);
  for (const [, asked = "", answered = "", body = ""] of examples)
    test(`says rightly what comes of ${asked.split("\n")[0]}`, async () => {
      const request = readMessage(asked);
      const [method = "", path = ""] = request.first.split(" ");
      const { headers } = request;
      const answer = await service.send({
        method,
        path,
        headers,
        ...(request.body !== undefined && { body: request.body }),
      });
      const expected = readMessage(answered);
      assert.equal(`${answer.status} ${STATUS_CODES[answer.status]}`, expected.first, answer.text);
      for (const [name, value] of Object.entries(expected.headers))
        assert.equal(answer.headers[name.toLowerCase()], value, name);
      if (headers.Accept === "text/csv") assert.equal(answer.text.replaceAll("\r\n", "\n"), body);
      else assert.equal(answer.text, JSON.stringify(JSON.parse(body)));
    });

  test("has every figure, unit and limit", () => {
    for (const figure of attributeFigures)
      assert.match(reference, new RegExp(`^\\| .*\`${figure}\\(total\\)\``, "m"));
    const [, units = ""] = /\| unit \| value \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(reference) ?? [];
    assert.deepEqual(
      [...units.matchAll(/^\| `(\w+)` \| `(.*)` \|$/gm)].map(([, unit, value]) => [unit, value?.length]),
      Object.entries(dateUnits),
    );
    assert.match(reference, new RegExp(`figures\\]\\(#figures-1\\), at most ${figureLimits.figures} `));
    assert.match(reference, new RegExp(`by, at most ${figureLimits.group};`));
    assert.match(reference, new RegExp(`groups, at most ${figureLimits.sort} names`));
  });
});
