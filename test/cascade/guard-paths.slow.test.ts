import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiServer } from '../../src/apiserver/api-server.ts';
import { x509Authenticator } from '../../src/apiserver/authentication/x509-authenticator.ts';
import { systemMastersAuthorizer } from '../../src/apiserver/authorization/authorizer.ts';
import { openMemoryStore } from '../../src/apiserver/storage/embedded/memory-store.ts';
import { PROTECT } from '../../src/api/meta/annotations.ts';
import type { KubeObject, OwnerReference } from '../../src/api/meta/object-meta.ts';
import { StatusError } from '../../src/api/status-error.ts';
import { inProcessClient } from '../../src/assembly/in-process-client.ts';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { noMetrics } from '../../src/base/metrics/metrics.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { Guard } from '../../src/cascade/guard/guard.ts';
import { DEFAULT_EXEMPT_GROUPS, DEFAULT_EXEMPT_USERS } from '../../src/cascade/guard/judge.ts';
import { GuardAdmission } from '../../src/cli/guard/guard-admission.ts';
import type { ResourceRef } from '../../src/client/rest/resource-path.ts';
import type { PatchType, RestClient } from '../../src/client/rest/rest-client.ts';
import { serverVersion } from '../../src/testing/server-version.ts';
import { until } from '../program/until.ts';

const REASON = 'holds open orders';
const nowhere: OwnerReference = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'nowhere',
  uid: '00000000-0000-4000-8000-000000000000',
};
const configmaps = { group: '', version: 'v1', resource: 'configmaps' };
const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' };
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const version = (name: string, storage: boolean): object => ({ name, served: true, storage, schema });
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [version('v1', true), version('v1beta1', false)],
  },
};

const store = openMemoryStore({ clock: systemClock, logger: silentLogger });
const server = createApiServer({
  store,
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  metrics: noMetrics,
  version: serverVersion(),
  authenticator: x509Authenticator,
  authorizer: systemMastersAuthorizer,
  admission: [new GuardAdmission(() => guard)],
});
const client: RestClient = inProcessClient(server.handler, {
  clock: systemClock,
  userAgent: 'test',
  interceptors: [],
  username: 'ann',
});
const guard = new Guard({
  client,
  clock: systemClock,
  rules: { exemptUsers: DEFAULT_EXEMPT_USERS, exemptGroups: DEFAULT_EXEMPT_GROUPS, budgets: [] },
  mayUnprotect: () => Promise.resolve(false),
});

beforeAll(async () => {
  await server.start();
  const definitions = { gvr: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' } };
  await client.create(definitions, definition);
  await until('widgets are served', () =>
    client.list({ gvr: widgets, namespace: 'default' }).then(
      () => true,
      () => false,
    ),
  );
});
afterAll(async () => {
  await server.stop();
  await store.close();
});

/** Each scene has a namespace of its own, because no controller removes anything here. */
let scenes = 0;

/** A namespace with an owner and a dependent, `child`, which may be protected. */
class Scene {
  readonly namespace = `scene-${++scenes}`;
  readonly isProtected: boolean;

  constructor(isProtected: boolean) {
    this.isProtected = isProtected;
  }

  get annotations(): object {
    return this.isProtected ? { annotations: { [PROTECT]: REASON } } : {};
  }

  in(gvr: ResourceRef['gvr']): ResourceRef {
    return { gvr, namespace: this.namespace };
  }

  at(name: string, gvr: ResourceRef['gvr'] = configmaps): ResourceRef & { readonly name: string } {
    return { gvr, namespace: this.namespace, name };
  }

  configMap(name: string, metadata: object = {}): KubeObject {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } };
  }

  async create(name: string, metadata: object = {}): Promise<OwnerReference> {
    const { metadata: made } = await client.create(this.in(configmaps), this.configMap(name, metadata));
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: made!.uid! };
  }

  async build(): Promise<this> {
    await client.create(
      { gvr: { ...configmaps, resource: 'namespaces' } },
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: this.namespace },
      },
    );
    return this;
  }

  /** A child of an owner. */
  async child(metadata: object = {}): Promise<{ readonly owner: OwnerReference; readonly child: OwnerReference }> {
    const owner = await this.create('owner');
    const child = await this.create('child', { ...this.annotations, ownerReferences: [owner], ...metadata });
    return { owner, child };
  }

  patch(name: string, body: object, type: PatchType = 'application/merge-patch+json'): Promise<unknown> {
    return client.patch(this.at(name), { type, body });
  }

  apply(name: string, metadata: object, manager: string): Promise<unknown> {
    const query = { fieldManager: manager, force: true };
    const patch = { type: 'application/apply-patch+yaml' as const, body: this.configMap(name, metadata) };
    return client.patch(this.at(name), patch, { query });
  }

  async replace(name: string, metadata: object): Promise<unknown> {
    const stored = await client.get<KubeObject>(this.at(name));
    return client.update(this.at(name), { ...stored, metadata: { ...stored.metadata, ...metadata } });
  }
}

