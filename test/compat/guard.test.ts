import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubegcCommand, KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { type CommandResult, runCommand } from '../program/run-command.ts';
import { until } from '../program/until.ts';
import { Kubectl, kubectlPaths } from './kubectl.ts';

const REASON = 'holds open orders';
const DENIED = /DETAIL: .*holds open orders[\s\S]*HINT: keep it, or take the protection off first/;

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    - name: v1beta1
      served: true
      storage: false
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;
const manifest = (metadata: object): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', ...metadata } });
const nowhere = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nowhere', uid: '00000000-0000-4000-8000-000000000000' };

/** The guard inside the server, and the guard in a process of its own as a webhook: the same answers to the same kubectl. */
describe.each(kubectlPaths().flatMap((path) => [['embedded', path] as const, ['webhook', path] as const]))(
  'the %s guard with %s',
  (kind, path) => {
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
    let server: KubegcProcess;
    let guard: KubegcProcess | undefined;
    let kubectl: Kubectl;
    let kubeconfig: string;

    beforeAll(async () => {
      directory = await temporaryDirectory();
      kubeconfig = join(directory.path, 'kubeconfig');
      const up = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
      const more = ['--simulate-pods', 'run', '--authorization-mode', 'RBAC'];
      server = new KubegcProcess([...up, ...more, ...(kind === 'embedded' ? ['--guard'] : [])], {
        cwd: directory.path,
      });
      await server.ready();
      kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
      if (kind === 'webhook') {
        // Certificates are replaced every second, so that the whole suite is a renewal with live requests.
        const serve = ['guard', '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', '--renew-after', '1s'];
        guard = new KubegcProcess(serve, { cwd: directory.path });
        await guard.ready();
        const url = /https:\/\/\S+/.exec(guard.output)?.[0] ?? '';
        const printed = await kubegc(['guard', '--print', 'webhook', '--url', url]);
        await writeFile(join(directory.path, 'webhook.yaml'), printed.stdout);
        await kubectl.run(['apply', '-f', join(directory.path, 'webhook.yaml')]);
      }
      await kubectl.run('create namespace shop');
      await apply(manifest({ name: 'owner' }));
      const uid = await kubectl.run('get cm owner -n shop -o jsonpath={.metadata.uid}');
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
      await apply(manifest({ name: 'orders', annotations: { 'kubegc.io/protect': REASON }, ownerReferences: [owner] }));
      await file('definition.yaml', definition);
      await kubectl.run(['apply', '-f', join(directory.path, 'definition.yaml')]);
      await kubectl.run('wait --for=condition=Established crd/widgets.example.com --timeout=120s');
      await file(
        'widget.yaml',
        JSON.stringify({
          apiVersion: 'example.com/v1',
          kind: 'Widget',
          metadata: { name: 'w', namespace: 'shop', annotations: { 'kubegc.io/protect': REASON } },
        }),
      );
      await kubectl.run(['apply', '-f', join(directory.path, 'widget.yaml')]);
      await kubectl.run(
        'run web -n shop --image=x --annotations=kubegc.io/protect=holds\u00a0open\u00a0orders'
          .split(' ')
          .map((word) => word.replaceAll('\u00a0', ' ')),
      );
    });

    afterAll(async () => {
      await guard?.stop();
      await server.stop();
      await directory[Symbol.asyncDispose]();
    });

    const kubegc = (args: readonly string[]): Promise<CommandResult> =>
      runCommand(kubegcCommand, args, { cwd: directory.path, env: { KUBECONFIG: kubeconfig, HOME: directory.path } });
    const file = (name: string, text: string): Promise<void> => writeFile(join(directory.path, name), text);
    const apply = async (text: string, ...flags: string[]): Promise<string> => {
      await file('object.json', text);
      return kubectl.run(['apply', '-f', join(directory.path, 'object.json'), ...flags]);
    };
    const refused = async (args: readonly string[], words: RegExp = DENIED): Promise<void> => {
      const { code, stderr } = await kubectl.try(args);
      expect([code === 0, stderr]).toEqual([false, expect.stringMatching(words)]);
    };

    it.each([
      'delete cm orders -n shop',
      'delete configmaps/orders -n shop --grace-period=0 --force',
      'delete cm --all -n shop',
      'delete cm owner -n shop',
      'delete cm owner -n shop --cascade=foreground',
      'delete cm orders -n shop --dry-run=server',
      'delete namespace shop',
      'delete crd widgets.example.com',
      'delete wd w -n shop',
      'delete widgets.v1beta1.example.com w -n shop',
      'delete --raw /apis/example.com/v1beta1/namespaces/shop/widgets/w',
      'delete --raw /apis/example.com/v1/namespaces/shop/widgets',
      'delete pod web -n shop',
    ])('CAS-070 CAS-073 refuses kubectl %s', (line) => refused(line.split(' ')));

    it('CAS-070 refuses an eviction, and lets a namespace finalize alone that keeps its finalizers', async () => {
      await file(
        'eviction.json',
        JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'shop' } }),
      );
      await refused([
        'create',
        '--raw',
        '/api/v1/namespaces/shop/pods/web/eviction',
        '-f',
        join(directory.path, 'eviction.json'),
      ]);
      const namespace = JSON.parse(await kubectl.run('get ns shop -o json')) as { spec: object };
      const finalize = ['replace', '--raw', '/api/v1/namespaces/shop/finalize', '-f', join(directory.path, 'ns.json')];
      await file('ns.json', JSON.stringify(namespace));
      await kubectl.run(finalize);
      await file('ns.json', JSON.stringify({ ...namespace, spec: { finalizers: [] } }));
      await refused(finalize);
    });

    it('CAS-070 refuses owner references that make it garbage, by patch, replace and server-side apply', async () => {
      const patch = JSON.stringify({ metadata: { ownerReferences: [nowhere] } });
      await refused(['patch', 'cm', 'orders', '-n', 'shop', '--type=merge', '-p', patch]);
      const stored = JSON.parse(await kubectl.run('get cm orders -n shop -o json')) as { metadata: object };
      await file(
        'put.json',
        JSON.stringify({ ...stored, metadata: { ...stored.metadata, ownerReferences: [nowhere] } }),
      );
      await refused(['replace', '-f', join(directory.path, 'put.json')]);
      await file('apply.json', manifest({ name: 'orders', ownerReferences: [nowhere] }));
      const server = ['apply', '--server-side', '--force-conflicts', '-f', join(directory.path, 'apply.json')];
      const { code, stderr } = await kubectl.try(server);
      // The list is merged by uid, so the owner stays. kubectl then gives up the fields of its earlier apply, which would remove the owner.
      expect([code, stderr]).toEqual([0, expect.stringContaining('is not changed: 1 protected object would go')]);
      // The collector removes the reference to nothing.
      await until('the owner alone is left', async () => {
        const owners = await kubectl.run('get cm orders -n shop -o jsonpath={.metadata.ownerReferences[*].name}');
        return owners === 'owner';
      });
    });

    it('CAS-070 refuses that the last owner is removed, and that an owner goes which nobody takes for one: a Lease', async () => {
      const named = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
      await apply(JSON.stringify({ ...named, metadata: { name: 'only', namespace: 'shop' } }));
      const uid = await kubectl.run('get leases only -n shop -o jsonpath={.metadata.uid}');
      const ownerReferences = [{ ...named, name: 'only', uid }, nowhere];
      await apply(manifest({ name: 'leased', annotations: { 'kubegc.io/protect': REASON }, ownerReferences }));
      await refused(['delete', 'leases', 'only', '-n', 'shop']);
      const patch = JSON.stringify({ metadata: { ownerReferences: [nowhere] } });
      await refused(['patch', 'cm', 'leased', '-n', 'shop', '--type=merge', '-p', patch]);
      await kubectl.run('annotate cm leased -n shop kubegc.io/protect-');
      await kubectl.run('delete leases only -n shop');
      await kubectl.run('wait --for=delete cm/leased -n shop --timeout=120s');
    });

    it('CAS-070 refuses that the last finalizer of a terminating owner is taken away', async () => {
      await apply(manifest({ name: 'holder', finalizers: ['example.com/hold'] }));
      const uid = await kubectl.run('get cm holder -n shop -o jsonpath={.metadata.uid}');
      await apply(
        manifest({ name: 'ward', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'holder', uid }] }),
      );
      await kubectl.run('delete cm holder -n shop --wait=false');
      await kubectl.run(['annotate', 'cm', 'ward', '-n', 'shop', `kubegc.io/protect=${REASON}`]);
      const release = ['patch', 'cm', 'holder', '-n', 'shop', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'];
      await refused(release);
      await kubectl.run('annotate cm ward -n shop kubegc.io/protect-');
      await kubectl.run(release);
      await kubectl.run('wait --for=delete cm/ward -n shop --timeout=120s');
    });

    it('CAS-071 lets those alone take the protection off who may unprotect, by whatever path', async () => {
      await kubectl.run(
        'create clusterrole editor --verb=get,list,update,patch,delete --resource=configmaps,widgets.example.com,widgets.example.com/status',
      );
      await kubectl.run('create clusterrolebinding editor --clusterrole=editor --user=ann');
      const forbidden = /has no right to unprotect it/;
      const as = ['--as', 'ann'];
      await refused(['annotate', 'cm', 'orders', '-n', 'shop', 'kubegc.io/protect-', ...as], forbidden);
      const open = ['annotate', 'cm', 'orders', '-n', 'shop', 'kubegc.io/protect-dependents=false', ...as];
      await refused(open, forbidden);
      const bare = JSON.stringify({ metadata: { annotations: null } });
      await refused(['patch', 'wd', 'w', '-n', 'shop', '--type=merge', '-p', bare, ...as], forbidden);
      // Status of a custom resource takes no metadata: nothing is taken off, so nothing is refused, and the protection stays.
      await kubectl.try(['patch', 'wd', 'w', '-n', 'shop', '--subresource=status', '--type=merge', '-p', bare, ...as]);
      await refused(['delete', 'wd', 'w', '-n', 'shop', ...as]);
      await kubectl.run('annotate wd w -n shop kubegc.io/protect-');
      await kubectl.run('delete wd w -n shop');
    });

    it('CAS-073 lets the collector and the controllers end what was allowed', async () => {
      await kubectl.run('create deployment api -n shop --image=x');
      await kubectl.run('rollout status deployment/api -n shop --timeout=120s');
      await kubectl.run('annotate deployment api -n shop kubegc.io/protect=for-a-while');
      await kubectl.run('rollout restart deployment/api -n shop');
      await kubectl.run('rollout status deployment/api -n shop --timeout=120s');
      await refused('delete deployment api -n shop'.split(' '), /for-a-while/);
      await kubectl.run('annotate deployment api -n shop kubegc.io/protect-');
      await kubectl.run('delete deployment api -n shop --wait');
      await kubectl.run('wait --for=delete pod -l app=api -n shop --timeout=120s');
    });

    it('CAS-073 goes by its failure policy when the webhook is away, and can be taken off then', async () => {
      if (guard === undefined) return;
      await guard.stop();
      await apply(manifest({ name: 'plain' }));
      await refused('delete cm plain -n shop'.split(' '), /failed calling webhook "guard.kubegc.io"/);
      await kubectl.run('delete validatingwebhookconfiguration guard.kubegc.io');
      await kubectl.run('delete cm plain -n shop');
    });
  },
);

