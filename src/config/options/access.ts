/** Who may call. */
import type { JwtSettings } from "../../access/settings.ts";
import type { TlsFiles } from "../../http/wire/tls.ts";
import { jwtSettings } from "../jwt.ts";
import type { Option } from "../option.ts";
import { hostNames, origins, proxies, tlsFiles, truth } from "../readers.ts";

/** Who may call, by place in the configuration file. */
export const accessOptions = {
  "auth.keys": {
    shownDefault: "false",
    fallback: false,
    about: "whether to accept API keys, which `holdfast keys` creates",
    isPrivate: true,
    read: truth,
  },
  "auth.jwt": {
    shownDefault: "none",
    fallback: undefined,
    about: "the issuer whose JSON Web Tokens to accept: `{ issuer, audience, jwks }` and more",
    read: jwtSettings as (value: unknown) => JwtSettings | undefined,
  },
  hosts: {
    shownDefault: "none",
    fallback: [],
    about: "host names that requests can use without `auth`, in addition to the loopback names",
    read: hostNames,
  },
  "cors.origins": {
    shownDefault: '`["loopback"]`; none with `auth`',
    fallback: undefined,
    about:
      "origins whose web pages can call the service: exact origins, `*`, or `loopback` for any port of this machine",
    read: origins as (value: unknown) => readonly string[] | undefined,
  },
  tls: {
    shownDefault: "none",
    fallback: undefined,
    about: 'certificate and key files in PEM format, for HTTPS: `{ cert: "server.pem", key: "server.key" }`',
    isPrivate: true,
    read: tlsFiles as (value: unknown) => TlsFiles | undefined,
  },
  requireTls: {
    shownDefault: "false",
    fallback: false,
    about: "whether to refuse requests that came to a trusted proxy without encryption",
    read: truth,
  },
  trustProxy: {
    shownDefault: "none",
    fallback: [],
    about:
      "IP addresses and networks of the proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers to trust",
    read: proxies,
  },
} as const satisfies Record<string, Option<unknown>>;
