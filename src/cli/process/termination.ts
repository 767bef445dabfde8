/** Resolves with SIGINT or SIGTERM. A second signal of either kind ends the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((settle) => {
    let ending = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (ending) process.exit(1);
      ending = true;
      settle(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}

/** Interval between checks for the parent, ms. */
const PARENT_POLL_MS = 200;

/**
 * Resolves when the parent process has ended, which the system shows by another parent. A test runner that is killed sends no signal to its
 * children, which would otherwise run for ever.
 */
export function untilParentEnds(): Promise<'parent ended'> {
  const parent = process.ppid;
  return new Promise((settle) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      settle('parent ended');
    }, PARENT_POLL_MS);
    timer.unref();
  });
}
