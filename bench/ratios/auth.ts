/** Measures the cost of a credential: GET by id with an API key and with a JSON Web Token, compared with no authentication. */

import { writeFileSync } from "node:fs";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { addKey } from "../../src/access/api-key.ts";
import { openKeys } from "../../src/store/open.ts";
import type { Effort } from "../harness/effort.ts";
import { type Figure, median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { type Server, startServer, stopServer } from "../harness/server.ts";
import { cpuSeconds } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { type LoadPlan, requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 20_000;
const issuer = "https://id.example.org/";
const audience = "articles";

/** Measures reads, a round of each kind in turn. */
export function measureAuth(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const bare = `${folder}/bare.db`;
    const guarded = `${folder}/guarded.db`;
    const { config, token } = await issuerIn(folder);
    const paths = {
      bare: pathsOf(await fillStore(bare, resources, sampleAttributes)),
      guarded: pathsOf(await fillStore(guarded, resources, sampleAttributes)),
    };
    const key = await makeKey(guarded);
    const open = await startServer("holdfast", { store: bare }, { cpu: 0 });
    const asking = await startServer("holdfast", { store: guarded, config }, { cpu: 0 });
    const costs: Record<string, number[]> = { none: [], key: [], token: [] };
    for (let round = 0; round < effort.rounds; round++) {
      costs.none?.push(await costOf(effort, open, paths.bare));
      costs.key?.push(await costOf(effort, asking, paths.guarded, key));
      costs.token?.push(await costOf(effort, asking, paths.guarded, token));
    }
    await stopServer(open);
    await stopServer(asking);
    return [
      figure("an API key", costs.none, costs.key, 1.05),
      figure("a token", costs.none, costs.token, 1.1),
    ];
  });
}

function figure(what: string, without: number[] = [], with_: number[] = [], atMost: number): Figure {
  return {
    what: `processor time of GET by id with ${what} against one without a credential`,
    ratio: median(with_) / median(without),
    aim: { atMost },
    value: `${median(with_).toFixed(1)} µs against ${median(without).toFixed(1)} µs`,
  };
}

function pathsOf(ids: readonly string[]): string[] {
  return Array.from({ length: 10_000 }, (_, n) => `/api/v1/articles/${ids[(n * 7_919) % ids.length]}`);
}

/** A server, a request and its credential. */
interface Reading {
  server: Server;
  paths: readonly string[];
  credential?: string | undefined;
}

/** Requests per second. */
export async function rateOf(
  effort: Effort,
  server: Server,
  paths: readonly string[],
  credential?: string,
): Promise<number> {
  const result = await load(planOf(effort, { server, paths, credential }), { cpu: 1 });
  requireStatus(result, "200");
  return result.perSecond;
}

/** Processor time for one request, in microseconds. Other work of the machine hardly changes it. */
async function costOf(
  effort: Effort,
  server: Server,
  paths: readonly string[],
  credential?: string,
): Promise<number> {
  const plan = planOf(effort, { server, paths, credential });
  requireStatus(await load({ ...plan, warmUpMs: 0 }, { cpu: 1 }), "200");
  const before = cpuSeconds(server);
  const { answers } = await load({ ...plan, warmUpMs: 0, counts: false }, { cpu: 1 }); // only the measurement
  return ((cpuSeconds(server) - before) / answers) * 1e6;
}

function planOf({ warmUpMs, durationMs }: Effort, { server, paths, credential }: Reading): LoadPlan {
  const field = credential === undefined ? "" : `Authorization: Bearer ${credential}\r\n`;
  const requests = paths.map((path) => requestText("GET", path).replace("\r\n\r\n", `\r\n${field}\r\n`));
  return { port: server.port, connections: 64, warmUpMs, durationMs, requests };
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
