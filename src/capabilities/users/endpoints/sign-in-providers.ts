/** The endpoints of a sign-in at a provider, and of the identities there. A browser goes through the first two. */
import { Problem } from "../../../errors.ts";
import type { Success } from "../../../http/endpoint/endpoint.ts";
import { closedObject, json, listOf, type Part, text, truth } from "../../../http/openapi/described.ts";
import { jsonResult, notFound, type Result } from "../../../http/operations/result.ts";
import { jsonType } from "../../../http/protocol/message.ts";
import { requireNoParameters } from "../../../query/list-parameters.ts";
import { inQuery, Violations } from "../../../query/violations.ts";
import type { UsersEndpoint } from "../open-users.ts";
import type { Identity } from "../user-records.ts";
import type { UserSettings } from "../user-settings.ts";
import type { Users } from "../users.ts";
import {
  bodyOf,
  endpointOf,
  ownEndpoint,
  requireMembers,
  type Sent,
  shownStep,
  textMember,
  time,
  timeText,
} from "./sign-in.ts";

const has = ({ providers }: UserSettings) => providers.length > 0;

const names = { name: { description: "The name of the provider.", example: "google" } };

/** What the query string of a departure says. */
interface Asked {
  returnTo: string;
  isLink: boolean;
  /** The query string as it was sent. */
  query: string;
}

const elsewhere: Readonly<Record<number, Success>> = {
  303: {
    description:
      "Where the browser goes. If something has failed, this is the page of sign-in with the error code.",
    must: ["Location"],
    may: ["Set-Cookie"],
  },
};

/** An identity in a response. */
export const identity: Part = closedObject(
  {
    id: text,
    provider: { ...text, description: "The name of the provider." },
    email: { ...text, description: "The address that the provider has named." },
    createdAt: time,
  },
  { optional: ["email"] },
);

