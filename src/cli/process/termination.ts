/** Resolves with SIGINT or SIGTERM. A second signal, of either kind, ends the process at once: the person means it. */
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

/** How often it is asked whether the parent is still there, ms. */
const PARENT_POLL_MS = 200;

/**
 * Resolves when the process that started this one has ended: the system then gives it another parent. A test runner that
 * is killed sends no signal to its children, and they would serve for ever.
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
