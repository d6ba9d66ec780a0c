/** `npm run bench`: every measurement, or those that are named: `npm run bench -- read create`. */
import { effortOf, readOptions } from "./options.ts";
import { report } from "./report/report.ts";
import { writeDocumentation } from "./report/write-documentation.ts";
import { measureAll } from "./session.ts";

const options = readOptions(process.argv.slice(2));
if (options.document !== undefined) {
  try {
    process.stdout.write(`${writeDocumentation(options.document)}\n`);
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
} else {
  const effort = effortOf(options);
  const results = await measureAll(options, effort);
  if (!report(results, effort)) process.exitCode = 1;
}
