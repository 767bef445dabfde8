import { systemClock } from '../../../base/time/clock.ts';
import { describeStore } from '../conformance.ts';
import { openMemoryStore } from './memory-store.ts';

describeStore('memory', async () => {
  const store = openMemoryStore({ clock: systemClock });
  return { store, dispose: () => store.close() };
});
