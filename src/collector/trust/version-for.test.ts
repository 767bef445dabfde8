import { expect, it } from 'vitest';
import { versionFor } from './version-for.ts';

const pods = { apiVersion: 'v1', resource: 'pods', namespaced: true };
const events = { apiVersion: 'v1', resource: 'events', namespaced: true };
const widgets = { apiVersion: 'example.com/v1', resource: 'widgets', namespaced: true };

const none: ReadonlySet<string> = new Set();
const local = new Set(['example.com/v1']);

it.each([
  ['both are stored by kube-apiserver', pods, pods, '900', Number.NaN, '900'],
  ['the dependent may be stored elsewhere', pods, widgets, '900', 700, '700'],
  ['the owner may be stored elsewhere, and its watch is ahead', widgets, pods, '900', 950, '900'],
  ['the owner is counted otherwise', widgets, pods, '900', 12, '12'],
  ['Events have a storage of their own', pods, events, '900', 12, '12'],
  ['nothing is known of the resource of the owner', widgets, pods, '900', Number.NaN, undefined],
  ['the version is no number', pods, pods, 'opaque', 900, undefined],
])(
  'COL-116 names a version that the server must have come to: %s',
  (_, owner, dependent, version, newest, expected) => {
    expect(versionFor(owner, { ...dependent, version }, { newest, local: none })).toBe(expected);
  },
);

it.each([
  ['the owner', widgets, pods, '900'],
  ['the dependent', pods, widgets, '900'],
  ['both', widgets, widgets, '900'],
  ['the dependent of an Event', widgets, events, '12'],
])(
  'COL-116 names the version of the dependent where kube-apiserver registered the group of %s',
  (_, owner, dependent, expected) => {
    expect(versionFor(owner, { ...dependent, version: '900' }, { newest: 12, local })).toBe(expected);
  },
);
