import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { isNotFound, StatusError } from '../../src/api/status-error.ts';
import type { HttpRequest } from '../../src/base/http-message.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { MemoryLogger } from '../../src/base/logs/memory-logger.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import type { CascadePlan } from '../../src/cascade/documents/cascade-plan.ts';
import type { CascadeRecordList } from '../../src/cascade/documents/cascade-record.ts';
import type { GraphDocument } from '../../src/cascade/documents/graph-document.ts';
import { listRecords, undoRecord } from '../../src/cascade/endpoints/record-endpoints.ts';
import type { UndoResult } from '../../src/cascade/documents/undo-result.ts';
import { previewCascade } from '../../src/cascade/preview/preview.ts';
import { RecordStore } from '../../src/cascade/record/record-store.ts';
import { readSnapshot } from '../../src/cascade/snapshot/read-snapshot.ts';
import { Cluster } from '../../src/cli/cluster/cluster.ts';
import { DataDirectory } from '../../src/cli/cluster/data-directory.ts';
import { connect } from '../../src/client/http/connect.ts';
import { loadClientConfig } from '../../src/client/kubeconfig/client-config.ts';
import { systemKubeconfigIo } from '../../src/cli/process/system-kubeconfig-io.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { controllerNames } from '../../src/assembly/controller-names.ts';
import { writeFileAtomically } from '../../src/base/write-file-atomically.ts';
import { faults } from './document-schemas.ts';
import { until } from '../program/until.ts';

const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource });
const core = (resource: string) => ({ group: '', version: 'v1', resource });
const configMaps = core('configmaps');
const secrets = core('secrets');

