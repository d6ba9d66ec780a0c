import assert from "node:assert/strict";
import { test } from "node:test";
import { authorFor } from "../../src/access/principal.ts";
import { authorOf } from "../../src/store/port/change-log.ts";

const task = "01a22e5f-4c01-764a-8ef2-55cb16fe9d9c";
const caller = (subject: string, chain?: number) => ({
  subject,
  roles: [],
  claims: {},
  scopes: undefined,
  ...(chain !== undefined && { chain }),
});

test("the author of a change is the caller, with the task and the length of the chain", () => {
  const authors = [
    { principal: undefined, task: undefined, chain: 0 },
    { principal: "ada", task: undefined, chain: 0 },
    { principal: "ada\n2", task: undefined, chain: 0 },
    { principal: "code:orders/mail", task: undefined, chain: 3 },
    { principal: "code:orders/mail", task, chain: 12 },
    { principal: "ada", task, chain: 0 },
    { principal: undefined, task, chain: 0 },
  ];
  for (const author of authors) {
    const { principal, chain } = author;
    const sent = principal === undefined ? undefined : caller(principal, chain === 0 ? undefined : chain);
    assert.deepEqual(authorOf(authorFor(sent, author.task)), author);
  }
});
