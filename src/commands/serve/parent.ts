/** Between two looks at who the parent is, in milliseconds. */
const lookEvery = 250;

/**
 * Calls back once, when the process that started this one has ended. npm hands a signal on to its shell, and a
 * shell such as dash ends of it without telling its child, which would keep port and store for ever.
 */
export function watchParent(onEnd: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onEnd();
  }, lookEvery);
  timer.unref();
}
