/** Browsers of the same origin sign in with a cookie. No page of another site can use it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Request } from "../../../http/service.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, startPeople } from "./people.ts";

const ada = "ada@example.org";
const sameOrigin = { "sec-fetch-site": "same-origin" };

/** The values of `Set-Cookie` of a response, by the name of the cookie. */
function cookiesOf({ rawHeaders }: { rawHeaders: readonly string[] }): Map<string, string> {
  const values = rawHeaders.filter(
    (_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === "set-cookie",
  );
  return new Map(values.map((value) => [value.slice(0, value.indexOf("=")), value]));
}

/** Signs in as a browser does. Returns the header `Cookie` of its next requests. */
async function signIn({
  post,
  service,
}: People): Promise<{ cookie: string; name: string; set: Map<string, string> }> {
  const asked = { email: ada, password: goodPassword, cookie: true };
  const answer = await post("sign-in", asked, sameOrigin);
  assert.equal("token" in bodyOf<object>(answer), false);
  const set = cookiesOf(answer);
  const cookie = [...set.values()].map((value) => value.split(";", 1)[0]).join("; ");
  return { cookie, name: `holdfast-${service.port}`, set };
}

test("a cookie of a local service is for its port, and scripts cannot read it", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const { set, name } = await signIn(people);
  assert.deepEqual([...set.keys()].sort(), [name, `${name}-device`]);
  for (const value of set.values()) assert.match(value, /; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
});

test("a cookie counts only in requests of pages that may use it", async (t) => {
  const origin = "https://app.example.org";
  const people = await startPeople(t, { users: { origins: [origin] } });
  const { user } = await people.join(ada);
  const { cookie } = await signIn(people);
  const own = `http://localhost:${people.service.port}`;
  const write = (headers: Request["headers"]) =>
    people.service.send({
      method: "POST",
      path: "/api/v1/articles",
      content: { authorId: user.id },
      headers: { cookie, ...headers },
    });
  const written: [headers: Record<string, string>, status: number][] = [
    [sameOrigin, 201],
    [{ "sec-fetch-site": "same-site", origin }, 201],
    [{ origin: own }, 201],
    [{ "sec-fetch-site": "same-site", origin: "https://evil.example.org" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "cross-site", origin }, 403],
    [{ "sec-fetch-site": "none" }, 403],
    [{ "sec-fetch-site": "unknown", origin: own }, 403],
    [{ origin: "null" }, 403],
    [{}, 403],
  ];
  for (const [headers, status] of written) {
    const answer = await write(headers);
    assert.equal(answer.status, status, JSON.stringify(headers));
    if (status === 403) assert.equal(problemOf(answer), "403 CROSS_SITE");
  }
  const who = async (headers: Request["headers"]) => {
    const answer = await people.service.send({ path: "/api/v1/_auth", headers: { cookie, ...headers } });
    return "user" in bodyOf<object>(answer);
  };
  assert.equal(await who({ "sec-fetch-site": "none" }), true);
  assert.equal(await who(sameOrigin), true);
  assert.equal(await who({ "sec-fetch-site": "cross-site" }), false);
  assert.equal(await who({}), false);
});

test("with Authorization, the cookie is not read, and of two cookies with its name none counts", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const bob = await people.join("bob@example.org");
  const { cookie, name } = await signIn(people);
  const who = async (headers: Request["headers"]) => {
    const answer = await people.service.send({
      path: "/api/v1/_auth",
      headers: { ...sameOrigin, ...headers },
    });
    return bodyOf<{ user?: { email: string } }>(answer).user?.email;
  };
  assert.equal(await who({ cookie, ...bearer(bob.token) }), "bob@example.org");
  assert.equal(await who({ cookie }), ada);
  assert.equal(await who({ cookie: `${name}=${bob.token}; ${cookie}` }), undefined);
  assert.equal(await who({ cookie: cookie.replaceAll(name, `${name}0`) }), undefined);
  const wrong = await people.service.send({
    path: "/api/v1/_auth",
    headers: { cookie, ...sameOrigin, authorization: "Bearer x" },
  });
  assert.equal(problemOf(wrong), "401 INVALID_TOKEN");
});

test("a request that no page of the service sent gets no cookie", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const asked = { email: ada, password: goodPassword, cookie: true };
  for (const headers of [{}, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "none" }]) {
    const answer = await people.post("sign-in", asked, headers);
    assert.equal(problemOf(answer), "403 CROSS_SITE");
    assert.equal(cookiesOf(answer).size, 0);
  }
});

test("signing out ends the session and removes its cookie, and the device stays known", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const { cookie, name } = await signIn(people);
  const out = await people.post("sign-out", {}, { cookie, ...sameOrigin });
  assert.equal(out.status, 204);
  assert.deepEqual([...cookiesOf(out)], [[name, `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`]]);
  const again = await people.post(
    "sign-in",
    { email: ada, password: goodPassword, cookie: true },
    { cookie, ...sameOrigin },
  );
  assert.deepEqual([...cookiesOf(again).keys()], [name]);
});

test("responses vary by the cookie, and only listed origins get credentials", async (t) => {
  const origin = "https://app.example.org";
  const { service } = await startPeople(t, { users: { origins: [origin] }, corsOrigins: ["*"] });
  const from = (given: string) => service.send({ path: "/api/v1/articles", headers: { origin: given } });
  const { headers } = await from(origin);
  assert.equal(headers.vary, "Accept, Accept-Encoding, Authorization, Cookie, Sec-Fetch-Site, Origin");
  assert.equal(headers["access-control-allow-origin"], origin);
  assert.equal(headers["access-control-allow-credentials"], "true");
  const other = await from("https://other.example.org");
  assert.equal(other.headers["access-control-allow-origin"], "*");
  assert.equal(other.headers["access-control-allow-credentials"], undefined);
});

test("the document says that the cookie is a credential, and browsers find the page to change a password", async (t) => {
  const { service } = await startPeople(t);
  const { json } = await service.send({ path: "/openapi.json" });
  const { security, components, paths } = json as {
    security: object[];
    components: { securitySchemes: Record<string, { in?: string }> };
    paths: Record<string, { get: { security?: object[] } }>;
  };
  assert.deepEqual(security, [{ bearer: [] }, { cookie: [] }]);
  assert.equal(components.securitySchemes.cookie?.in, "cookie");
  assert.deepEqual(paths["/api/v1/_auth"]?.get.security, [{}, ...security]);
  const found = await service.send({ path: "/.well-known/change-password" });
  assert.deepEqual([found.status, found.headers.location], [303, "/_sign-in#account"]);
  const codesOnly = await startPeople(t, { users: { methods: ["email"] } });
  assert.equal((await codesOnly.service.send({ path: "/.well-known/change-password" })).status, 404);
});
