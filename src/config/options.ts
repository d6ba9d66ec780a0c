/** The table of options: each option's place in the file, flag, environment variable, default, and check. */
import type { Option } from "./option.ts";
import { accessOptions } from "./options/access.ts";
import { limitOptions } from "./options/limits.ts";
import { serviceOptions } from "./options/service.ts";
import { stopOptions } from "./options/stop.ts";

/** Every option, by its place in the configuration file. */
export const options = {
  ...serviceOptions,
  ...accessOptions,
  ...limitOptions,
  ...stopOptions,
} as const satisfies Record<string, Option<unknown>>;

/** The place of an option in the file, with dots. */
export type OptionName = keyof typeof options;

/** The checked value of an option. */
export type OptionValue<Name extends OptionName> = ReturnType<(typeof options)[Name]["read"]>;
