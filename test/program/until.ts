/** Ends only what hangs: a machine with much else to do takes several times as long as usual. */
const WITHIN_MS = 60_000;
const MOST_PAUSE_MS = 50;

/**
 * Asks again and again until the answer is neither false nor undefined, and returns it. The pause between two questions
 * grows to 50 ms. After `withinMs` of real time throws an error that names the fact.
 */
export async function until<T>(
  fact: string,
  ask: () => T | Promise<T>,
  { withinMs = WITHIN_MS }: { readonly withinMs?: number } = {},
): Promise<Exclude<T, false | undefined>> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS)) {
    const answer = await ask();
    if (answer !== false && answer !== undefined) return answer as Exclude<T, false | undefined>;
    if (Date.now() > deadline) throw new Error(`did not happen within ${withinMs / 1000} s: ${fact}`);
    await new Promise((next) => setTimeout(next, pauseMs));
  }
}
