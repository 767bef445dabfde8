/** Warns the person who runs the process: Node prints it on stderr, with `name` before it, and test runners show it with the test. */
export function warnProcess(name: string, message: string): void {
  process.emitWarning(message, name);
}
