/** The command line of the bench. */
import { Command, Option } from "commander";
import { type Effort, efforts } from "./harness/effort.ts";
import { ratios } from "./ratios/table.ts";

/** The options of a run. */
export interface BenchOptions {
  /** Parts of the run; empty for all parts. */
  parts: string[];
  quick?: true;
  thorough?: true;
  rounds?: number;
  only?: string[];
  tenMillion?: true;
  /** Make the documentation from this results file, or the last one, and measure nothing. */
  document?: string | true;
}

/** The parts beside the ratios. */
const otherParts = ["comparison", "scale"];

/** How long the run may take. */
export function effortOf({ quick, thorough, rounds }: BenchOptions): Effort {
  const effort = quick ? efforts.quick : thorough ? efforts.thorough : efforts.usual;
  return { ...effort, rounds: rounds ?? effort.rounds };
}

/** Reads the arguments; ends the program with a line where they are wrong. */
export function readOptions(args: readonly string[]): BenchOptions {
  const names = [...Object.keys(ratios), ...otherParts];
  const list = (text: string) => text.split(",");
  const program = new Command("npm run bench --")
    .description("Measure Holdfast against its aims and against its alternatives")
    .argument("[parts...]", `parts to run: ${names.join(", ")} (default: all of them)`)
    .addOption(
      new Option(
        "--quick",
        "measure each thing once or twice, for a short time; fail if a ratio misses its aim",
      ).conflicts("thorough"),
    )
    .option("--thorough", "run more and longer rounds, and every variant of every scenario")
    .option("--rounds <number>", "how many times to measure each side of a comparison", Number)
    .option("--only <services>", "compare only with these services, separated by commas", list)
    .option("--ten-million", "extend the scale curve to 10,000,000 resources")
    .option(
      "--document [file]",
      "write docs/explanation/performance.md and bench/README.md from a results file, without measuring",
    );
  program.parse([...args], { from: "user" });
  const unknown = program.args.find((name) => !names.includes(name));
  if (unknown !== undefined)
    program.error(`bench: unknown part "${unknown}". Known parts: ${names.join(", ")}.`);
  return { ...program.opts<Omit<BenchOptions, "parts">>(), parts: program.args };
}
