import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  apiVersionOf,
  formatGroupKind,
  formatGroupResource,
  formatGroupVersionKind,
  parseGroupVersion,
} from './group-version-kind.ts';

describe('parseGroupVersion', () => {
  it.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['apps/', { group: 'apps', version: '' }],
    ['/v1', { group: '', version: 'v1' }],
    ['a/b/c', undefined],
    ['//', undefined],
  ])('API-001 %j', (text, want) => {
    expect(parseGroupVersion(text)).toEqual(want);
  });

  it('is the inverse of apiVersionOf', () => {
    const word = fc.stringMatching(/^[a-z0-9.-]{1,12}$/);
    fc.assert(
      fc.property(fc.oneof(fc.constant(''), word), word, (group, version) => {
        expect(parseGroupVersion(apiVersionOf({ group, version }))).toEqual({ group, version });
      }),
    );
  });
});

describe('formatting', () => {
  it('API-042 leaves the core group out and appends others', () => {
    expect(formatGroupResource({ group: '', resource: 'pods' })).toBe('pods');
    expect(formatGroupResource({ group: 'apps', resource: 'deployments' })).toBe('deployments.apps');
    expect(formatGroupKind({ group: '', kind: 'Pod' })).toBe('Pod');
    expect(formatGroupKind({ group: 'apps', kind: 'Deployment' })).toBe('Deployment.apps');
  });

  it('API-067 prints the full kind with an empty core group', () => {
    expect(formatGroupVersionKind({ group: '', version: 'v1', kind: 'Event' })).toBe('/v1, Kind=Event');
    expect(formatGroupVersionKind({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe(
      'apps/v1, Kind=Deployment',
    );
  });
});
