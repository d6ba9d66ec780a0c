/** Lists the packages in a bundle, and collects their licences. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Contents } from "./bundle.ts";

/** A package that is part of what is published. */
export interface Part {
  name: string;
  version: string;
  /** The SPDX name of the licence. */
  licence: string;
  folder: string;
}

/** The packages that the files of a bundle belong to, by name. */
export function partsOf({ inputs }: Contents): Part[] {
  const folders = new Set<string>();
  for (const path of Object.keys(inputs)) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const parts = new Map([...folders].map(readPart).map((part) => [idOf(part), part])); // npm may install one twice
  return [...parts.values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

const idOf = ({ name, version }: Part) => `${name}@${version}`;

function readPart(folder: string): Part {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (typeof license !== "string")
    throw new Error(`${folder}/package.json does not name a licence. Holdfast cannot contain this package.`);
  return { name, version, licence: license, folder };
}

/** The licences of all parts in one text. Throws an Error if a part has none. */
export function licencesOf(parts: readonly Part[]): string {
  const head = "Holdfast contains these packages. Each of them is under its own licence.\n";
  const sections = parts.map((part) => `${idOf(part)} (${part.licence})\n\n${textOf(part)}\n`);
  return [head, ...sections].join(`\n${"-".repeat(80)}\n\n`);
}

const licenceFile = /^(licen[cs]e|copying|notice)([.-].*)?$/i;

function textOf(part: Part): string {
  const files = readdirSync(part.folder)
    .filter((file) => licenceFile.test(file))
    .sort();
  if (files.length > 0)
    return files.map((file) => readFileSync(join(part.folder, file), "utf8").trim()).join("\n\n");
  const own = `tools/build/licences/${part.name.replace("/", "-")}.txt`;
  if (existsSync(own)) return readFileSync(own, "utf8").trim();
  throw new Error(`${idOf(part)} has no file with its licence. Write its text to ${own}.`);
}