describe('the policy without a process', () => {
  it.each(kubectlPaths())(
    'CAS-075 CAS-073 protects single objects, with %s',
    async (path) => {
      await using directory = await temporaryDirectory();
      const kubeconfig = join(directory.path, 'kubeconfig');
      const up = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
      const server = new KubegcProcess([...up, '--authorization-mode', 'RBAC'], { cwd: directory.path });
      try {
        await server.ready();
        const kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
        const printed = await runCommand(kubegcCommand, ['guard', '--print', 'policy'], {
          cwd: directory.path,
          env: {},
        });
        await writeFile(join(directory.path, 'policy.yaml'), printed.stdout);
        await kubectl.run(['apply', '-f', join(directory.path, 'policy.yaml')]);
        await kubectl.run('create configmap orders');
        await kubectl.run(['annotate', 'configmap', 'orders', `kubegc.io/protect=${REASON}`]);
        const denied = await kubectl.try(['delete', 'configmap', 'orders']);
        expect(denied.stderr).toContain(`it is protected: ${REASON}`);
        for (const line of [
          'delete configmaps --all',
          'delete configmap orders --cascade=orphan',
          'delete configmap orders --dry-run=server',
          'delete --raw /api/v1/namespaces/default/configmaps/orders',
        ]) {
          const { code, stderr } = await kubectl.try(line.split(' '));
          expect([line, code === 0, stderr]).toEqual([line, false, expect.stringContaining(REASON)]);
        }
        expect(await kubectl.run('get configmap orders -o name')).toContain('configmap/orders');
        // docs/protect.md: a policy sees one object, so its namespace takes it along, and an eviction its pod.
        await kubectl.run('create namespace shop');
        await kubectl.run('run web -n shop --image=x');
        await kubectl.run(['annotate', 'pod', 'web', '-n', 'shop', `kubegc.io/protect=${REASON}`]);
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web', namespace: 'shop' } };
        await writeFile(join(directory.path, 'eviction.json'), JSON.stringify(eviction));
        const evict = ['create', '--raw', '/api/v1/namespaces/shop/pods/web/eviction', '-f'];
        await kubectl.run([...evict, join(directory.path, 'eviction.json')]);
        await kubectl.run('create configmap other -n shop');
        await kubectl.run(['annotate', 'configmap', 'other', '-n', 'shop', `kubegc.io/protect=${REASON}`]);
        await kubectl.run('delete namespace shop --timeout=60s');
        await kubectl.run('create clusterrole editor --verb=get,list,update,patch --resource=configmaps');
        await kubectl.run('create clusterrolebinding editor --clusterrole=editor --user=ann');
        const off = ['annotate', 'configmap', 'orders', 'kubegc.io/protect-'];
        expect((await kubectl.try([...off, '--as', 'ann'])).stderr).toContain('needs the verb "unprotect"');
        await kubectl.run(off);
        await kubectl.run('delete configmap orders');
        const fixed = await runCommand(kubegcCommand, ['guard', '--print', 'static-policy'], {
          cwd: directory.path,
          env: {},
        });
        expect(fixed.stdout.match(/^ {2}name: guard\.kubegc\.io\.static\.k8s\.io$/gm)).toHaveLength(2);
      } finally {
        await server.stop();
      }
    },
    60_000,
  );
});
