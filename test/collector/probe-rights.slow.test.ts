import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { Authenticator } from '../../src/apiserver/authentication/authenticator.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { LedProcess } from './led-process.ts';
import { MortalWire } from './mortal-wire.ts';
import { Rig } from './rig.ts';

/**
 * `kubegc collect --mode auto --probe` as the ServiceAccount of docs/manifests/collect-rbac.yaml, whose rights RBAC decides about: with the one
 * right more that docs/collect.md names for the probe, and without (COL-220).
 */
const file = join(import.meta.dirname, '../../docs/manifests/collect-rbac.yaml');
const manifests = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as KubeObject);
const account = { kind: 'ServiceAccount', name: 'kubegc-collector', namespace: 'kube-system' };
const username = `system:serviceaccount:${account.namespace}:${account.name}`;
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };

/** The test may do everything, whoever else comes is the collector. */
const byUserAgent: Authenticator = {
  authenticate: ({ headers }) =>
    headers['user-agent'] === 'test'
      ? { username: 'test', groups: ['system:masters'] }
      : { username, groups: ['system:serviceaccounts', 'system:authenticated'] },
};

let rig: Rig;
let collector: LedProcess;
/** `METHOD path` of each request of the collector that was refused. */
let forbidden: string[];

beforeEach(async () => {
  forbidden = [];
  rig = await Rig.start({
    serve: 'all',
    authenticator: byUserAgent,
    reached: (userAgent, server) => async (request) => {
      const response = await server(request);
      if (userAgent !== 'test' && response.status === 403) {
        forbidden.push(`${request.method} ${request.target.split('?')[0]}`);
      }
      return response;
    },
  });
  for (const manifest of manifests) await create(manifest);
});
afterEach(async () => {
  const stopping = collector.stop();
  await rig.advance(30_000);
  await rig.wait(stopping);
  await rig.stop();
});

async function create(object: KubeObject): Promise<void> {
  const core = object.kind === 'ServiceAccount';
  const resource = `${String(object.kind).toLowerCase()}s`;
  const gvr = core ? { group: '', version: 'v1', resource } : { ...rbac, resource };
  const namespace = object.metadata?.namespace;
  await rig.wait(rig.client.create({ gvr, ...(namespace === undefined ? {} : { namespace }) }, object));
}

/** Grants the rights that `--probe` needs besides, by docs/collect.md. */
async function grantProbe(namespace: string): Promise<void> {
  const metadata = { name: 'kubegc-probe', namespace };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
  const roleRef = { apiGroup: rbac.group, kind: 'Role', name: metadata.name };
  await create({ apiVersion, kind: 'Role', metadata, rules } as KubeObject);
  await create({ apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects: [account] } as KubeObject);
}

async function probing(namespace: string): Promise<void> {
  collector = await new LedProcess(rig, { wire: new MortalWire(), index: 0, probe: namespace }).start();
}

async function deletedFamily(): Promise<void> {
  const owner = await rig.create(configMap, 'owner');
  await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
  await rig.delete(configMap, 'owner');
}

const said = (message: string): unknown[] =>
  collector.logger.lines.filter((line) => line.message.startsWith(message)).map(({ fields }) => fields);

const refusal = (namespace: string): string =>
  `configmaps is forbidden: User "${username}" cannot create resource "configmaps" in API group "" in the namespace "${namespace}"`;

it('COL-204 COL-220 with the right to create ConfigMaps there it asks by a probe, takes it away, and collects; nothing is refused', async () => {
  await grantProbe('default');
  await probing('default');
  await rig.advance(5000);
  expect(await rig.names(configMap)).toEqual([expect.stringMatching(/^kubegc-probe-/)]);
  await rig.advance(15_000);
  await deletedFamily();
  await rig.advance(5000);
  expect(await rig.names(secret)).toEqual([]);
  expect(await rig.names(configMap)).toEqual([]);
  expect(said('no other collector runs')).toEqual([expect.objectContaining({ reason: 'probeKept' })]);
  expect(forbidden).toEqual([]);
});

it.each([
  ['nowhere', undefined],
  ['in another namespace', 'kube-system'],
])(
  'COL-204 COL-220 with that right %s it says what it may not, creates nothing, and goes by the lease',
  async (_, granted) => {
    if (granted !== undefined) await grantProbe(granted);
    await probing('default');
    await rig.advance(4000);
    expect(said('not known whether another collector runs, observing only')).toContainEqual(
      expect.objectContaining({ reason: 'probeFailed', why: refusal('default') }),
    );
    await deletedFamily();
    await rig.advance(500);
    // So far it only observes: one refusal may pass.
    expect(await rig.names(secret)).toEqual(['dependent']);
    await rig.advance(30_000);
    // No lease is no proof that no other collector runs.
    expect(said('not known whether another collector runs, observing only').at(-1)).toMatchObject({
      reason: 'noLease',
    });
    expect(said('no other collector runs')).toEqual([]);
    expect(await rig.names(secret)).toEqual(['dependent']);
    expect(new Set(forbidden)).toEqual(new Set(['POST /api/v1/namespaces/default/configmaps']));
  },
);
