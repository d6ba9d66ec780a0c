/** The command line of the bench. */
import { Command, Option } from "commander";
import { type Effort, efforts } from "./harness/effort.ts";
import { ratios } from "./ratios/table.ts";

/** What a run is asked for. */
export interface BenchOptions {
  /** Parts of the run; all where none is named. */
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
    .description("Measures Holdfast against its aims, and beside what its users would pick instead.")
    .argument("[parts...]", `what to run, of ${names.join(", ")}; all where nothing is named`)
    .addOption(
      new Option("--quick", "in two minutes; fails when a ratio falls short of its aim").conflicts(
        "thorough",
      ),
    )
    .option("--thorough", "more rounds, longer ones, and every scenario in every way")
    .option("--rounds <number>", "how often each side of a comparison is measured", Number)
    .option("--only <services>", "compare only with these, by name, with commas between", list)
    .option("--ten-million", "draw the scale curve up to 10,000,000 resources")
    .option(
      "--document [file]",
      "write docs/explanation/performance.md from a results file, and measure nothing",
    );
  program.parse([...args], { from: "user" });
  const unknown = program.args.find((name) => !names.includes(name));
  if (unknown !== undefined) program.error(`bench: no part "${unknown}"; there are ${names.join(", ")}`);
  return { ...program.opts<Omit<BenchOptions, "parts">>(), parts: program.args };
}
