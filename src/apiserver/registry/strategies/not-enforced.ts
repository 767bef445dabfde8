import type { Strategy } from '../strategy.ts';

/** Of kinds that are stored and served, but that this server does not act on: whoever writes one is told (API-360). */
export function notEnforced(what: string): Strategy {
  const text = `${what}: this server stores the object, but does not act on it`;
  return {
    prepareForCreate(_object, { warn }) {
      warn(text);
    },
    prepareForUpdate(_next, _previous, { warn, subresource }) {
      if (subresource === '') warn(text);
    },
  };
}
