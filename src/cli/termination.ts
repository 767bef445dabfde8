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
