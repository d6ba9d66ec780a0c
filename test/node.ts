/** How tests start Node for a program of this checkout. */

/** The flags: those that this process has for loading the sources. */
export const nodeFlags = [
  "--conditions=holdfast-source",
  ...process.execArgv.filter((flag) => flag.startsWith("--import=")),
];

/** Node with these flags. */
export const node = [process.execPath, ...nodeFlags];
