/** `npm run bench`: every measurement, or those that are named: `npm run bench -- read create`. */
import { effortOf, readOptions } from "./options.ts";
import { report } from "./report/report.ts";
import { writeDocumentation } from "./report/write-documentation.ts";
import { measureAll } from "./session.ts";

const options = readOptions(process.argv.slice(2));
if (options.document !== undefined) {
  process.stdout.write(`${writeDocumentation(options.document)}\n`);
} else {
  const effort = effortOf(options);
  const results = await measureAll(options, effort);
  if (!report(results, effort)) process.exitCode = 1;
}
