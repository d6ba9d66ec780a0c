/** The services that are written for the bench: programs under `servers/` that fill their own store, and serve it. */
import { execFileSync } from "node:child_process";
import { node } from "../harness/commands.ts";
import { startProgram } from "../harness/server.ts";
import type { Opponent, Says } from "./opponent.ts";
import { installOpponents } from "./packages.ts";

/** How the programs that keep a table of articles are spoken to. */
export const plainSays: Says = {
  collection: "/articles",
  item: (id) => `/articles/${id}`,
  page: "/articles?limit=20",
  filtered: (author) => `/articles?author=${author}&sort=-publishedOn&limit=20`,
  walk: "/articles?limit=100",
  patchType: "application/merge-patch+json",
};

/** The common part of all such programs. */
export function ownProgram(name: string): Pick<Opponent, "missing" | "fill" | "start"> {
  const program = (task: object) => [...node, `bench/opponents/servers/${name}.ts`, JSON.stringify(task)];
  return {
    missing: installOpponents,
    async fill(folder, { file }) {
      const [command = "", ...args] = program({ folder, fill: file });
      execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
    },
    start: (folder, options) => startProgram(program({ folder }), options),
  };
}
