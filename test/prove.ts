/**
 * Proofs at full length: what `npm test` does in small. `npm run prove` runs all of them, one after the other; with names it runs
 * those. A proof that was interrupted goes on where it was.
 */
import { proveNoPowerLoss } from "./explorer/prove.ts";
import { proveFaultsNoticed } from "./faults/prove.ts";

const proofs: Record<string, () => Promise<boolean>> = {
  explorer: proveNoPowerLoss,
  faults: proveFaultsNoticed,
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !(name in proofs));
if (unknown !== undefined) {
  console.error(`There is no proof "${unknown}". The proofs are: ${Object.keys(proofs).join(", ")}.`);
  process.exit(1);
}
for (const name of names.length > 0 ? names : Object.keys(proofs)) {
  console.log(`\n${name}`);
  if (!(await proofs[name]?.())) process.exitCode = 1;
}
