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
    about: "whether API keys are taken, which `holdfast keys` makes",
    isPrivate: true,
    read: truth,
  },
  "auth.jwt": {
    shownDefault: "none",
    fallback: undefined,
    about: "whose JSON Web Tokens are taken: `{ issuer, audience, jwks }` and more",
    read: jwtSettings as (value: unknown) => JwtSettings | undefined,
  },
  hosts: {
    shownDefault: "none",
    fallback: [],
    about: "names that the service answers to without `auth`, beside the loopback ones",
    read: hostNames,
  },
  "cors.origins": {
    shownDefault: '`["loopback"]`; none with `auth`',
    fallback: undefined,
    about: "origins whose pages may call: exact ones, `*`, or `loopback` for any port of this machine",
    read: origins as (value: unknown) => readonly string[] | undefined,
  },
  tls: {
    shownDefault: "none",
    fallback: undefined,
    about: 'files to encrypt with, in PEM form: `{ cert: "server.pem", key: "server.key" }`',
    isPrivate: true,
    read: tlsFiles as (value: unknown) => TlsFiles | undefined,
  },
  requireTls: {
    shownDefault: "false",
    fallback: false,
    about: "whether a request that reached a trusted proxy without encryption is refused",
    read: truth,
  },
  trustProxy: {
    shownDefault: "none",
    fallback: [],
    about: "addresses and networks of proxies that are believed in `X-Forwarded-For` and `X-Forwarded-Proto`",
    read: proxies,
  },
} as const satisfies Record<string, Option<unknown>>;
