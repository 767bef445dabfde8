import { FakeClock } from '../../src/base/time/fake-clock.ts';

/**
 * Time stands still until the test moves it, but deferred functions run in the next turn of the event loop: over real connections nobody
 * settles the clock, and large writes wait for such turns.
 */
export class RealTurnsClock extends FakeClock {
  override defer(fn: () => void): void {
    setImmediate(fn);
  }
}
