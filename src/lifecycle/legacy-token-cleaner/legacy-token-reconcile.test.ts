import { describe, expect, it } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import { INVALID_SINCE, LAST_USED, TOKEN_SECRET_TYPE } from '../../api/meta/token-secret.ts';
import { decideLegacyToken, trackedSince } from './legacy-token-reconcile.ts';
import { secretsOfPod } from './pod-secrets.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 30, 12);
const account = { metadata: { name: 'robot', uid: '1' }, secrets: [{ name: 's' }] };
const annotations = { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': '1' };
const secret = (metadata: object = {}, type = TOKEN_SECRET_TYPE) => ({
  type,
  metadata: { name: 's', annotations, creationTimestamp: formatTime(NOW - 100 * DAY), ...metadata },
});
const facts = { account, use: 'unused', now: NOW, periodMs: 10 * DAY } as const;
const nothing = (reason: string) => ({ verdict: 'nothing', reason });

describe('LIFE-681 a token in a Secret', () => {
  it.each([
    ['that nobody used', secret(), { verdict: 'invalidate', reason: 'unused', since: '2026-06-30' }],
    ['of another type', secret({}, 'Opaque'), nothing('otherType')],
    ['as old as the period', secret({ creationTimestamp: formatTime(NOW - 10 * DAY) }), nothing('young')],
    ['that is being deleted', secret({ deletionTimestamp: formatTime(NOW) }), nothing('terminating')],
    ['used on the first day of the period', secret({ labels: { [LAST_USED]: '2026-06-20' } }), nothing('usedLately')],
    [
      'used the day before',
      secret({ labels: { [LAST_USED]: '2026-06-19' } }),
      { verdict: 'invalidate', reason: 'unused', since: '2026-06-30' },
    ],
    ['with an unreadable day', secret({ labels: { [LAST_USED]: 'yesterday' } }), nothing('unreadable')],
    [
      'of another account',
      secret({ annotations: { ...annotations, 'kubernetes.io/service-account.uid': '2' } }),
      nothing('notGenerated'),
    ],
    ['that the account does not list', secret({ name: 'made-by-hand' }), nothing('notGenerated')],
    ['that is refused for the period', secret({ labels: { [INVALID_SINCE]: '2026-06-20' } }), nothing('invalid')],
    [
      'that is refused for longer',
      secret({ labels: { [INVALID_SINCE]: '2026-06-19' } }),
      { verdict: 'delete', reason: 'unused' },
    ],
    [
      'with an unreadable mark',
      secret({ labels: { [INVALID_SINCE]: 'x' } }),
      { verdict: 'invalidate', reason: 'unused', since: '2026-06-30' },
    ],
  ])('%s', (_, object, expected) => {
    expect(decideLegacyToken(object, facts)).toEqual(expected);
  });

  it('stays while a pod uses it, and the pods are read only when they decide', () => {
    const old = secret({ labels: { [INVALID_SINCE]: '2026-01-01' } });
    expect(decideLegacyToken(old, { ...facts, use: 'used' })).toEqual(nothing('mounted'));
    expect(decideLegacyToken(old, { ...facts, use: 'unknown' }).verdict).toBe('look');
    expect(decideLegacyToken(old, { ...facts, use: 'unknown', account: undefined })).toEqual(nothing('notGenerated'));
  });

  it('is judged from the day after the first day on which uses were noted', () => {
    expect(trackedSince({ data: { since: '2026-02-28' } })).toBe(Date.UTC(2026, 2, 1));
    expect([trackedSince({}), trackedSince({ data: { since: '2026-02-30' } })]).toEqual([undefined, undefined]);
  });
});

it('LIFE-681 a pod uses Secrets to pull images, in the environment of its containers, and in volumes', () => {
  const name = (text: string) => ({ name: text });
  const spec = {
    imagePullSecrets: [name('pull')],
    containers: [
      { env: [{ valueFrom: { secretKeyRef: name('env') } }, { value: 'x' }], envFrom: [{ secretRef: name('from') }] },
    ],
    initContainers: [{ envFrom: [{ secretRef: name('init') }, { configMapRef: name('no') }] }],
    ephemeralContainers: [{ envFrom: [{ secretRef: name('debug') }] }],
    volumes: [
      { secret: { secretName: 'volume' } },
      { azureFile: { secretName: 'azure' } },
      { csi: { nodePublishSecretRef: name('csi') } },
      { projected: { sources: [{ secret: name('projected') }, { configMap: name('no') }] } },
      { iscsi: { secretRef: name('iscsi') } },
      { emptyDir: {} },
    ],
  };
  const used = ['pull', 'env', 'from', 'init', 'debug', 'volume', 'azure', 'csi', 'projected', 'iscsi'];
  expect([...secretsOfPod({ spec })].toSorted()).toEqual(used.toSorted());
  expect([...secretsOfPod({})]).toEqual([]);
});