/** The endpoints. */
export const providerEndpoints: readonly UsersEndpoint[] = [
  endpointOf({
    path: "/_auth/providers/{name}",
    method: "GET",
    has,
    writes: true,
    isForSetUp: true,
    formats: "any",
    names,
    parameters: [
      {
        name: "return",
        in: "query",
        description:
          "Where the browser goes afterwards: a path of the service, or an address of one of its other origins.",
        schema: { ...text, default: "/" },
      },
      {
        name: "link",
        in: "query",
        description: "Whether the identity is for an account that exists. Then no session begins.",
        schema: { ...truth, default: false },
      },
    ],
    id: "signInAtProvider",
    summary: "Sign in at a provider",
    description:
      "Sends the browser to a provider, such as Google, where somebody signs in. Another site cannot begin this (403).",
    successes: elsewhere,
    errors: [403],
    parse: (_, { route: { query } }, { people }) => {
      const parameters = new URLSearchParams(query);
      const violations = new Violations();
      for (const name of ["return", "link"])
        if (parameters.getAll(name).length > 1)
          violations.add(inQuery(name), "repeated", "can be given once only");
      const returnTo = people?.users.providers.returnAddress(parameters.get("return") ?? "/");
      if (returnTo === undefined)
        violations.add(
          inQuery("return"),
          "address",
          "must be a path of the service, or an address of one of the origins in auth.users.origins",
        );
      const link = parameters.get("link") ?? "false";
      if (link !== "true" && link !== "false")
        violations.add(inQuery("link"), "type", "must be true or false");
      violations.throwIfAny();
      parameters.delete("return");
      parameters.delete("link");
      requireNoParameters(String(parameters));
      return { returnTo, isLink: link === "true", query };
    },
    work: async (sent) => {
      const { users, asked, visitor } = sent;
      const { returnTo, isLink, query } = asked.parsed as Asked;
      const provider = users.providers.named(asked.names.name ?? "");
      if (provider === undefined) return notFound;
      users.cookies.requireOwnDeparture(asked.request);
      const { host, "sec-fetch-site": site = "none" } = asked.request.headers;
      const own = users.ownAddressFor(host);
      // For the browser, a redirect from a page of 127.0.0.1 to localhost comes from another site. The user begins again on the page there.
      if (own !== undefined && site !== "none") return goTo(pageOf(users, returnTo, {}));
      // The cookie of 127.0.0.1 would not come back with the browser, because the provider sends it to localhost.
      if (own !== undefined) return goTo(`${own}/${provider.name}${query && `?${query}`}`);
      const browser = users.cookies.browserIn(asked.request);
      const before = asked.caller.principal?.session?.id;
      try {
        const away = await users.providers.depart({ provider, visitor, browser, returnTo, isLink, before });
        return goTo(away.address, [users.cookies.nameBrowser(away.browser)]);
      } catch (error) {
        if (error instanceof Problem) return failed(sent, { code: error.code, returnTo });
        throw error;
      }
    },
  }),
  endpointOf({
    path: "/_auth/providers/{name}/callback",
    method: "GET",
    has,
    writes: true,
    isForSetUp: true,
    formats: "any",
    names,
    id: "returnFromProvider",
    summary: "Come back from a provider",
    description:
      "The provider sends the browser here, with its own parameters. Begins a session, or sends the browser to the page of sign-in.",
    successes: elsewhere,
    parse: (_, { route: { query } }) => {
      // A provider can add parameters of its own.
      if (query === "" || new URLSearchParams(query).has("state")) return query;
      const violations = new Violations();
      violations.add(inQuery("state"), "required", "is missing");
      throw violations.problem();
    },
    work: async (sent) => {
      const { users, asked, visitor } = sent;
      const { cookies, providers } = users;
      const provider = providers.named(asked.names.name ?? "");
      if (provider === undefined) return notFound;
      const browser = cookies.browserIn(asked.request);
      const device = cookies.deviceIn(asked.request);
      const back = await providers.receive(provider, asked.parsed as string, { visitor, browser, device });
      if (back.kind === "failed") {
        await users.noteReturn("failed", visitor);
        return failed(sent, back);
      }
      const { returnTo = "/" } = back;
      if (back.kind === "again")
        return back.hasBegun ? goTo(returnTo) : failed(sent, { code: "SIGN_IN_FAILED", returnTo });
      if (back.kind === "begun") {
        const { begun } = back;
        if ("factors" in begun)
          return goTo(pageOf(users, returnTo, { secondFactor: JSON.stringify(shownStep(begun)) }));
        await users.noteReturn("done", visitor);
        return goTo(returnTo, cookies.ofSession(begun));
      }
      const { ticket, email } = back;
      return goTo(
        pageOf(users, returnTo, { link: ticket, ...(email && { email }), provider: provider.name }),
      );
    },
  }),
  ownEndpoint({
    path: "/_auth/identities",
    method: "GET",
    has,
    id: "listIdentities",
    summary: "List your identities",
    description: "Lists the identities at providers with which the caller can sign in, the newest first.",
    successes: {
      200: { description: "The identities.", content: json(closedObject({ identities: listOf(identity) })) },
    },
    work: async ({ users, current }) => {
      const all = await users.records.identitiesOf(current.account.id);
      return jsonResult({ identities: all.map(({ value }) => shownIdentity(value)) });
    },
  }),
  ownEndpoint({
    path: "/_auth/identities",
    method: "POST",
    kind: "identityLinked",
    has,
    body: bodyOf(
      { ticket: textMember("The ticket in the address of the page of sign-in.", 100) },
      { ticket: "TQ0Y" },
    ),
    id: "linkIdentity",
    summary: "Link an identity",
    description:
      "Links the identity with which this browser has come back from a provider to the account of the caller. The session must be confirmed.",
    successes: { 200: { description: "The identity.", content: json(identity) } },
    errors: [403, 409],
    work: async ({ users, given, asked, current }) => {
      const { ticket } = requireMembers(given, ["ticket"]);
      const browser = users.cookies.browserIn(asked.request);
      return jsonResult(shownIdentity(await users.providers.link(current, ticket, browser)));
    },
  }),
  ownEndpoint({
    path: "/_auth/identities/{id}",
    method: "DELETE",
    kind: "identityRemoved",
    has,
    names: { id: { description: "The id of the identity." } },
    id: "unlinkIdentity",
    summary: "Remove one of your identities",
    description: "All other sessions of the user end. The session must be confirmed.",
    successes: { 205: { description: "The identity is removed." } },
    errors: [403, 409],
    work: async ({ users, asked, current }) =>
      (await users.providers.unlink(current, asked.names.id ?? "")) ? { kind: "deleted" } : notFound,
  }),
];

function goTo(location: string, cookies: readonly string[] = []): Result {
  const document = { status: 303, type: jsonType, body: "", headers: { location }, cookies };
  return { kind: "document", document };
}

/** The page of sign-in says what has failed. */
function failed(
  { users, asked }: Sent,
  { code, returnTo = "/" }: { code: string; returnTo: string | undefined },
): Result {
  return goTo(pageOf(users, returnTo, { error: code, provider: asked.names.name ?? "" }));
}

/** The page of sign-in. What it gets is behind `#`, so no server sees it. */
function pageOf(users: Users, returnTo: string, content: Record<string, string>): string {
  const url = new URL(`${users.pagesUrl}/_sign-in`);
  // The page takes a path for the service itself.
  url.searchParams.set(
    "return",
    returnTo.startsWith(`${users.publicUrl}/`) ? returnTo.slice(users.publicUrl.length) : returnTo,
  );
  url.hash = new URLSearchParams(content).toString();
  return url.href;
}

/** The members of an identity in a response. */
export function shownIdentity({ id, provider, email, createdAt }: Identity): object {
  return { id, provider, email, createdAt: timeText(createdAt) };
}
