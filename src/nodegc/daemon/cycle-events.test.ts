import { describe, expect, it } from 'vitest';
import { CycleEvents } from './cycle-events.ts';

describe('events of cycles', () => {
  it('NODE-121 EV-01 keeps quiet at the first failure after a success', () => {
    const events = new CycleEvents();
    const said = ['x', undefined, 'x', 'y', 'z'].map((error) =>
      events
        .imageCycle(error)
        .map(({ message }) => message)
        .join(),
    );
    expect(said).toEqual(['', '', '', 'y', 'z']);
  });

  it('NODE-120 EV-02 reports every failure of the container loop, and the first success after', () => {
    const events = new CycleEvents();
    const said = ['x', 'y', undefined, undefined].map((error) => {
      const {
        events: [event],
        recovered,
      } = events.containerCycle(error);
      return `${event?.reason ?? ''} ${event?.message ?? ''} ${recovered}`;
    });
    expect(said).toEqual(['ContainerGCFailed x false', 'ContainerGCFailed y false', '  true', '  false']);
  });
});