describe('/kubegc/v1', () => {
  let folder: string;
  let cluster: Cluster;
  let admin: RestClient;
  let clusterUid: string;
  const clients: RestClient[] = [];
  /** Ada may read and create ConfigMaps in namespace default; Eve has rights to nothing but the paths. */
  let ada: RestClient;
  let eve: RestClient;
  let records: RecordStore;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kubegc-endpoints-'));
    cluster = await Cluster.start({
      store: 'memory',
      directory: await DataDirectory.open(folder),
      listen: { host: '127.0.0.1', port: 0 },
      controllers: new Set(controllerNames),
      selfCheckPeriodMs: undefined,
      authorizationMode: 'RBAC',
      admissionPlugins: { enable: [], disable: [] },
      clock: systemClock,
      random: systemRandom,
      logger: new MemoryLogger(),
    });
    cluster.startControllers();
    const path = join(folder, 'kubeconfig');
    await writeFileAtomically(path, cluster.kubeconfig, 0o600);
    const connected = async (user?: string): Promise<RestClient> => {
      const config = await loadClientConfig({
        io: systemKubeconfigIo,
        clock: systemClock,
        path,
        userFields: user === undefined ? {} : { impersonate: { user, groups: [], extra: new Map() } },
      });
      const client = new RestClient({
        transport: connect({ ...config, clock: systemClock }),
        clock: systemClock,
        userAgent: 'test',
      });
      clients.push(client);
      return client;
    };
    [admin, ada, eve] = await Promise.all([connected(), connected('ada'), connected('eve')]);
    const paths = { nonResourceURLs: ['/kubegc/v1', '/kubegc/v1/*'], verbs: ['get', 'post'] };
    const role = (name: string, rules: object[], users: string[]) =>
      Promise.all([
        admin.create({ gvr: rbac('clusterroles') }, { metadata: { name }, rules }),
        admin.create(
          { gvr: rbac('clusterrolebindings') },
          {
            metadata: { name },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
            subjects: users.map((user) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user })),
          },
        ),
      ]);
    await role('cascade-paths', [paths], ['ada', 'eve', 'lister']);
    await role('lister', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }], ['lister']);
    await role(
      'configmaps',
      [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'update'] }],
      ['ada'],
    );
    const system = await admin.get({ gvr: core('namespaces'), name: 'kube-system' });
    clusterUid = system.metadata!.uid!;
    records = new RecordStore({ folder: join(folder, 'cascades'), clock: systemClock, random: systemRandom });
    await create('root');
    await create('child', 'root');
    await create('secret', 'root', secrets);
    await until('the graph is warm', async () => (await graph(admin)).source === 'warm');
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await cluster.stop();
    await rm(folder, { recursive: true });
  });

  const get = async <T>(client: RestClient, path: string, query: Record<string, string | number> = {}): Promise<T> => {
    const { headers, ...response } = await client.request({ method: 'GET', path: `/kubegc/v1/${path}`, query });
    expect(headers['content-type']).toBe('application/json');
    return JSON.parse(Buffer.from(response.body).toString('utf8')) as T;
  };
  const graph = (client: RestClient): Promise<GraphDocument> =>
    get(client, 'graph', { object: 'configmap/root', namespace: 'default' });
  const undo = async <T>(client: RestClient, order: object): Promise<T> =>
    (
      await client.request({ method: 'POST', path: '/kubegc/v1/undo', body: Buffer.from(JSON.stringify(order)) })
    ).json<T>();
  const refusal = async (work: Promise<unknown>): Promise<{ code: number; reason: string; message: string }> => {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      expect(error.status).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure' });
      return { code: error.code, reason: error.status.reason ?? '', message: error.message };
    }
    throw new Error('it was answered');
  };
  async function create(
    name: string,
    owner?: string,
    gvr = configMaps,
    annotations: Record<string, string> = {},
  ): Promise<KubeObject> {
    const of =
      owner === undefined ? undefined : await admin.get({ gvr: configMaps, namespace: 'default', name: owner });
    const uid = of?.metadata?.uid;
    const ownerReferences = uid === undefined ? [] : [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid }];
    const created = await admin.create(
      { gvr, namespace: 'default' },
      { metadata: { name, ownerReferences, annotations } },
    );
    return { ...created, apiVersion: 'v1', kind: gvr === secrets ? 'Secret' : 'ConfigMap' };
  }

  it('CAS-081 CAS-095 answers with the documents of the commands, which satisfy their schemas', async () => {
    const object = { object: 'configmaps/root', namespace: 'default' };
    const documents = [
      await get<object>(admin, 'preview', { ...object, cascade: 'orphan' }),
      await graph(admin),
      await get<object>(admin, 'graph', { namespace: 'default' }),
      await get<object>(admin, 'graph', { tops: 'true' }),
      await get<object>(admin, 'explain', object),
      await get<object>(admin, 'lint', { olderThanSeconds: 0 }),
      await get<object>(admin, 'log'),
    ];
    expect(documents.map((each) => (each as { kind: string }).kind).join(' ')).toBe(
      'CascadePlan Graph Graph Graph Explanation LintReport CascadeRecordList',
    );
    expect(documents.flatMap((each) => faults(each))).toEqual([]);
    expect(await get(admin, '')).toEqual({
      paths: ['explain', 'graph', 'lint', 'log', 'preview', 'undo'].map((name) => `/kubegc/v1/${name}`),
    });
  });

  it('CAS-020 CAS-081 draws the graph as a tree, for Graphviz and for Mermaid, and names the kinds that are missing', async () => {
    const drawn = async (client: RestClient, output: string): Promise<string[]> => {
      const query = { object: 'configmaps/root', output };
      const { headers, body } = await client.request({ method: 'GET', path: '/kubegc/v1/graph', query });
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
      return Buffer.from(body).toString('utf8').trimEnd().split('\n');
    };
    expect((await drawn(admin, 'tree')).map((line) => line.replace(/ +\d+s$/, ''))).toEqual([
      'OBJECT               DIES   AGE   MARKS',
      'configmap/root       3',
      '├─ configmap/child   1',
      '└─ secret/secret     1',
    ]);
    const missing =
      'Warning: secrets could not be read, and what is in there is missing here: you have no right to list it';
    expect(await drawn(ada, 'tree')).toContain(missing);
    const dot = await drawn(ada, 'dot');
    expect([dot[0], dot.filter((line) => line.includes('->')).length]).toEqual(['digraph cascade {', 1]);
    expect(dot).toContain(`// ${missing}`);
    const mermaid = await drawn(ada, 'mermaid');
    expect(mermaid).toEqual(expect.arrayContaining(['flowchart BT', '  n1 --> n0', `%% ${missing}`]));
  });

  it('CAS-003 CAS-016 answers from the collector’s graph what lists give, digest and finalizers included', async () => {
    const { uid } = (await admin.create({ gvr: core('namespaces') }, { metadata: { name: 'shop' } })).metadata!;
    const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
    await admin.create({ gvr: configMaps, namespace: 'shop' }, held);
    // Nothing is made for the new namespace any more.
    await until(
      'the objects are there',
      async () => (await admin.list({ gvr: configMaps, namespace: 'shop' })).items.length === 2,
    );
    await until(
      'the service account is there',
      async () => (await admin.list({ gvr: core('serviceaccounts'), namespace: 'shop' })).items.length === 1,
    );
    const warm = await get<CascadePlan>(admin, 'preview', { object: 'namespaces/shop' });
    const snapshot = await readSnapshot({ client: admin, clock: systemClock });
    const listed = await previewCascade(admin, snapshot, { roots: [{ uid: uid! }], assumeFinalizers: 'removed' });
    // Objects that may go in any order are numbered in the order of the graph.
    const inOrder = ({ objects }: CascadePlan) =>
      objects
        .map(({ sequence: _sequence, waitsFor, ...rest }) => ({ ...rest, waitsFor: waitsFor?.toSorted() }))
        .toSorted((a, b) => (a.ref.uid < b.ref.uid ? -1 : 1));
    expect(inOrder(warm)).toEqual(inOrder(listed));
    expect(warm.digest).toBe(listed.digest);
    expect(warm.source).toBe('warm');
    expect(warm.objects.map(({ ref }) => ref.name)).toContain('held');
  });

  it('CAS-003 sees at once what was written before the request', async () => {
    for (let i = 0; i < 5; i++) {
      await create(`fresh-${i}`, 'root');
      const { nodes, source } = await graph(admin);
      expect(source).toBe('warm');
      expect(nodes.map(({ ref }) => ref.name)).toContain(`fresh-${i}`);
      await admin.delete({ gvr: configMaps, namespace: 'default', name: `fresh-${i}` });
      expect((await graph(admin)).nodes.map(({ ref }) => ref.name)).not.toContain(`fresh-${i}`);
    }
  });

  it('CAS-081 CAS-002 shows a user what that user may list, and names the rest', async () => {
    const ours = await get<CascadePlan>(admin, 'preview', { object: 'cm/root', namespace: 'default' });
    expect(ours.objects.map(({ ref }) => ref.name).toSorted()).toEqual(['child', 'root', 'secret']);
    expect(ours).not.toHaveProperty('incomplete');
    const hers = await get<CascadePlan>(ada, 'preview', { object: 'cm/root', namespace: 'default' });
    expect(hers.objects.map(({ ref }) => ref.name).toSorted()).toEqual(['child', 'root']);
    expect(hers.source).toBe('list');
    expect(hers.incomplete).toContainEqual({ resource: 'secrets', reason: 'you have no right to list it' });
    const refused = await refusal(get(eve, 'preview', { object: 'cm/root', namespace: 'default' }));
    expect(refused).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect((await get<GraphDocument>(eve, 'graph')).nodes).toEqual([]);
    expect(await refusal(get(eve, 'explain', { object: 'cm/root' }))).toMatchObject({ code: 403 });
    const report = await get<{ incomplete: { resource: string }[] }>(ada, 'lint', { namespace: 'default' });
    expect(report.incomplete.map(({ resource }) => resource)).toContain('secrets');
  });

  it('CAS-054 CAS-081 puts the waves of the objects into a plan, for a user who may only list them too, and refuses a circle', async () => {
    await create('wave-late', undefined, configMaps, { 'kubegc.io/delete-after': 'configmap/wave-early' });
    await create('wave-early');
    const lister = admin.through((request, next) =>
      next({ ...request, headers: { ...request.headers, 'impersonate-user': 'lister' } }),
    );
    for (const client of [admin, lister]) {
      const query = 'object=cm/wave-late&object=cm/wave-early';
      const { roots } = await get<CascadePlan>(client, `preview?${query}`);
      expect(roots.map(({ ref, wave }) => [ref.name, wave])).toEqual([
        ['wave-early', 1],
        ['wave-late', 2],
      ]);
    }
    await create('circle-a', undefined, configMaps, { 'kubegc.io/delete-after': 'configmap/circle-b' });
    await create('circle-b', undefined, configMaps, { 'kubegc.io/delete-after': 'configmap/circle-a' });
    expect(await refusal(get(admin, 'preview?object=cm/circle-a&object=cm/circle-b'))).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'each waits for the next to be gone: configmap/circle-a, configmap/circle-b, configmap/circle-a',
    });
  });

  it('CAS-081 takes rights to the path, as for any other path of the server', async () => {
    const nobody = admin.through((request, next) =>
      next({ ...request, headers: { ...request.headers, 'impersonate-user': 'nobody' } }),
    );
    for (const path of ['preview', 'explain', 'lint', 'log', 'graph'])
      expect(await refusal(get(nobody, path))).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(await refusal(undo(nobody, { id: 'x' }))).toMatchObject({ code: 403 });
  });

  it('CAS-081 refuses in the words of the API server what it cannot answer', async () => {
    const ask = (path: string, query?: Record<string, string>) => refusal(get(admin, path, query));
    const said = [
      await ask('nothing'),
      await ask('log/missing'),
      await ask('preview/more'),
      await ask('preview', { object: 'cm/missing' }),
      await ask('explain', { object: 'cm/missing' }),
      await ask('preview'),
      await ask('preview', { object: 'cm' }),
      await ask('preview', { object: 'gadgets/x' }),
      await ask('preview', { object: 'cm/root', cascade: 'sideways' }),
      await ask('preview', { object: 'cm/root', gracePeriodSeconds: '-1' }),
      await ask('preview', { object: 'cm/root', policy: 'Orphan' }),
      await ask('preview', { object: 'bindings/x' }),
      await ask('graph', { depth: 'deep' }),
      await refusal(admin.request({ method: 'POST', path: '/kubegc/v1/preview' })),
      await refusal(admin.request({ method: 'DELETE', path: '/kubegc/v1/log' })),
      await refusal(admin.request({ method: 'GET', path: '/kubegc/v1/undo' })),
      await refusal(admin.request({ method: 'GET', path: '/kubegc/v1x' })),
      await refusal(undo(admin, {})),
      await refusal(undo(admin, { id: 'x', onConflict: 'replace' })),
      await refusal(undo(admin, { id: 'x', force: true })),
      await refusal(undo(admin, { id: 'x'.repeat(70_000) })),
      await refusal(
        admin.request({ method: 'POST', path: '/kubegc/v1/undo', body: Buffer.from('{'), contentType: 'text/plain' }),
      ),
      await refusal(admin.request({ method: 'POST', path: '/kubegc/v1/undo', body: Buffer.from('{') })),
    ].map(({ code, reason, message }) => `${code} ${reason}: ${message}`);
    expect(said).toEqual([
      '404 NotFound: the server could not find the requested resource',
      '404 NotFound: cascaderecords.kubegc.io "missing" not found',
      '404 NotFound: the server could not find the requested resource',
      '404 NotFound: configmaps "missing" not found',
      '404 NotFound: configmaps "missing" not found',
      '400 BadRequest: give object=TYPE/NAME, for example object=deployments.apps/web',
      '400 BadRequest: invalid object "cm"; give TYPE/NAME, for example deployments.apps/web',
      '400 BadRequest: the server doesn\'t have a resource type "gadgets"',
      '400 BadRequest: invalid cascade "sideways"; give one of background, foreground, orphan',
      '400 BadRequest: invalid gracePeriodSeconds "-1"; give a whole number from 0 to 2147483648',
      '400 BadRequest: unknown parameter "policy"; there are object, namespace, cascade, gracePeriodSeconds, assumeFinalizers, ignoreFinishedPods',
      '400 BadRequest: bindings cannot be listed and deleted, so nothing is known of a cascade',
      '400 BadRequest: invalid depth "deep"; give a whole number from 1 to 1000000000',
      '405 MethodNotAllowed: the server does not allow this method on the requested resource',
      '405 MethodNotAllowed: the server does not allow this method on the requested resource',
      '405 MethodNotAllowed: the server does not allow this method on the requested resource',
      '404 NotFound: the server could not find the requested resource',
      '400 BadRequest: the body has no id',
      '400 BadRequest: invalid onConflict "replace"',
      '400 BadRequest: invalid force true',
      '413 RequestEntityTooLarge: Request entity too large: limit is 65536',
      '415 UnsupportedMediaType: the body of an undo is application/json, not text/plain',
      '400 BadRequest: the body is no JSON; give {"id": "ID of a record"}',
    ]);
  });

  /** A record of these objects, which are then deleted. */
  async function recordAndDelete(bodies: readonly KubeObject[], uid = clusterUid): Promise<string> {
    const refOf = ({ apiVersion = '', kind = '', metadata }: KubeObject) => ({
      apiVersion,
      kind,
      resource: `${kind.toLowerCase()}s`,
      namespace: 'default',
      name: metadata!.name!,
      uid: metadata!.uid!,
    });
    const id = await records.write(
      {
        requester: 'kubegc-admin',
        context: { name: 'test', server: cluster.url, clusterUid: uid },
        roots: [refOf(bodies[0]!)],
        policy: 'Background',
      },
      bodies,
    );
    const [root] = bodies;
    await admin.delete({ gvr: configMaps, namespace: 'default', name: root!.metadata!.name! });
    for (const { resource, name } of bodies.map((body) => refOf(body))) {
      const isGone = (error: unknown): boolean => isNotFound(error);
      await until('it is gone', () =>
        admin.get({ gvr: core(resource), namespace: 'default', name }).then(() => false, isGone),
      );
    }
    await records.finish(id, { outcome: 'asPlanned' });
    return id;
  }

  it('CAS-081 CAS-062 CAS-063 lists records and takes one back, for users with the rights to its objects', async () => {
    const web = await create('web');
    const child = await create('web-child', 'web');
    const id = await recordAndDelete([web, child]);
    const idsOf = async (client: RestClient): Promise<string[]> =>
      (await get<CascadeRecordList>(client, 'log')).items.map((each) => each.id);
    expect(await idsOf(admin)).toContain(id);
    expect(await idsOf(ada)).toContain(id);
    expect(await idsOf(eve)).not.toContain(id);
    expect(faults(await get(ada, `log/${id}`))).toEqual([]);
    expect(await refusal(get(eve, `log/${id}`))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `cascaderecords.kubegc.io "${id}" is forbidden: it has objects of configmaps in the namespace "default", which you may not get`,
    });
    expect(await refusal(undo(eve, { id }))).toMatchObject({ code: 403 });

    const plan = await undo<object>(ada, { id, dryRun: true });
    expect(faults(plan)).toEqual([]);
    expect(plan).toMatchObject({ kind: 'UndoPlan', summary: { create: 2 } });
    const result = await undo<UndoResult>(ada, { id });
    expect(faults(result)).toEqual([]);
    expect(result).toMatchObject({ summary: { created: 2, failed: 0 }, ownerEdges: { total: 1, valid: 1 } });
    expect(await undo(ada, { id })).toMatchObject({ summary: { created: 0, present: 2 } });
    expect((await records.read(id)).undone).toMatchObject([{ restored: 2 }, { restored: 0 }]);
  });

  it('CAS-061 CAS-081 answers faults of records with a Status that names no file of the server', async () => {
    const damaged = await recordAndDelete([await create('damaged')]);
    await appendFile(join(folder, 'cascades', damaged, 'objects.jsonl'), 'more\n');
    const call = { client: admin, clock: systemClock, records };
    const request: HttpRequest = { method: 'GET', target: '/kubegc/v1/log', headers: {} };
    await writeFile(join(folder, 'no-folder'), '');
    const unreadable = new RecordStore({ folder: join(folder, 'no-folder'), clock: systemClock, random: systemRandom });
    const said = [
      await refusal(get(admin, `log/${damaged}`)),
      await refusal(get(admin, 'log/2')),
      await refusal(listRecords({ ...call, records: unreadable, request })),
    ].map(({ code, message }) => `${code} ${message}`);
    expect(said).toEqual([
      '500 Internal error occurred: the record is damaged',
      '400 several records begin with "2"; give more of the id',
      '500 Internal error occurred: the records of this server cannot be read',
    ]);
    await rm(join(folder, 'cascades', damaged), { recursive: true });
  });

  it('CAS-063 CAS-081 finishes an undo whose caller goes away', async () => {
    const id = await recordAndDelete([await create('left')]);
    const caller = new AbortController();
    const client = admin.abortedBy(caller.signal).through(async (request, next) => {
      if (request.method === 'POST' && request.target.includes('/configmaps')) caller.abort();
      return next(request);
    });
    const body = Buffer.from(JSON.stringify({ id }));
    const request: HttpRequest = { method: 'POST', target: '/kubegc/v1/undo', headers: {}, body };
    const result = await undoRecord({ client, clock: systemClock, records, request });
    expect(result).toMatchObject({ summary: { created: 1, failed: 0 } });
    await expect(client.list({ gvr: configMaps })).rejects.toThrow('aborted');
  });

  it('CAS-063 CAS-081 answers an undo that it cannot note in the record with its result and a warning', async () => {
    const id = await recordAndDelete([await create('vanishing')]);
    // The record vanishes while its object is created.
    const client = admin.through(async (request, next) => {
      if (request.method === 'POST' && request.target.includes('/configmaps'))
        await rm(join(folder, 'cascades', id), { recursive: true });
      return next(request);
    });
    const body = Buffer.from(JSON.stringify({ id }));
    const request: HttpRequest = { method: 'POST', target: '/kubegc/v1/undo', headers: {}, body };
    const result = await undoRecord({ client, clock: systemClock, records, request });
    expect(faults(result)).toEqual([]);
    expect(result).toMatchObject({
      summary: { created: 1, failed: 0 },
      warnings: [`the undo is not noted in the record: cascaderecords.kubegc.io "${id}" not found`],
    });
  });

  it('CAS-081 creates nothing for a user who may not create every object of a record', async () => {
    const mixed = await create('mixed');
    const secret = await create('mixed-secret', 'mixed', secrets);
    const id = await recordAndDelete([mixed, secret]);
    // Ada is given the right to read Secrets, and not the right to create them.
    const reader = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] };
    await admin.create({ gvr: rbac('clusterroles') }, { metadata: { name: 'secret-reader' }, rules: [reader] });
    await admin.create(
      { gvr: rbac('clusterrolebindings') },
      {
        metadata: { name: 'secret-reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'secret-reader' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ada' }],
      },
    );
    expect(await refusal(undo(ada, { id }))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `cascaderecords.kubegc.io "${id}" is forbidden: it has objects of secrets in the namespace "default", which you may not create`,
    });
    const names = (await admin.list({ gvr: configMaps, namespace: 'default' })).items.map(
      ({ metadata }) => metadata?.name,
    );
    expect(names).not.toContain('mixed');
    expect(await undo(admin, { id })).toMatchObject({ summary: { created: 2 } });
  });

  it('CAS-081 refuses an undo whose names are taken, and a record of another cluster', async () => {
    const taken = await create('taken');
    const id = await recordAndDelete([taken]);
    await create('taken');
    expect(await refusal(undo(admin, { id }))).toEqual({
      code: 409,
      reason: 'Conflict',
      message: 'configmaps/taken cannot be restored: another object has its name now; nothing was created',
    });
    const foreign = await create('foreign');
    const other = await recordAndDelete([foreign], '00000000-0000-4000-8000-000000000000');
    expect(await refusal(undo(admin, { id: other }))).toMatchObject({
      code: 409,
      message: expect.stringContaining('it is of another cluster') as string,
    });
  });
});
