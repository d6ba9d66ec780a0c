/** Asks a provider who somebody is: OpenID Connect, or GitHub's own protocol. The tokens of the provider are dropped. */
import type { Configuration, CustomFetchOptions } from "openid-client";
import { Problem } from "../../errors.ts";
import type { Provider } from "./user-settings.ts";

/** What proves that a response belongs to a request: the provider returns `state`, and only the service knows the rest. */
export interface Transaction {
  /** Where the provider sends the browser back. */
  redirectUri: string;
  state: string;
  nonce: string;
  /** The verifier of PKCE. */
  verifier: string;
}

/** What a provider says about somebody. */
export interface Claims {
  issuer: string;
  /** Who it is there. It never changes and nobody else gets it, unlike an address. */
  subject: string;
  email: string | undefined;
  /** Whether the provider says that it has verified the address. */
  isVerified: boolean;
  name: string | undefined;
}

/** The time and the size of a response of a provider: milliseconds and bytes. */
const limits = { ms: 5_000, bytes: 1_048_576 };

/** The requests of one process that wait for providers. */
const mostWaiting = 100;
let waiting = 0;

/** How long the description of a provider is used, in milliseconds. */
const describedMs = 3_600_000;

/** One provider. Loads the library at the first use. */
export class ProviderClient {
  readonly #provider: Provider;
  readonly #secret: string;
  readonly #elapsed: () => number;
  #described: { configuration: Promise<Configuration>; at: number } | undefined;

  /** `elapsed` is a clock in milliseconds that never goes back. */
  constructor(provider: Provider, secret: string, elapsed: () => number) {
    this.#provider = provider;
    this.#secret = secret;
    this.#elapsed = elapsed;
  }

