import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { preferredReturn } from "../../src/http/protocol/prefer.ts";
import { check, unknownId } from "./check.ts";
import { parseAnswers } from "./connection.ts";
import { jsonType, type Service, startService } from "./service.ts";

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.stop());

const minimal = { Prefer: "return=minimal" };
const representation = { Prefer: "return=representation" };
const appliedMinimal = { "Preference-Applied": "return=minimal" };
const appliedRepresentation = { "Preference-Applied": "return=representation" };
const notApplied = { "Preference-Applied": undefined };
const withoutContent = { "Content-Type": undefined, "Content-Location": undefined };
const mergePatch = { "Content-Type": "application/merge-patch+json" };
const jsonPatch = { "Content-Type": "application/json-patch+json" };

describe("Prefer: return=minimal", () => {
  test("makes a create answer with 201, where the resource is, its version and no content", async () => {
    const path = "/api/v1/topics";
    const answer = await service.send({ method: "POST", path, headers: minimal, content: { n: 1 } });
    const headers = { ...appliedMinimal, ...withoutContent, "Content-Length": "0", ETag: '"1"' };
    assert.equal(answer.text, "");
    assert.equal(answer.status, 201);
    for (const [name, value] of Object.entries(headers))
      assert.equal(answer.headers[name.toLowerCase()], value);
    const location = answer.headers.location ?? "";
    check(await service.send({ path: location }), {
      status: 200,
      json: { id: location.split("/").at(-1), n: 1 },
    });
  });

  test("makes a replacement answer with 204 and the new version", async () => {
    const { id, path } = await service.create("topics", { n: 1 });
    const content = { id, n: 2 };
    const answer = await service.send({ method: "PUT", path, headers: minimal, content });
    const headers = { ...appliedMinimal, ...withoutContent, ETag: '"2"', Location: undefined };
    check(answer, { status: 204, headers });
    check(await service.send({ path }), { status: 200, headers: { ETag: '"2"' }, json: content });
  });

  for (const [type, content] of [
    [{}, { n: 2 }],
    [mergePatch, { n: 2 }],
    [jsonPatch, [{ op: "replace", path: "/n", value: 2 }]],
  ] as const)
    test(`makes a patch (${type["Content-Type" as never] ?? "by default"}) answer with 204`, async () => {
      const { id, path } = await service.create("topics", { n: 1 });
      const answer = await service.send({ method: "PATCH", path, headers: { ...minimal, ...type }, content });
      check(answer, { status: 204, headers: { ...appliedMinimal, ...withoutContent, ETag: '"2"' } });
      check(await service.send({ path }), { status: 200, json: { id, n: 2 } });
    });

  test("makes a write that changes nothing answer with 204 and the same version", async () => {
    const { id, path, body } = await service.create("topics", { n: 1 });
    const put = await service.send({ method: "PUT", path, headers: minimal, content: body });
    check(put, { status: 204, headers: { ...appliedMinimal, ETag: '"1"' } });
    const patch = await service.send({ method: "PATCH", path, headers: minimal, content: { id } });
    check(patch, { status: 204, headers: { ...appliedMinimal, ETag: '"1"' } });
  });

  test("leaves DELETE and reads as they are", async () => {
    const { path, body } = await service.create("topics", { n: 1 });
    check(await service.send({ path, headers: minimal }), { status: 200, headers: notApplied, json: body });
    check(await service.send({ method: "HEAD", path, headers: minimal }), {
      status: 200,
      headers: notApplied,
    });
    const list = await service.send({ path: "/api/v1/topics", headers: minimal });
    check(list, { status: 200, headers: notApplied });
    check(await service.send({ method: "DELETE", path, headers: minimal }), {
      status: 205,
      headers: notApplied,
    });
  });

  test("leaves what goes wrong as it is", async () => {
    const { path } = await service.create("topics", { n: 1 });
    const put = (to: string, content: unknown, more = {}) =>
      service.send({ method: "PUT", path: to, headers: { ...minimal, ...more }, content });
    check(await put(path, { n: 2 }), { status: 400, problem: "ID_REQUIRED", headers: notApplied });
    check(await put(path, {}, { "If-Match": '"7"' }), {
      status: 412,
      problem: "PRECONDITION_FAILED",
      headers: notApplied,
    });
    check(await put(`/api/v1/topics/${unknownId}`, {}), { status: 404, headers: notApplied });
  });

  test("keeps a connection in step: no length with 204, a length of 0 with 201", async () => {
    const { path } = await service.create("topics", { n: 1 });
    const write = (method: string, to: string, content: string, last = "") =>
      `${method} ${to} HTTP/1.1\r\nHost: localhost\r\nPrefer: return=minimal\r\nContent-Type: ${jsonType}\r\n` +
      `Content-Length: ${content.length}\r\n${last}\r\n${content}`;
    const received = await service.raw(
      write("PATCH", path, '{"n":2}') +
        write("POST", "/api/v1/topics", "{}") +
        write("PATCH", path, '{"n":3}', "Connection: close\r\n"),
    );
    const answers = parseAnswers(received, "PATCH", "POST", "PATCH");
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers["content-length"]]),
      [
        [204, undefined],
        [201, "0"],
        [204, undefined],
      ],
    );
    for (const { headers } of answers) assert.equal(headers["transfer-encoding"], undefined);
  });
});

