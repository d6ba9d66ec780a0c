/** Which titles the tests of a file can have, without running them. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Whether a test of the file can have the title: the title occurs in the file, or in a file of `test/` that it imports, as a text or as a
 * template such as `a list of ${count} pages`.
 */
export function hasTitle(file: string, title: string): boolean {
  return filesOf(file).some((each) => {
    const { text, templates } = read(each);
    return text.includes(title) || templates.some((template) => template.test(title));
  });
}

/** The file, and the files of `test/` that it imports. */
function filesOf(file: string, found = new Set<string>()): string[] {
  if (!found.has(file)) {
    found.add(file);
    for (const imported of read(file).imports) filesOf(imported, found);
  }
  return [...found];
}

interface Content {
  /** Without the backslashes before quotes. */
  text: string;
  templates: readonly RegExp[];
  imports: readonly string[];
}

const known = new Map<string, Content>();

function read(file: string): Content {
  const content = known.get(file) ?? contentOf(file);
  known.set(file, content);
  return content;
}

function contentOf(file: string): Content {
  const text = readFileSync(file, "utf8").replaceAll(/\\(["'`])/g, "$1");
  const imports = [...text.matchAll(/from "(\.[^"]+\.ts)"/g)].map(([, path = ""]) =>
    join(dirname(file), path),
  );
  return {
    text,
    templates: [...text.matchAll(/`([^`]*\$\{[^`]*)`/g)].flatMap(([, template = ""]) => patternOf(template)),
    imports: imports.filter((path) => /^test[\\/]/.test(path) && existsSync(path)),
  };
}

/** So much of a template must be fixed: a template that is only a value can be any title. */
const fewestLetters = 8;

/** The texts that a template can become. */
function patternOf(template: string): RegExp[] {
  const fixed = template.split(/\$\{[^}]*\}/);
  if (fixed.join("").length < fewestLetters) return [];
  const escaped = fixed.map((each) => each.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  return [new RegExp(`^${escaped.join(".*")}$`, "s")];
}
