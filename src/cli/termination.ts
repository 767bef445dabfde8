/** Resolves with SIGINT or SIGTERM. A second signal ends the process at once: the person means it. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((settle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        settle(signal);
        process.once(signal, () => process.exit(1));
      });
    }
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
