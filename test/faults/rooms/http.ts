/** Faults of `http`. */
import type { Fault } from "../faults.ts";

export const httpFaults: readonly Fault[] = [
  {
    name: "accept-zero",
    what: "A format that the Accept header excludes with q=0 is used.",
    noticedBy: "test/http/negotiation.test.ts",
    replacements: [
      [
        "if (quality > (best?.quality ?? 0)) best =",
        "if (best === undefined || quality > best.quality) best =",
      ],
    ],
  },
  {
    name: "body-limit",
    what: "A body that is exactly as long as the limit is refused.",
    noticedBy: "test/http/limits.test.ts",
    replacements: [["if (bytes > maxBytes) return refuse(", "if (bytes >= maxBytes) return refuse("]],
  },
  {
    name: "cors-etag",
    what: "CORS does not expose ETag, so scripts of other origins cannot read it.",
    noticedBy: "test/http/hosts-and-cors.test.ts",
    replacements: [["Content-Location, ETag, Allow,", "Content-Location, Allow,"]],
  },
  {
    name: "dates-beside-tags",
    what: "If-Modified-Since is applied although the request has If-None-Match.",
    noticedBy: "test/http/conditional.test.ts",
    replacements: [
      [
        "} else if (readAt !== undefined && isPublic(current, readAt)) {",
        "}\n  if (readAt !== undefined && isPublic(current, readAt)) {",
      ],
    ],
  },
  {
    name: "quota-twice",
    what: "A request with an invalid credential counts twice against the quota of its address.",
    noticedBy: "test/http/rate.test.ts",
    replacements: [
      [
        "} catch (problem) {\n    return refuse(problem);",
        "} catch (problem) {\n    count(service, request, undefined);\n    return refuse(problem);",
      ],
    ],
  },
  {
    name: "last-link",
    what: "The link to the last page leads to an empty page when the total is a multiple of the limit.",
    noticedBy: "test/http/lists-links.test.ts",
    replacements: [["Math.floor((total - 1) / limit) * limit", "Math.floor(total / limit) * limit"]],
  },
  {
    name: "history-hidden",
    what: "An earlier version of a resource contains the attributes that the caller cannot see.",
    noticedBy: "test/http/access/attributes.test.ts",
    replacements: [
      [
        "return isVisible ? foundResult(service, operation, request, stored) : notFound;",
        `const found = foundResult(service, operation, request, stored);
  return isVisible ? (found.kind === "found" ? { ...found, stored } : found) : notFound;`,
      ],
    ],
  },
  {
    name: "restore-hidden",
    what: "A restore also restores the attributes that the caller cannot see.",
    noticedBy: "test/http/access/attributes.test.ts",
    replacements: [
      ["!visibility.hidden.has(name) && !visibility.readOnly.has(name)", "!visibility.readOnly.has(name)"],
    ],
  },
  {
    name: "batches-deadlock",
    what: "Two batches that change the same resources in opposite orders wait for each other.",
    noticedBy: "test/http/batch-races.test.ts",
    replacements: [["return [...names].sort();", "return [...names];"]],
  },
  {
    name: "key-free-too-early",
    what: "An Idempotency-Key is free for another request as soon as its first request has timed out, although the commit is still in progress.",
    noticedBy: "test/http/idempotency-stuck.test.ts",
    replacements: [
      [
        "if (idempotency.commit === undefined) release();\n    else idempotency.commit.then(release, release);",
        "release();",
      ],
    ],
  },
  {
    name: "retry-without-read",
    what: "A write that is overtaken decides again from the state that its first attempt read, so it is overtaken every time.",
    noticedBy: "test/postgres/contended.test.ts",
    replacements: [
      [
        `() =>
    untilCommitted(service, () => attempt(steps, write, content)),
  );`,
        `async () => {
    const state = await steps.find(write);
    if (state === undefined) return notFound;
    return untilCommitted(service, () => attempt(steps, write, state, content));
  });`,
      ],
      [
        `  content: Content,
): Promise<Outcome> {
  const state = await steps.find(write);
  if (state === undefined) return notFound;`,
        `  state: State,
  content: Content,
): Promise<Outcome> {`,
      ],
    ],
  },
  {
    name: "overtaken-refused",
    what: "A write that another instance overtakes is refused as if a precondition of its client had failed.",
    noticedBy: "test/postgres/contended.test.ts",
    replacements: [
      ['if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return overtaken;', ""],
    ],
  },
  {
    name: "large-read-keeps-memory",
    what: "The memory that a large read holds is never given back to the budget.",
    noticedBy: "test/http/large-reads.test.ts",
    replacements: [["request.budget.held -= this.#held.get(request) ?? 0;", ""]],
  },
  {
    name: "response-memory-twice",
    what: "The memory of a response is given back twice: when it has been sent, and again when its connection closes.",
    noticedBy: "test/http/slow-clients.test.ts",
    replacements: [
      [
        'response.off("finish", done);\n      connection.off("close", done);',
        'response.off("finish", done);',
      ],
    ],
  },
];
