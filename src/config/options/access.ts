/** Who may call. */
import type { Option } from "../option.ts";
import { hostNames, origins } from "../readers.ts";

/** Who may call, by place in the configuration file. */
export const accessOptions = {
  hosts: {
    shownDefault: "none",
    fallback: [],
    about: "names that the service answers to, beside the loopback ones",
    read: hostNames,
  },
  "cors.origins": {
    shownDefault: '`["loopback"]`',
    fallback: ["loopback"],
    about: "origins whose pages may call: exact ones, `*`, or `loopback` for any port of this machine",
    read: origins,
  },
} as const satisfies Record<string, Option<unknown>>;
