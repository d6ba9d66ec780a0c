/** The Dockerfile, as far as the tests use it. */
import { readFileSync } from "node:fs";

const text = readFileSync("Dockerfile", "utf8");

/** The images that it starts from. */
export const baseImages = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image = ""]) => image);

/** The files and folders that it copies from the clone. */
export const copiedPaths = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) =>
  paths.split(" "),
);

/** The command of the health check. */
export const healthCheck = JSON.parse(/^HEALTHCHECK [^[]+(\[.+\])$/m.exec(text)?.[1] ?? "[]") as string[];
