/** The page about related resources: its examples are sent, in their order. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { defaultEmbedLimit, embedLimits } from "../src/query/embed-request.ts";
import { type Service, type ServiceOptions, startService } from "./http/service.ts";

const page = await readFile("docs/reference/related-resources.md", "utf8");
const blocks = [...page.matchAll(/^```(http|json)\n([^`]*?)\n```$/gm)].map(([, kind, text = ""]) => ({
  kind,
  text,
}));

/** The expected results of the examples. */
const resources: [path: string, content: object][] = [
  ["users", { name: "Ada" }],
  ["users", { name: "Bob" }],
  ["articles", { title: "Winter", authorId: 1 }],
  ["articles", { title: "Spring", authorId: 2 }],
  ["articles", { title: "Summer" }],
  ["comments", { text: "Good", votes: 3, articleId: 1 }],
  ["comments", { text: "Brilliant", votes: 7, articleId: 1 }],
];

let service: Service;
before(async () => {
  const configuration = blocks.find(({ text }) => text.includes('"collections"'));
  const { collections } = JSON.parse(configuration?.text ?? "") as Required<
    Pick<ServiceOptions, "collections">
  >;
  service = await startService({ collections });
  for (const [collection, content] of resources)
    await service.create(collection, content as Record<string, unknown>);
});
after(() => service.stop());

test("every request has the response that the page shows", async () => {
  const requests = blocks.filter(({ kind }) => kind === "http");
  assert.ok(requests.length >= 7);
  for (const [n, { kind, text }] of blocks.entries()) {
    if (kind !== "http") continue;
    const [head = "", body] = text.split("\n\n");
    const [method = "", path = ""] = head.split(" ");
    const answer = await service.send({
      method,
      path,
      ...(body !== undefined && { content: JSON.parse(body) as unknown }),
    });
    const shown = JSON.parse(blocks[n + 1]?.text ?? "") as { detail?: string };
    const given = JSON.parse(answer.text.replaceAll(/cursor=[\w-]+/g, "cursor=AbC")) as { detail?: string };
    if (shown.detail === undefined) assert.deepEqual(given, shown, head);
    else assert.deepEqual({ detail: given.detail }, shown, head);
  }
});

test("the limits of the page are those of the service", () => {
  const limits = [...page.matchAll(/^\| [^|]+ \| ([\d,]+) \|$/gm)].map(([, limit = ""]) =>
    Number(limit.replace(",", "")),
  );
  const { depth, relations, resources: most, length, rounds } = embedLimits;
  assert.deepEqual(limits, [depth, relations, most, length, rounds]);
  assert.match(page, new RegExp(`Without \`limit\`, ${defaultEmbedLimit} \\|`));
});
