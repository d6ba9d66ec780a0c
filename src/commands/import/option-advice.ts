/** How messages about an import name the options of the command. */
import type { Advice } from "../../import/items.ts";

/** How to set an option of the command. */
export const optionAdvice: Advice = (option, value) =>
  `add --${option} ${/^\w[\w.]*$/.test(value) ? value : JSON.stringify(value)}`;

/** A message of the service with the options of the command in place of the query parameters. */
export function withOptions(message: string): string {
  return message
    .replace(/\badd \?(at|delimiter)=(\S+) to the path/g, (_, option: "at" | "delimiter", value: string) =>
      optionAdvice(option, decodeURIComponent(value)),
    )
    .replace(/\bThe query parameter "(at|delimiter|id|ids|on)"/g, "--$1");
}