  /** Where the browser goes. Throws UNAVAILABLE if the provider cannot be reached. */
  async address({ redirectUri, state, nonce, verifier }: Transaction): Promise<string> {
    const client = await import("openid-client");
    const configuration = await this.#configuration().catch((error: unknown) => {
      throw new Problem("UNAVAILABLE", `${this.#provider.label} does not answer. Try again later.`, {
        cause: error,
      });
    });
    const isGithub = this.#provider.github !== undefined;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: isGithub ? "read:user user:email" : "openid email profile",
      state,
      ...(!isGithub && { nonce }),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return url.href;
  }

  /**
   * Who has come back. `query` has the parameters of the request. Throws UNAVAILABLE if the provider cannot be reached, and an Error
   * for everything that does not belong to the transaction.
   */
  async claims(query: string, { redirectUri, state, nonce, verifier }: Transaction): Promise<Claims> {
    const client = await import("openid-client");
    const configuration = await this.#configuration();
    const { github } = this.#provider;
    const tokens = await client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
      expectedState: state,
      pkceCodeVerifier: verifier,
      ...(github === undefined && { expectedNonce: nonce }),
    });
    if (github !== undefined) return this.#fromGithub(github.api, configuration, tokens.access_token);
    const claims = tokens.claims();
    if (claims === undefined) throw new Error("The provider has sent no ID token.");
    const { sub: subject, email, name } = claims;
    const hasAll = email !== undefined && claims.email_verified !== undefined && name !== undefined;
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    if (hasAll || !hasUserInfo)
      return this.#claims({ subject, email, isVerified: isTrue(claims.email_verified), name });
    const asked = client.fetchUserInfo(configuration, tokens.access_token, subject);
    // Without the address, the sign-in needs the response. Otherwise it only adds to what is known.
    const more = email === undefined ? await asked : await asked.catch(() => undefined);
    const known = email ?? more?.email;
    const isOfKnown = claims.email_verified ?? (more?.email === known ? more?.email_verified : undefined);
    return this.#claims({ subject, email: known, isVerified: isTrue(isOfKnown), name: name ?? more?.name });
  }

  async #fromGithub(api: string, configuration: Configuration, token: string): Promise<Claims> {
    const { fetchProtectedResource } = await import("openid-client");
    const headers = new Headers({ accept: "application/vnd.github+json", "user-agent": "holdfast" });
    const read = async (path: string): Promise<unknown> => {
      const url = new URL(`${api}${path}`);
      const answer = await fetchProtectedResource(configuration, token, url, "GET", undefined, headers);
      if (!answer.ok) throw new Error(`GitHub has answered ${answer.status}.`);
      return answer.json();
    };
    const user = (await read("/user")) as { id?: unknown; name?: unknown };
    const emails = (await read("/user/emails")) as {
      email?: unknown;
      primary?: unknown;
      verified?: unknown;
    }[];
    const primary = Array.isArray(emails) ? emails.find((each) => each.primary === true) : undefined;
    if (!Number.isSafeInteger(user.id)) throw new Error("GitHub has not said who it is.");
    const isVerified = primary?.verified === true;
    return this.#claims({ subject: String(user.id), email: primary?.email, isVerified, name: user.name });
  }

  #claims(said: { subject: string; email: unknown; isVerified: boolean; name: unknown }): Claims {
    const { subject, email, isVerified, name } = said;
    if (subject === "" || subject.length > 255) throw new Error("The subject is empty or too long.");
    return {
      issuer: this.#provider.issuer,
      subject,
      email: typeof email === "string" ? email : undefined,
      isVerified,
      name: typeof name === "string" && name.length <= 200 ? name : undefined,
    };
  }

  /** The description of the provider. A failure is not kept. */
  #configuration(): Promise<Configuration> {
    const now = this.#elapsed();
    if (this.#described !== undefined && now - this.#described.at < describedMs)
      return this.#described.configuration;
    const configuration = this.#describe();
    this.#described = { configuration, at: now };
    configuration.catch(() => {
      this.#described = undefined;
    });
    return configuration;
  }

  async #describe(): Promise<Configuration> {
    const client = await import("openid-client");
    const { issuer, clientId, github } = this.#provider;
    const usesSecret = client.ClientSecretPost(this.#secret);
    // Only a local service can have such an issuer, and only on this machine.
    const isPlain = new URL(github?.token ?? issuer).protocol === "http:";
    if (github === undefined) {
      const more = isPlain ? [client.allowInsecureRequests] : [];
      const options = {
        [client.customFetch]: boundedFetch,
        execute: [...more, client.enableNonRepudiationChecks],
      };
      return client.discovery(new URL(issuer), clientId, undefined, usesSecret, options);
    }
    const metadata = { issuer, authorization_endpoint: github.authorize, token_endpoint: github.token };
    const configuration = new client.Configuration(metadata, clientId, undefined, usesSecret);
    configuration[client.customFetch] = boundedFetch;
    if (isPlain) client.allowInsecureRequests(configuration);
    return configuration;
  }
}

/** Whether a claim says yes. Some providers, such as those of AWS, send a text. */
function isTrue(claim: unknown): boolean {
  return claim === true || claim === "true";
}

/** A fetch with limits. The library follows no redirects. Throws UNAVAILABLE. */
async function boundedFetch(
  url: string,
  { method, headers: sent, redirect, body }: CustomFetchOptions,
): Promise<Response> {
  if (waiting >= mostWaiting)
    throw new Problem("UNAVAILABLE", "Too many people are signing in at this moment. Try again.");
  waiting++;
  try {
    const signal = AbortSignal.timeout(limits.ms);
    const request = { method, headers: sent, redirect, signal };
    const answer = await fetch(
      url,
      body === undefined ? request : { ...request, body: body as NonNullable<RequestInit["body"]> },
    );
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body ?? []) {
      size += chunk.length;
      if (size > limits.bytes)
        throw new Error(`A response of a provider has more than ${limits.bytes} bytes.`);
      chunks.push(chunk);
    }
    const { status, headers } = answer;
    const hasBody = ![101, 204, 205, 304].includes(status);
    return new Response(hasBody ? Buffer.concat(chunks) : null, { status, headers });
  } catch (error) {
    throw new Problem("UNAVAILABLE", "The provider does not answer. Try again later.", { cause: error });
  } finally {
    waiting--;
  }
}
