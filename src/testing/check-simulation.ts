import { inspect } from 'node:util';
import type { SimulationSettings } from '../lifecycle/assembly/lifecycle-settings.ts';
import { checkKeys } from './client/check-options.ts';

/** Throws a TypeError that says what is wrong. */
export function checkSimulation(settings: SimulationSettings | undefined): void {
  if (settings === undefined) return;
  checkKeys('simulate', settings, ['pods', 'nodes']);
  const { pods, nodes } = settings;
  if (pods !== undefined && pods !== 'schedule' && pods !== 'run') {
    throw new TypeError(`simulate.pods is 'schedule' or 'run', not ${inspect(pods)}`);
  }
  if (nodes !== undefined && !(Number.isInteger(nodes) && nodes >= 0)) {
    throw new TypeError(`simulate.nodes is a whole number from 0, not ${inspect(nodes)}`);
  }
}
