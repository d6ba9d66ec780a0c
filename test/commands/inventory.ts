/** What is published about the packages inside Holdfast: their licences, and an SBOM. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";

const schemas = "node_modules/@cyclonedx/cyclonedx-library/res/schema";

/** Checks that both files in a folder name every package in the bundles of another folder, which contain at least so many. */
export function checkInventory(folder: string, bundles: string, { atLeast }: { atLeast: number }): void {
  const licences = readFileSync(join(folder, "LICENCES.txt"), "utf8");
  const sbom = JSON.parse(readFileSync(join(folder, "sbom.json"), "utf8"));
  validate(sbom);
  const listed = sbom.components.map(({ group, name, version }: Record<string, string>) =>
    group === undefined ? `${name}@${version}` : `${group}/${name}@${version}`,
  );
  const bundled = bundledFolders(bundles).map(idIn);
  assert.ok(bundled.length >= atLeast, String(bundled));
  const others = [
    ...["@scalar/api-reference", "react-dom", "@mantine/core", "@codemirror/view", "react-remove-scroll-bar"],
    ...["@fontsource-variable/inter", "@mantine/spotlight"], // a font, and a style
  ];
  for (const id of [...bundled, ...others.map((name) => idIn(`node_modules/${name}`))]) {
    assert.ok(listed.includes(id), `sbom.json has no ${id}`);
    const [, text = ""] = licences.split(`\n\n${id} (`);
    const section = text.split("-".repeat(80))[0] ?? "";
    assert.match(section, /permission|redistribution|permitted|licen[cs]e/i, `LICENCES.txt has no ${id}`);
    assert.ok(section.length > 500, `LICENCES.txt has no text for ${id}`);
  }
}

/** The folders of the packages in the bundles of a folder. esbuild writes the path of each file into a bundle. */
export function bundledFolders(folder: string): string[] {
  const folders = new Set<string>();
  for (const file of globSync(`${folder}/**/*.{cjs,js}`))
    for (const [, path] of readFileSync(file, "utf8").matchAll(/^ *\/\/ (\S*node_modules\/\S+)$/gm))
      folders.add((/^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path as string) as string[])[0] as string);
  return [...folders];
}

function idIn(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name}@${version}`;
}

function validate(sbom: { specVersion: string }): void {
  const ajv = new Ajv({ strict: false, formats: { "iri-reference": true, "idn-email": true } });
  addFormats.default(ajv);
  for (const file of ["spdx", "jsf-0.82"])
    ajv.addSchema(
      read(`${file}.SNAPSHOT.schema.json`),
      `http://cyclonedx.org/schema/${file}.SNAPSHOT.schema.json`,
    );
  const check = ajv.compile(read(`bom-${sbom.specVersion}.SNAPSHOT.schema.json`));
  assert.ok(check(sbom), JSON.stringify(check.errors));
}

const read = (file: string) => JSON.parse(readFileSync(join(schemas, file), "utf8"));