/** Makes what a path needs, and resolves with the request that deletes `child`, now or by the collector later. */
type Path = (scene: Scene) => Promise<() => Promise<unknown>>;

/** A terminating owner that one finalizer holds. */
async function heldOwner(scene: Scene, apply?: string): Promise<void> {
  const metadata = { finalizers: ['example.com/hold'] };
  if (apply === undefined) await scene.create('owner', metadata);
  else await scene.apply('owner', metadata, apply);
  const { metadata: made } = await client.get<KubeObject>(scene.at('owner'));
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: made!.uid! };
  await scene.create('child', { ownerReferences: [owner] });
  await client.delete(scene.at('owner'));
  // It is protected only now, or else the owner could not be deleted.
  if (scene.isProtected) await scene.patch('child', { metadata: scene.annotations });
}

const paths: Readonly<Record<string, Path>> = {
  'a DELETE': async (scene) => {
    await scene.child();
    return () => client.delete(scene.at('child'));
  },
  'a DELETE of its owner': async (scene) => {
    await scene.child();
    return () => client.delete(scene.at('owner'), { propagationPolicy: 'Background' });
  },
  'a DELETE of its owner in the foreground': async (scene) => {
    await scene.child();
    return () => client.delete(scene.at('owner'), { propagationPolicy: 'Foreground' });
  },
  'a DELETE of the list': async (scene) => {
    await scene.child();
    return () => client.deleteCollection({ gvr: configmaps, namespace: scene.namespace });
  },
  'a DELETE of the list by a selector that its owner has alone': async (scene) => {
    const owner = await scene.create('owner', { labels: { part: 'owner' } });
    await scene.create('child', { ...scene.annotations, ownerReferences: [owner] });
    const query = { labelSelector: 'part=owner' };
    return () => client.deleteCollection({ gvr: configmaps, namespace: scene.namespace }, undefined, { query });
  },
  'a DELETE of its namespace': async (scene) => {
    await scene.child();
    return () => client.delete({ gvr: { ...configmaps, resource: 'namespaces' }, name: scene.namespace });
  },
  'a finalize of its namespace': async (scene) => {
    await scene.child();
    const name = scene.namespace;
    const ref = { gvr: { ...configmaps, resource: 'namespaces' }, name };
    const namespace = await client.get<KubeObject>(ref);
    const body = { ...namespace, spec: { finalizers: [] } };
    return () => client.update({ ...ref, subresource: 'finalize' }, body);
  },
  'a DELETE of a custom object in another version': async (scene) => {
    const metadata = { name: 'w', ...scene.annotations };
    await client.create(scene.in(widgets), { apiVersion: 'example.com/v1', kind: 'Widget', metadata });
    return () => client.delete(scene.at('w', { ...widgets, version: 'v1beta1' }));
  },
  'an eviction': async (scene) => {
    const pods = { ...configmaps, resource: 'pods' };
    const accounts = { ...configmaps, resource: 'serviceaccounts' };
    await client.create({ gvr: accounts, namespace: scene.namespace }, { metadata: { name: 'default' } });
    const spec = { containers: [{ name: 'c', image: 'x' }] };
    await client.create(scene.in(pods), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', ...scene.annotations },
      spec,
    });
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' } };
    return () => client.create({ ...scene.at('web', pods), subresource: 'eviction' }, eviction);
  },
};

/** Owner references and finalizers, by each way of writing them. */
const lastOwner = async (scene: Scene): Promise<OwnerReference> => {
  const owner = await scene.create('owner');
  await scene.create('child', { ...scene.annotations, ownerReferences: [owner, nowhere] });
  return owner;
};

