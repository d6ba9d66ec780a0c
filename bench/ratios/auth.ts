/**
 * Measures the cost of a credential: GET by id with an API key and with a JSON Web Token, compared with no authentication, by
 * the rate and by the processor time.
 */

import { writeFileSync } from "node:fs";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { addKey } from "../../src/access/api-key.ts";
import { openKeys } from "../../src/store/open.ts";
import type { Effort } from "../harness/effort.ts";
import { type Aim, type Figure, figureOf, showMicroseconds, timeFigureOf } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { measureInTurn, type Side, type Turns } from "../harness/turns.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 20_000;
const issuer = "https://id.example.org/";
const audience = "articles";

/** What a read with each credential may cost: against a read without one. */
const aims = { key: { atMost: 1.1 }, token: { atMost: 1.12 } };

/** Measures reads, a round of each kind in turn. Each kind has its own server, so all of them are warm in the same way. */
export function measureAuth(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const { config, token } = await issuerIn(folder);
    const none = await sideOf(`${folder}/none.db`, {});
    const key = await sideOf(`${folder}/key.db`, { config, credential: makeKey });
    const withToken = await sideOf(`${folder}/token.db`, { config, credential: async () => token });
    const sides = { none, key, token: withToken };
    const turns = await measureInTurn(sides, effort, { connections: 64, loadCpu: 1 });
    for (const { server } of Object.values(sides)) await stopServer(server);
    return [
      ...figuresOf("an API key", turns.key, turns.none, aims.key),
      ...figuresOf("a token", turns.token, turns.none, aims.token),
    ];
  });
}

/** A filled store, its server, and reads with a credential. */
async function sideOf(
  store: string,
  { config, credential }: { config?: string; credential?(store: string): Promise<string> },
): Promise<Side> {
  const paths = pathsOf(await fillStore(store, resources, sampleAttributes));
  const text = await credential?.(store);
  const server = await startServer("holdfast", { store, ...(config && { config }) }, { cpu: 0 });
  return { server, requests: requestsOf(paths, text), status: "200" };
}

function figuresOf(credential: string, with_: Turns, none: Turns, aim: Aim): Figure[] {
  const what = `GET by id with ${credential} against one without a credential, one processor`;
  return [
    timeFigureOf(`time of ${what}`, { ours: with_.rates, theirs: none.rates }, aim),
    figureOf(
      `processor time of ${what}`,
      { ours: with_.costs, theirs: none.costs },
      { aim, show: showMicroseconds },
    ),
  ];
}

function pathsOf(ids: readonly string[]): string[] {
  return Array.from({ length: 10_000 }, (_, n) => `/api/v1/articles/${ids[(n * 7_919) % ids.length]}`);
}

/** Requests per second. */
export async function rateOf(
  { warmUpMs, durationMs }: Effort,
  { port }: Server,
  paths: readonly string[],
  credential?: string,
): Promise<number> {
  const requests = requestsOf(paths, credential);
  const result = await load({ port, connections: 64, warmUpMs, durationMs, requests }, { cpu: 1 });
  requireStatus(result, "200");
  return result.perSecond;
}

/** GET requests with an optional credential. */
export function requestsOf(paths: readonly string[], credential: string | undefined): string[] {
  const headers = credential === undefined ? {} : { Authorization: `Bearer ${credential}` };
  return paths.map((path) => requestText("GET", path, undefined, headers));
}

/** A configuration that accepts keys and tokens, and a token of a usual size. */
async function issuerIn(folder: string): Promise<{ config: string; token: string }> {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: "RS256" }] };
  const config = `${folder}/holdfast.json`;
  writeFileSync(config, JSON.stringify({ auth: { keys: true, jwt: { issuer, audience, jwks } } }));
  const token = await new SignJWT({
    roles: ["editor"],
    email: "kim@example.org",
    name: "Kim",
    tenant: "acme",
  })
    .setProtectedHeader({ alg: "RS256", kid: "one", typ: "at+jwt" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject("auth0|65f1c0ffee65f1c0ffee65f1")
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(privateKey);
  return { config, token };
}

/** Creates an API key in a store that no service uses yet. */
export async function makeKey(path: string, subject = "bench"): Promise<string> {
  const wish = { name: "bench", subject, roles: [], scopes: undefined, expiresAt: undefined };
  const keys = await openKeys({ kind: "sqlite", path });
  const { text } = await addKey(keys, wish, Date.now());
  await keys.close();
  return text;
}
