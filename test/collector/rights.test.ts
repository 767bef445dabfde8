import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { expect, it } from 'vitest';
import { parseRequestInfo } from '../../src/apiserver/endpoints/request/request-info.ts';
import { otherCollectorsLease } from '../../src/cli/collect/collect-settings.ts';
import { OtherCollectorWatch } from '../../src/cli/collect/other-collector.ts';
import { LeaderElector } from '../../src/client/election/leader-elector.ts';
import { refuse } from './faults.ts';
import { configMap, refTo, secret } from './kinds.ts';
import { type Policy, Rig } from './rig.ts';

/** The rules of the manifest that is handed out, held against everything that is really called (COL-220). */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly rules?: readonly Rule[];
  readonly metadata: { readonly namespace?: string };
}

const file = join(import.meta.dirname, '../../docs/manifests/collect-rbac.yaml');
const manifests = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Manifest);
const rulesOf = (kind: string): readonly Rule[] => manifests.find((each) => each.kind === kind)?.rules ?? [];
const roleNamespace = manifests.find(({ kind }) => kind === 'Role')?.metadata.namespace;

interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

const covers = (words: readonly string[], word: string): boolean => words.includes('*') || words.includes(word);

function allows(rule: Rule, { verb, group, resource, name }: Attributes): boolean {
  const named = rule.resourceNames === undefined || rule.resourceNames.includes(name);
  return covers(rule.apiGroups, group) && covers(rule.resources, resource) && covers(rule.verbs, verb) && named;
}

function allowed(attributes: Attributes, everywhere = rulesOf('ClusterRole')): boolean {
  const rules = attributes.namespace === roleNamespace ? [...everywhere, ...rulesOf('Role')] : everywhere;
  return rules.some((rule) => allows(rule, attributes));
}

it('COL-220 the manifest of docs/collect.md allows what the collector, its election and its look for others call, and no verb more', async () => {
  const rig = await Rig.start({ serve: 'all' });
  const { clock, random, logger } = rig;
  const client = rig.clientWith('lease', rig.recorder.intercept);
  const lease = { namespace: 'kube-system', name: 'kubegc-collector', identity: 'me' };
  const stop = new AbortController();
  const electing = new LeaderElector({ client, clock, random, logger, ...lease }).run(
    stop.signal,
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
  );
  const watch = new OtherCollectorWatch({ client, clock, ...otherCollectorsLease, onChange: () => undefined });
  const watching = watch.run(stop.signal);
  // As servers do that know no lists by watch.
  rig.faults.on({ target: /sendInitialEvents=true/ }, refuse(422, 'Invalid'), 1);
  await rig.startCollector();
  for (const policy of ['Background', 'Foreground', 'Orphan'] satisfies Policy[]) {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, `of-${policy.toLowerCase()}`, { owners: [refTo(owner, { block: true })] });
    await rig.delete(configMap, 'owner', policy);
    await rig.rest();
  }
  const elsewhere = await rig.create(configMap, 'elsewhere', { namespace: 'kube-system' });
  await rig.create(secret, 'stray', { owners: [refTo(elsewhere)] });
  await rig.advance(10_000);
  stop.abort();
  await rig.wait(Promise.all([electing, watching]));

  const called: Attributes[] = [];
  for (const { method, path, query } of rig.recorder.all) {
    const info = parseRequestInfo(method, path, new URLSearchParams(query));
    if (info?.type === 'resource') called.push({ ...info, name: info.authorizationName });
  }
  await rig.stop();
  expect(called.filter((attributes) => !allowed(attributes))).toEqual([]);
  // The widest rule grants exactly the verbs that the collector uses.
  const [widest] = rulesOf('ClusterRole');
  const isOfTheElection = ({ group, verb }: Attributes) =>
    group === 'coordination.k8s.io' && (verb === 'create' || verb === 'update');
  const verbs = new Set(
    called.filter((each) => each.resource !== 'events' && !isOfTheElection(each)).map(({ verb }) => verb),
  );
  expect([...verbs].toSorted()).toEqual([...(widest?.verbs ?? [])].toSorted());
  // The rules beside it are not there for nothing: Events are created, the lease is created and updated.
  expect(called.some(({ resource, verb }) => resource === 'events' && verb === 'create')).toBe(true);
  expect(called.filter(isOfTheElection).map(({ verb }) => verb)).toEqual(expect.arrayContaining(['create', 'update']));
});
