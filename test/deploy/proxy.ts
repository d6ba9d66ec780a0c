/** Runs nginx and Caddy with the files of `examples/deploy/`, on a free port, with a certificate for `localhost`. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { makeFolder } from "../folder.ts";
import { type Certificate, makeCertificate } from "../http/certificates.ts";
import { onFreePort } from "../ports.ts";
import { until } from "../until.ts";

/** A proxy that these tests know. */
export interface KnownProxy {
  name: string;
  file: string;
  /** Why it cannot run here; `false` if it can. */
  why: string | false;
  /** The file as it is used here. */
  configure(text: string, place: Place): string;
  command(place: Place): [string, ...string[]];
}

/** Where a proxy runs. */
interface Place {
  folder: string;
  port: number;
  servicePort: number;
  certificate: Certificate;
}

const whyNot = (command: string, arg: string) =>
  spawnSync(command, [arg], { stdio: "ignore" }).status === 0
    ? false
    : `needs ${command}: on Debian apt-get install ${command}`;

const nginx: KnownProxy = {
  name: "nginx",
  file: "examples/deploy/nginx.conf",
  why: whyNot("nginx", "-v"),
  configure: (text, { folder, port, servicePort, certificate }) => `
    daemon off;
    pid ${folder}/pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      gzip on;
      gzip_types *;
      gzip_proxied any;
      ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n")}
      ${replaceAll(text, {
        "127.0.0.1:3000": `127.0.0.1:${servicePort}`,
        "listen 443": `listen 127.0.0.1:${port}`,
        "shop.example": "localhost",
        "/etc/ssl/shop.pem": certificate.files.cert,
        "/etc/ssl/private/shop.key": certificate.files.key,
      })}
    }`,
  command: ({ folder }) => ["nginx", "-p", folder, "-e", "stderr", "-c", join(folder, "configuration")],
};

const caddy: KnownProxy = {
  name: "Caddy",
  file: "examples/deploy/Caddyfile",
  why: whyNot("caddy", "version"),
  configure: (text, { port, servicePort, certificate }) => `
    {
      admin off
      auto_https disable_redirects
      default_bind 127.0.0.1
    }
    ${replaceAll(text, {
      "127.0.0.1:3000": `127.0.0.1:${servicePort}`,
      "shop.example {": `https://localhost:${port} {\ntls ${certificate.files.cert} ${certificate.files.key}`,
    })}`,
  command: ({ folder }) => [
    "caddy",
    "run",
    "--adapter",
    "caddyfile",
    "--config",
    join(folder, "configuration"),
  ],
};

/** All proxies that the pages show a file for. */
export const knownProxies = [nginx, caddy];

/** Replaces texts that must occur. */
function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the file of the proxy does not contain "${from}"`);
    return result.replaceAll(from, to);
  }, text);
}

/** Starts a proxy in front of a service. It ends with the test. Returns its port. */
export async function startKnownProxy(
  t: TestContext,
  proxy: KnownProxy,
  servicePort: number,
): Promise<number> {
  const certificate = await makeCertificate();
  return onFreePort(async (port) =>
    startOnPort(t, proxy, { folder: makeFolder(), port, servicePort, certificate }),
  );
}

async function startOnPort(t: TestContext, proxy: KnownProxy, place: Place): Promise<number> {
  await mkdir(join(place.folder, "logs"));
  const text = readFileSync(proxy.file, "utf8");
  await writeFile(join(place.folder, "configuration"), proxy.configure(text, place));
  const [command, ...args] = proxy.command(place);
  const env = {
    ...process.env,
    HOME: place.folder,
    XDG_CONFIG_HOME: place.folder,
    XDG_DATA_HOME: place.folder,
  };
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ended = once(child, "close");
  t.after(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  await until(`${proxy.name} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${proxy.name} has ended: ${log}`);
    const socket = connect(place.port, "127.0.0.1");
    return once(socket, "connect").then(
      () => socket.end() !== undefined,
      () => false,
    );
  });
  return place.port;
}
