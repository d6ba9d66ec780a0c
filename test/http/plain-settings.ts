/** The settings of a service without options, for tests of its parts. */
import { defaultLimits, type HttpSettings } from "../../src/http/settings.ts";

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
  ofCapabilities: {},
  limits: defaultLimits,
};
