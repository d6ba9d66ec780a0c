/** The requests whose cost a change to the code may alter. */

import { randomUUID } from "node:crypto";
import { serial } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { sampleAttributes, sampleSchema } from "../ratios/sample.ts";

/** Requests of one kind, and the status of each correct response. */
export interface Scenario {
  status: string;
  /** Each resource of `articles` has one of these ids. */
  requests(ids: readonly string[]): string[];
}

const articles = "/api/v1/articles";

/** The collections of both services. */
export const collections = {
  articles: { schema: sampleSchema, indexes: [["author", "-publishedOn"]] },
  authors: { schema: { properties: { email: { type: "string", maxLength: 100 } } }, unique: ["email"] },
  comments: { references: { article: { collection: "articles", onDelete: "cascade" } } },
};

/** What can be measured, by name. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  read: {
    status: "200",
    requests: (ids) => ids.map((id) => requestText("GET", `${articles}/${id}`)),
  },
  page: {
    status: "200",
    requests: () => [requestText("GET", `${articles}?limit=20`)],
  },
  filter: {
    status: "200",
    requests: () => Array.from({ length: 100 }, (_, n) => filtered(n, 20)),
  },
  // So many different pages that few are in a cache.
  pages: {
    status: "200",
    requests: () => Array.from({ length: 10_000 }, (_, n) => filtered(n % 1_000, 10 + Math.floor(n / 1_000))),
  },
  // Different pages again, with a range in the order of the sort.
  ranges: {
    status: "200",
    requests: () =>
      Array.from({ length: 28_000 }, (_, n) =>
        requestText(
          "GET",
          `${pathOf(n % 1_000, 20)}&publishedOn:gte=2026-02-${String(1 + Math.floor(n / 1_000)).padStart(2, "0")}`,
        ),
      ),
  },
  // A write after every nine lists, so that a page is seldom current for long.
  mixed: {
    status: "200",
    requests: (ids) =>
      Array.from({ length: 1_000 }, (_, n) => (n % 10 === 9 ? patched(ids[n] ?? "") : filtered(n % 100, 20))),
  },
  create: {
    status: "201",
    requests: () =>
      Array.from({ length: 1_000 }, (_, n) =>
        requestText("POST", articles, JSON.stringify(sampleAttributes(n))),
      ),
  },
  // Each one with a key for safe retries.
  keyed: {
    status: "201",
    requests: () => {
      const headers = { "Idempotency-Key": `"${serial}-${randomUUID()}"` };
      return [requestText("POST", articles, JSON.stringify(sampleAttributes(1)), headers)];
    },
  },
  history: {
    status: "200",
    requests: (ids) => ids.map((id) => requestText("GET", `${articles}/${id}/_changes`)),
  },
  version: {
    status: "200",
    requests: (ids) => ids.map((id) => requestText("GET", `${articles}/${id}?version=1`)),
  },
  unique: {
    status: "201",
    // Each round has a domain of its own, because its serial numbers can repeat those of another round.
    requests: () => [
      requestText("POST", "/api/v1/authors", `{"email":"${serial}@${randomUUID()}.example.com"}`),
    ],
  },
  reference: {
    status: "201",
    requests: (ids) =>
      ids.map((id) =>
        requestText("POST", "/api/v1/comments", JSON.stringify({ article: id, text: "Good." })),
      ),
  },
  patch: {
    status: "200",
    requests: (ids) => ids.map(patched),
  },
  batch: {
    status: "200",
    requests: () => Array.from({ length: 20 }, (_, n) => batchOf(n)),
  },
};

function filtered(author: number, limit: number): string {
  return requestText("GET", pathOf(author, limit));
}

function pathOf(author: number, limit: number): string {
  return `${articles}?author=author-${author}&sort=-publishedOn&limit=${limit}`;
}

function patched(id: string): string {
  return requestText("PATCH", `${articles}/${id}`, `{"title":"Title ${serial}"}`, {
    "Content-Type": "application/merge-patch+json",
  });
}

/** A batch of a hundred creates. */
function batchOf(n: number): string {
  const operations = Array.from({ length: 100 }, (_, index) => ({
    method: "POST",
    path: "/articles",
    body: sampleAttributes(n * 100 + index),
  }));
  return requestText("POST", "/api/v1/_batch", JSON.stringify({ operations }));
}