const writes: Readonly<Record<string, Path>> = {
  'an owner that does not exist, by a merge patch': async (scene) => {
    await scene.child();
    return () => scene.patch('child', { metadata: { ownerReferences: [nowhere] } });
  },
  'an owner that does not exist, by a JSON patch': async (scene) => {
    await scene.child();
    const body = [{ op: 'replace', path: '/metadata/ownerReferences/0', value: nowhere }];
    return () => scene.patch('child', body, 'application/json-patch+json');
  },
  'an owner that does not exist, by a PUT': async (scene) => {
    await scene.child();
    return () => scene.replace('child', { ownerReferences: [nowhere] });
  },
  'an owner that does not exist, by server-side apply to an object without owners': async (scene) => {
    await scene.create('child', scene.annotations);
    return () => scene.apply('child', { ownerReferences: [nowhere] }, 'a');
  },
  'the last owner that exists removed, by a merge patch': async (scene) => {
    await lastOwner(scene);
    return () => scene.patch('child', { metadata: { ownerReferences: [nowhere] } });
  },
  'the last owner that exists removed, by a JSON patch': async (scene) => {
    await lastOwner(scene);
    const body = [{ op: 'remove', path: '/metadata/ownerReferences/0' }];
    return () => scene.patch('child', body, 'application/json-patch+json');
  },
  'the last owner that exists removed, by a strategic merge patch': async (scene) => {
    const { uid } = await lastOwner(scene);
    const body = { metadata: { ownerReferences: [{ $patch: 'delete', uid }] } };
    return () => scene.patch('child', body, 'application/strategic-merge-patch+json');
  },
  'the last owner that exists removed, by a PUT': async (scene) => {
    await lastOwner(scene);
    return () => scene.replace('child', { ownerReferences: [nowhere] });
  },
  'the last owner that exists dropped, by server-side apply without it': async (scene) => {
    const owner = await scene.create('owner');
    await scene.apply('child', { ownerReferences: [owner] }, 'a');
    await scene.apply('child', { ...scene.annotations, ownerReferences: [nowhere] }, 'b');
    return () => scene.apply('child', {}, 'a');
  },
  'the last finalizer of a terminating owner removed, by a merge patch': async (scene) => {
    await heldOwner(scene);
    return () => scene.patch('owner', { metadata: { finalizers: null } });
  },
  'the last finalizer of a terminating owner removed, by a PUT': async (scene) => {
    await heldOwner(scene);
    return () => scene.replace('owner', { finalizers: [] });
  },
  'the last finalizer of a terminating owner dropped, by server-side apply without it': async (scene) => {
    await heldOwner(scene, 'a');
    return () => scene.apply('owner', {}, 'a');
  },
};

const outcomeOf = (request: () => Promise<unknown>): Promise<string> =>
  request().then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof StatusError) return error.message;
      throw error;
    },
  );

describe.each(Object.entries({ ...paths, ...writes }))('%s', (_, path) => {
  it('CAS-070 is refused when that reaches a protected object, with the object and the next step', async () => {
    const request = await path(await new Scene(true).build());
    expect(await outcomeOf(request)).toMatch(/DETAIL: .*holds open orders[\s\S]*HINT: keep it, or take the protection/);
  });

  it('CAS-070 is done when nothing is protected', async () => {
    const request = await path(await new Scene(false).build());
    expect(await outcomeOf(request)).toBe('done');
  });
});

describe('server-side apply', () => {
  /** An object of an owner, both from one manager: the owner may be protected. */
  async function applied(ownerIsProtected: boolean): Promise<Scene> {
    const scene = await new Scene(ownerIsProtected).build();
    const owner = await scene.create('owner', scene.annotations);
    await scene.apply('child', { ownerReferences: [owner] }, 'a');
    return scene;
  }

  it('CAS-071 drops the only owner reference of an object: it stays, unless the owner protects it', async () => {
    const free = await applied(false);
    expect(await outcomeOf(() => free.apply('child', {}, 'a'))).toBe('done');
    expect((await client.get<KubeObject>(free.at('child'))).metadata?.ownerReferences).toBeUndefined();

    const kept = await applied(true);
    expect(await outcomeOf(() => kept.apply('child', {}, 'a'))).toMatch(/has no right to unprotect it/);
    expect((await client.get<KubeObject>(kept.at('child'))).metadata?.ownerReferences).toHaveLength(1);
  });

  it('CAS-071 drops the annotation that protects an object only for those who may unprotect it', async () => {
    const scene = await new Scene(true).build();
    await scene.apply('child', scene.annotations, 'a');
    expect(await outcomeOf(() => scene.apply('child', {}, 'a'))).toMatch(/has no right to unprotect it/);
    expect((await client.get<KubeObject>(scene.at('child'))).metadata?.annotations).toHaveProperty([PROTECT], REASON);
  });
});

it('CAS-070 a DELETE of a definition is refused while one of its objects is protected, and done afterwards', async () => {
  const scene = await new Scene(true).build();
  const metadata = { name: 'w', ...scene.annotations };
  await client.create(scene.in(widgets), { apiVersion: 'example.com/v1', kind: 'Widget', metadata });
  const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
  const request = (): Promise<unknown> => client.delete({ gvr: definitions, name: 'widgets.example.com' });
  expect(await outcomeOf(request)).toMatch(/DETAIL: [^\n]*widgets.example.com scene-\d+\/w: holds open orders/);
  await expect(client.get(scene.at('w', widgets))).resolves.toBeDefined();
});
