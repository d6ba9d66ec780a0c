/** `npm run bench`: every measurement, or those that are named: `npm run bench -- read create`. */
import { efforts } from "./harness/effort.ts";
import { formatFigure } from "./harness/figure.ts";
import { ratios } from "./ratios/table.ts";

const named = process.argv.slice(2).filter((name) => !name.startsWith("--"));
const effort = process.argv.includes("--quick") ? efforts.quick : efforts.usual;
const unknown = named.filter((name) => !Object.hasOwn(ratios, name));
if (unknown.length > 0) {
  process.stderr.write(
    `bench: no measurement "${unknown[0]}"; there are ${Object.keys(ratios).join(", ")}\n`,
  );
  process.exit(1);
}
for (const [name, measure] of Object.entries(ratios)) {
  if (named.length > 0 && !named.includes(name)) continue;
  for (const figure of await measure(effort))
    process.stdout.write(`${name.padEnd(8)} ${formatFigure(figure)}\n`);
}