describe("Prefer: return=representation", () => {
  test("is what happens anyway, and is said to be applied", async () => {
    const path = "/api/v1/topics";
    const headers = representation;
    const made = await service.send({ method: "POST", path, headers, content: { n: 1 } });
    const { id } = made.json as { id: string };
    check(made, { status: 201, headers: appliedRepresentation, json: { id, n: 1 } });
    for (const method of ["PUT", "PATCH"]) {
      const content = { id, by: method };
      const answer = await service.send({ method, path: `${path}/${id}`, headers, content });
      check(answer, { status: 200, headers: appliedRepresentation });
      assert.equal((answer.json as { by: string }).by, method);
    }
  });

  test("together with minimal is as if there were neither", async () => {
    for (const prefer of [
      "return=minimal, return=representation",
      ["return=representation", "return=minimal"],
    ]) {
      const { path, id } = await service.create("topics", {});
      const headers = { Prefer: prefer };
      const answer = await service.send({ method: "PATCH", path, headers, content: { n: 2 } });
      check(answer, { status: 200, headers: notApplied, json: { id, n: 2 } });
    }
  });
});

describe("a Prefer field", () => {
  test("may come more than once", async () => {
    const { path } = await service.create("topics", {});
    const headers = { Prefer: ["respond-async, wait=10", "handling=lenient", "return=minimal"] };
    const answer = await service.send({ method: "PATCH", path, headers, content: { n: 2 } });
    check(answer, { status: 204, headers: appliedMinimal });
  });

  test("with preferences that nobody knows is no fault", async () => {
    for (const prefer of [
      "return=nothing",
      "handling=strict",
      "count=exact",
      "resolution=merge-duplicates",
    ]) {
      const { path } = await service.create("topics", {});
      const headers = { Prefer: prefer };
      const answer = await service.send({ method: "PATCH", path, headers, content: { n: 2 } });
      check(answer, { status: 200, headers: notApplied });
    }
  });

  const meansMinimal = [
    "return=minimal",
    'return="minimal"',
    'return="min\\imal"',
    "Return=Minimal",
    "return = minimal",
    "\treturn\t=\tminimal\t",
    "return=minimal; foo=bar",
    'return=minimal;foo="a, b; return=representation"',
    'return=minimal ; ; foo ; bar=""',
    "return=minimal;",
    ", ,return=minimal,,",
    "wait=10, return=minimal",
    'foo="return=representation, \\"", return=minimal',
    "foo; return=representation, return=minimal",
    "foo=, return=minimal",
    "return=minimal, return=minimal",
    "return=minimal, return=foo",
    "returns=representation, return=minimal",
  ];
  for (const prefer of meansMinimal)
    test(`such as ${JSON.stringify(prefer)} asks for a minimal answer`, () =>
      assert.equal(preferredReturn({ prefer }), "minimal"));

  const meansNothing = [
    "",
    ",",
    "return",
    "return=",
    'return=""',
    "return=foo, return=minimal",
    "return=minimal, return=representation",
    'return="representation", RETURN=minimal',
    "foo=return=minimal",
    "foo; return=minimal",
    'foo="return=minimal"',
    "xreturn=minimal",
    "return=minimalist",
    "return minimal",
    'return="minimal',
    "return=minimal, foo=(1 2)",
    "return=minimal foo",
    "minimal",
  ];
  for (const prefer of meansNothing)
    test(`such as ${JSON.stringify(prefer)} asks for nothing`, () =>
      assert.equal(preferredReturn({ prefer }), undefined));

  test("says the same however it is written", () => {
    const space = fc.constantFrom("", " ", "\t", "  ");
    const other = fc.constantFrom("wait=10", 'a="b, c"', "d", "e=f;g=h", "", 'return2="minimal"');
    const value = fc.constantFrom("minimal", '"minimal"', "representation", '"representation"');
    const parameters = fc.constantFrom("", ";x", '; x="y"', ";");
    fc.assert(
      fc.property(
        fc.array(other),
        fc.array(other),
        value,
        parameters,
        space,
        (before, after, said, more, gap) => {
          const prefer = [...before, `return${gap}=${gap}${said}${gap}${more}`, ...after].join(
            `${gap},${gap}`,
          );
          assert.equal(preferredReturn({ prefer }), said.replaceAll('"', ""));
        },
      ),
    );
  });

  test("of whatever octets is never a fault", () => {
    const piece = fc.constantFrom("return", "=", "minimal", ";", ",", '"', "\\", " ", "\t", "a", "\xff", "(");
    const prefer = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(prefer, (text) => {
        assert.ok([undefined, "minimal", "representation"].includes(preferredReturn({ prefer: text })));
      }),
      { numRuns: 2_000 },
    );
  });
});
