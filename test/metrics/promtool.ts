/** promtool, which checks metrics and rules as Prometheus reads them. */
import { execFileSync } from "node:child_process";

/** The reason to skip a test that needs promtool; `false` if it is installed. */
export function whyNoPromtool(): string | false {
  try {
    execFileSync("promtool", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs promtool: on Debian apt-get install prometheus";
  }
}
