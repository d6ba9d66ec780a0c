/** The settings of a service without options, for tests of its parts. */
import type { CodeSettings } from "../../src/capabilities/code/settings.ts";
import { defaultLimits, type HttpSettings } from "../../src/http/settings.ts";

/** The settings of a configuration without functions. */
export const noCode: CodeSettings = {
  module: undefined,
  functions: undefined,
  hookMs: 50,
  memoryMb: 128,
  threads: 1,
  collections: new Map(),
  computed: new Map(),
  consumers: [],
  jobs: new Map(),
  routes: new Map(),
};

export const plainSettings: HttpSettings = {
  prefix: "/api/v1",
  pagesBelow: undefined,
  hosts: [],
  corsOrigins: [],
  rate: undefined,
  tls: undefined,
  trustProxy: [],
  requireTls: false,
  hstsIncludesSubDomains: false,
  console: true,
  docs: true,
  compression: true,
  metrics: false,
  info: { title: "Topics", version: "1" },
  showPrincipal: false,
  hasFeed: true,
  cookieOrigins: undefined,
  hooked: new Set(),
  profiles: undefined,
  hasKeys: false,
  consoleTags: {},
  ofCapabilities: { code: noCode },
  limits: defaultLimits,
};
