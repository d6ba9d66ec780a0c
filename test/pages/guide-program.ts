/** The programs that guides show as whole files. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { makeFolder } from "../folder.ts";
import { blocksOf, readPage } from "./markdown.ts";

/** The program of a guide, in a temporary folder, for the service at a port. Returns its path. */
export async function programOf(guide: string, port: number): Promise<string> {
  const blocks = blocksOf(readPage(`docs/how-to/${guide}.md`));
  const { about, text } = blocks.find(({ language, about }) =>
    language === "html" ? about !== "" : language === "ts" && !/^(?:holdfast.*)?$/.test(about),
  ) ?? { about: "", text: "" };
  const address = "http://127.0.0.1:3000";
  assert.ok(text.includes(address), `${guide} has a program for ${address}`);
  const program = text.replaceAll(address, `http://127.0.0.1:${port}`);
  return join(makeFolder({ [about]: `${program}\n` }), about);
}
