/** All files of tests: in which order they run, and on which stores. */
import { globSync } from "node:fs";
import type { Job } from "./run-tests.ts";

export function allJobs(): Job[] {
  const files = globSync("test/**/*.test.ts").sort();
  const http = files.filter((file) => file.startsWith("test/http/"));
  return [...files.map((file) => ({ file })), ...http.map((file) => ({ file, store: "postgres" as const }))];
}
