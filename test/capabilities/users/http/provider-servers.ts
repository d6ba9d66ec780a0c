/** Providers for tests: a real OpenID provider, a small GitHub, and a browser that goes through them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import OpenIdProvider from "oidc-provider";
import type { Provider } from "../../../../src/capabilities/users/user-settings.ts";
import type { Answer, Service } from "../../../http/service.ts";

/** Who signs in at the provider, and what it says about them. */
export interface Person {
  sub: string;
  email?: string;
  /** Some providers send a text. */
  email_verified?: boolean | string;
  name?: string;
}

/** A provider that runs. */
export interface RunningProvider {
  /** For the settings of the service. */
  settings: Provider;
  /** Who signs in next. */
  person: Person;
  /** The requests to it so far: method and path. */
  seen: string[];
  server: Server;
}

const callbackShape = /^http:\/\/localhost:\d+\/api\/v1\/_auth\/providers\/[a-z]+\/callback$/;

async function listen(t: TestContext): Promise<{ server: Server; origin: string }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/**
 * Starts an OpenID provider. `intercept` can answer a request in its place. `inIdToken`: the claims that the ID token has, besides `sub`. Its
 * response about the user has all.
 */
export async function startOpenId(
  t: TestContext,
  more: Partial<Provider> = {},
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
  inIdToken: readonly string[] = [],
): Promise<RunningProvider> {
  const { server, origin } = await listen(t);
  const name = more.name ?? "work";
  const running: RunningProvider = {
    settings: {
      name,
      label: "Work",
      issuer: origin,
      clientId: `client of ${name}`,
      trustEmail: false,
      ...more,
    },
    person: { sub: "ada" },
    seen: [],
    server,
  };
  const provider = new OpenIdProvider(origin, {
    clients: [
      {
        client_id: running.settings.clientId,
        client_secret: `secret of ${name}`,
        redirect_uris: ["http://localhost/callback"],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    claims: { openid: ["sub", ...inIdToken], email: ["email", "email_verified"], profile: ["name"] },
    cookies: { keys: ["for tests"] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...running.person }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? "",
        accountId: oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  provider.Client.prototype.redirectUriAllowed = (uri: string) => callbackShape.test(uri);
  const handle = provider.callback();
  server.on("request", async (request, response) => {
    running.seen.push(`${request.method} ${new URL(request.url ?? "", origin).pathname}`);
    if (intercept(request, response)) return;
    if (request.url?.startsWith("/interaction/"))
      await provider.interactionFinished(request, response, { login: { accountId: running.person.sub } });
    else handle(request, response);
  });
  return running;
}

/** Starts a server that speaks as GitHub does. */
export async function startGithub(t: TestContext, more: Partial<Provider> = {}): Promise<RunningProvider> {
  const { server, origin } = await listen(t);
  const running: RunningProvider = {
    settings: {
      name: "github",
      label: "GitHub",
      issuer: "https://github.com/login/oauth",
      clientId: "client of github",
      trustEmail: true,
      github: { authorize: `${origin}/authorize`, token: `${origin}/token`, api: origin },
      ...more,
    },
    person: { sub: "583231" },
    seen: [],
    server,
  };
  const challenges = new Map<string, string>();
  server.on("request", async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", origin);
    running.seen.push(`${request.method} ${pathname}`);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname === "/authorize") {
      const code = `code${challenges.size}`;
      challenges.set(code, searchParams.get("code_challenge") ?? "");
      const back = new URL(searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", code);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      back.searchParams.set("iss", "https://github.com/login/oauth");
      response.writeHead(302, { location: back.href }).end();
    } else if (pathname === "/token") {
      let body = "";
      for await (const chunk of request) body += chunk;
      const form = new URLSearchParams(body);
      const verifier = Buffer.from(
        await crypto.subtle.digest("SHA-256", Buffer.from(form.get("code_verifier") ?? "")),
      ).toString("base64url");
      const isRight =
        challenges.get(form.get("code") ?? "") === verifier &&
        form.get("client_secret") === "secret of github";
      challenges.delete(form.get("code") ?? "");
      json(
        isRight
          ? { access_token: "gho_token", token_type: "bearer", scope: "user:email" }
          : { error: "bad_verification_code" },
      );
    } else if (request.headers.authorization?.toLowerCase() !== "bearer gho_token") json({}, 401);
    else if (pathname === "/user")
      json({ id: Number(running.person.sub), name: running.person.name ?? null });
    else
      json([
        { email: "other@example.org", primary: false, verified: true },
        { email: running.person.email, primary: true, verified: running.person.email_verified ?? false },
      ]);
  });
  return running;
}

/** A browser with its own cookies, which goes to the service as `localhost`. */
export class TestBrowser {
  readonly #service: Pick<Service, "port" | "send">;
  readonly #headers: () => Record<string, string>;
  readonly cookies = new Map<string, string>();

  /** `headers` are in addition to those of every request. */
  constructor(service: Pick<Service, "port" | "send">, headers: () => Record<string, string> = () => ({})) {
    this.#service = service;
    this.#headers = headers;
  }

  get #host(): string {
    return `localhost:${this.#service.port}`;
  }

  /** A request to the service. Without `site`, the user has clicked a link of the service itself. */
  async send(
    path: string,
    { content, site = "same-origin", method }: { content?: unknown; site?: string; method?: string } = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await this.#service.send({
      method: method ?? (content === undefined ? "GET" : "POST"),
      path: path.replace(`http://${this.#host}`, ""),
      headers: {
        ...this.#headers(),
        host: this.#host,
        "sec-fetch-site": site,
        ...(site === "cross-site" && { accept: "text/html" }),
        ...(cookie !== "" && { cookie }),
      },
      ...(content !== undefined && { content }),
    });
    for (const [n, name] of answer.rawHeaders.entries()) {
      if (n % 2 === 1 || name.toLowerCase() !== "set-cookie") continue;
      const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(answer.rawHeaders[n + 1] ?? "") ?? [];
      if (/Max-Age=0(;|$)/i.test(answer.rawHeaders[n + 1] ?? "")) this.cookies.delete(key);
      else this.cookies.set(key, value);
    }
    return answer;
  }

  /** Goes to a provider. Returns where it has sent the browser. */
  async depart(name: string, query = ""): Promise<string> {
    return locationOf(await this.send(`/api/v1/_auth/providers/${name}${query}`));
  }

  /** Goes to a provider and signs in there. Returns the address with which it sends the browser back. */
  async visit(name: string, query = ""): Promise<string> {
    return this.signInAt(await this.depart(name, query));
  }

  /** Signs in at a provider with this address of its own. Returns the address with which it sends the browser back. */
  async signInAt(address: string): Promise<string> {
    let at = address;
    const jar = new Map<string, string>();
    for (let n = 0; n < 10 && !at.startsWith(`http://${this.#host}/`); n++) {
      const cookie = [...jar].map(([key, value]) => `${key}=${value}`).join("; ");
      const answer = await fetch(at, { redirect: "manual", headers: { cookie } });
      for (const each of answer.headers.getSetCookie()) {
        const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
        jar.set(key, value);
      }
      const next = answer.headers.get("location");
      assert.ok(next !== null, `${at}: ${answer.status} ${await answer.text()}`);
      at = new URL(next, at).href;
    }
    return at;
  }

  /** Comes back to the service. Returns where it sends the browser. */
  async comeBack(address: string): Promise<string> {
    return locationOf(await this.send(address, { site: "cross-site" }));
  }

  /** Signs in at a provider. Returns where the service sends the browser. */
  async signIn(name: string, query = ""): Promise<string> {
    return this.comeBack(await this.visit(name, query));
  }

  /** The address of the user who has signed in; `undefined` if nobody has. */
  async user(): Promise<{ id: string; email: string } | undefined> {
    const { user } = (await this.send("/api/v1/_auth")).json as { user?: { id: string; email: string } };
    return user;
  }
}

function locationOf(answer: Answer): string {
  assert.equal(answer.status, 303, answer.text);
  return answer.headers.location ?? "";
}

/** What the page of sign-in gets behind `#`. */
export function fragmentOf(address: string): Record<string, string> {
  const { pathname, hash } = new URL(address);
  assert.equal(pathname, "/_sign-in", address);
  return Object.fromEntries(new URLSearchParams(hash.slice(1)));
}
