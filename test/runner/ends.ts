/** What helpers do after the tests of a file, and at the end of a process that runs several files. */

type Work = () => Promise<void> | void;

const ofFiles: Work[] = [];
const ofProcess: Work[] = [];

/** Does the work after each file of this process. If it throws, the file fails. */
export function atEndOfFile(work: Work): void {
  ofFiles.push(work);
}

/** Does the work after the last file of this process. */
export function atEndOfProcess(work: Work): void {
  ofProcess.push(work);
}

/** Does all work after a file. Throws what the first failed work throws. */
export async function endFile(): Promise<void> {
  for (const work of ofFiles) await work();
}

/** Does all work after the last file. */
export async function endProcess(): Promise<void> {
  for (const work of ofProcess) await work();
}
