import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** `dispose` gives it up again. */
export interface FirstInLine extends Disposable {
  readonly granted: boolean;
}

/**
 * This process gets a core as soon as it wants one (SCHED_FIFO of Linux, which takes root): as a client on a machine of its own, it waits for
 * the server and not for a core that server or collector have. Without the right to that it stays one of several.
 */
export function firstInLine(): FirstInLine {
  const granted = schedule(['--fifo', '--pid', '1']);
  return {
    granted,
    [Symbol.dispose]: () => void (granted && schedule(['--other', '--pid', '0'])),
  };
}

/** All threads that there are now: those of the engine and of TLS as well. */
function schedule(how: readonly string[]): boolean {
  try {
    for (const thread of readdirSync('/proc/self/task')) execFileSync('chrt', [...how, thread], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
