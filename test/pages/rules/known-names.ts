/** The names that the code knows. */
import { readFileSync } from "node:fs";
import { createCommands } from "../../../src/commands/command-table.ts";
import { options } from "../../../src/config/options.ts";
import { problems } from "../../../src/errors.ts";
import { pathsBelow } from "../../project.ts";
import type { Names } from "./names.ts";

/** The names of the code. Those of headers are in its literals. */
export function knownNames(): Omit<Names, "headers"> {
  const commands = createCommands({}).flatMap((command) => [command, ...command.commands]);
  const flags = commands.flatMap((command) => command.options.map(({ long }) => long ?? ""));
  const ofTests = ["test", "bench"].flatMap((folder) =>
    pathsBelow(folder)
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => readFileSync(name, "utf8").match(/(?<=process\.env\.)HOLDFAST_[A-Z_]+/g) ?? []),
  );
  return {
    options: Object.keys(options),
    variables: [
      ...["HOLDFAST_CONFIG", "HOLDFAST_TOKEN", "HOLDFAST_SECRET", "HOLDFAST_SMTP_PASSWORD"],
      ...Object.values(options).flatMap((option) => ("env" in option ? [option.env ?? ""] : [])),
      ...new Set(ofTests),
    ],
    flags: ["--help", "--version", ...new Set(flags)],
    codes: Object.keys(problems),
  };
}
