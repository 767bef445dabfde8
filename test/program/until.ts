const DEADLINE_MS = 20_000;

/** Asks again and again until it holds; an error that names it after 20 s. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${DEADLINE_MS / 1000} s: ${what}`);
    await new Promise((next) => setTimeout(next, 50));
  }
}
