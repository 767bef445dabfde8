import { describe, expect, it } from 'vitest';
import { type KubeObject, type PatchOptions, type PatchType, startCluster } from '../../src/testing/testing.ts';

const apply = 'application/apply-patch+yaml';
const settings = (level: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { level },
});
const managers = ({ metadata }: KubeObject) => metadata?.managedFields?.map(({ manager }) => manager);

describe('a patch of the client', () => {
  it('applies under the name of the client, or of the manager it is given', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const operator = cluster.clientAs('my-operator');
    const created = await operator.patch(settings('info'), settings('info'), apply);
    expect(created).toMatchObject(settings('info'));
    expect(managers(created)).toEqual(['my-operator']);
    const shared = await cluster.client.patch(created, settings('info'), apply, { fieldManager: 'another' });
    expect(managers(shared)?.toSorted()).toEqual(['another', 'my-operator']);
  });

  it('meets a conflict where another manager has a field, unless it takes it by force', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const created = await cluster.clientAs('my-operator').patch(settings('info'), settings('info'), apply);
    const debug = settings('debug');
    await expect(cluster.client.patch(created, debug, apply)).rejects.toThrow('conflict with "my-operator"');
    expect(await cluster.client.patch(created, debug, apply, { force: true })).toMatchObject(debug);
  });

  it('names a manager for other types only when it is given one', async () => {
    await using cluster = await startCluster({ controllers: [] });
    const created = await cluster.client.create(settings('info'));
    const patched = await cluster.client.patch(created, { data: { a: 'b' } }, undefined, { fieldManager: 'mine' });
    expect(managers(patched)).toContain('mine');
  });

  it.each([
    [apply, { manager: 'mine' }, 'patch has no "manager"; there are: fieldManager, fieldValidation, '],
    ['apply', {}, 'the type of a patch is one of application/merge-patch+json, application/json-patch+json, '],
    [{ force: true }, {}, 'not { force: true }'],
  ])('is refused before the request: %j %j', async (type, options, message) => {
    await using cluster = await startCluster({ controllers: [] });
    const patch = cluster.client.patch(settings('info'), settings('info'), type as PatchType, options as PatchOptions);
    await expect(patch).rejects.toThrow(message);
  });
});
