import { describe, expect, it } from 'vitest';

import { copyJson } from '../../codec/json/json-value.ts';
import type { FieldError } from '../../field-error.ts';
import { formatFieldError } from '../../field-error.ts';
import { builtinResources } from '../../kinds/builtin-resources.ts';
import type { ResourceInfo } from '../../kinds/resource-info.ts';
import { fieldOf } from '../../kinds/type-table.ts';
import { apiVersionOf } from '../../meta/group-version-kind.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { applyDefaults } from '../defaults/defaults.ts';
import { fieldsWithSupportedValues } from '../fields/supported-values.ts';
import { decodeTyped } from '../decoding/typed-decoding.ts';
import { validateBuiltin, validateBuiltinUpdate } from './validate-builtin.ts';

type Json = Record<string, unknown>;

function infoOf(kind: string, group?: string): ResourceInfo {
  const info = builtinResources().find((row) => row.kind === kind && (group === undefined || row.group === group));
  if (info === undefined) throw new Error(`no kind ${kind}`);
  return info;
}

function prepared(info: ResourceInfo, fields: Json): KubeObject {
  const { kind } = info;
  const apiVersion = apiVersionOf(info);
  const { object } = decodeTyped({ apiVersion, kind, ...copyJson(fields) } as KubeObject, info.typeName ?? '');
  applyDefaults(object, apiVersion, kind);
  return object;
}

const texts = (errors: readonly FieldError[]): string[] => errors.map(formatFieldError);
const created = (kind: string, fields: Json): string[] => {
  const info = infoOf(kind);
  return texts(validateBuiltin(prepared(info, fields), info));
};
const updated = (kind: string, previous: Json, next: Json): string[] => {
  const info = infoOf(kind);
  return texts(validateBuiltinUpdate(prepared(info, next), prepared(info, previous), info));
};

const CONTAINER = { name: 'c', image: 'nginx' };
const pod = (fields: Json = {}): Json => ({ metadata: { name: 'p' }, spec: { containers: [CONTAINER], ...fields } });
const template = (labels: Json = { app: 'x' }, podFields: Json = {}): Json => ({
  metadata: { labels },
  spec: { containers: [CONTAINER], ...podFields },
});
const SELECTOR = { matchLabels: { app: 'x' } };
const workload = (fields: Json = {}): Json => ({
  metadata: { name: 'w' },
  spec: { selector: SELECTOR, template: template(), ...fields },
});
const job = (fields: Json = {}, podFields: Json = {}): Json =>
  workload({ template: template({ app: 'x' }, { restartPolicy: 'Never', ...podFields }), ...fields });
const claim = (fields: Json = {}): Json => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...fields },
});
const volume = (fields: Json = {}): Json => ({
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, ...fields },
});
const service = (fields: Json = {}): Json => ({ spec: { ports: [{ port: 80 }], ...fields } });

describe('objects that are fine', () => {
  it.each<[string, Json]>([
    ['Pod', pod()],
    [
      'Pod',
      pod({
        volumes: [{ name: 'v' }],
        initContainers: [{ name: 'i', image: 'x' }],
        tolerations: [{ operator: 'Exists' }],
      }),
    ],
    ['Deployment', workload()],
    ['ReplicaSet', workload()],
    ['DaemonSet', workload()],
    ['StatefulSet', workload({ serviceName: 's' })],
    [
      'StatefulSet',
      workload({
        volumeClaimTemplates: [{ metadata: { name: 'data' }, ...claim() }],
        template: template(
          { app: 'x' },
          { containers: [{ ...CONTAINER, volumeMounts: [{ name: 'data', mountPath: '/d' }] }] },
        ),
      }),
    ],
    ['ReplicationController', { spec: { template: template() } }],
    ['Job', job()],
    [
      'CronJob',
      {
        metadata: { name: 'c' },
        spec: {
          schedule: '*/5 * * * *',
          jobTemplate: { spec: { template: template({}, { restartPolicy: 'OnFailure' }) } },
        },
      },
    ],
    ['PodTemplate', { template: template() }],
    ['ConfigMap', { data: { 'a.b-c_D': 'x' }, binaryData: { e: 'YQ==' } }],
    ['Secret', { data: { a: 'YQ==' } }],
    ['Secret', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30=' } }],
    ['PersistentVolume', volume()],
    ['PersistentVolumeClaim', claim()],
    ['Service', service()],
    ['Service', { spec: { clusterIP: 'None' } }],
    ['Service', { spec: { type: 'ExternalName', externalName: 'example.com' } }],
    ['Role', { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] }],
    ['ClusterRole', { rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }] }],
    [
      'RoleBinding',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's' },
        ],
      },
    ],
    ['PriorityClass', { metadata: { name: 'system-node-critical' }, value: 2000001000 }],
    ['Lease', { spec: { leaseDurationSeconds: 15 } }],
    ['EndpointSlice', { addressType: 'IPv4', endpoints: [] }],
    ['PodDisruptionBudget', { spec: { minAvailable: 1, selector: SELECTOR } }],
    ['HorizontalPodAutoscaler', { spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } } }],
    ['NetworkPolicy', { spec: { podSelector: {} } }],
    ['StorageClass', { provisioner: 'p' }],
    ['Namespace', { metadata: { name: 'n' } }],
    ['ServiceAccount', {}],
    ['Event', { involvedObject: { kind: 'Pod', name: 'p' } }],
  ])('API-502 %s', (kind, fields) => {
    expect(created(kind, fields)).toEqual([]);
    expect(updated(kind, fields, fields)).toEqual([]);
  });
});

describe('structure', () => {
  it('API-502 required fields and closed sets, with paths', () => {
    expect(
      created(
        'Pod',
        pod({
          containers: [
            {
              ...CONTAINER,
              env: [{ name: '' }],
              imagePullPolicy: 'Sometimes',
              volumeMounts: [{ name: '', mountPath: '' }],
            },
          ],
          restartPolicy: 'Maybe',
          tolerations: [{ key: 'k', effect: 'NoRun' }],
        }),
      ),
    ).toEqual([
      'spec.containers[0].env[0].name: Required value',
      'spec.containers[0].volumeMounts[0].name: Required value',
      'spec.containers[0].volumeMounts[0].mountPath: Required value',
      'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
      'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
      'spec.tolerations[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ]);
  });

  it('API-502 label selectors are well-formed wherever they stand', () => {
    const bad = {
      matchExpressions: [
        { key: 'a', operator: 'Near' },
        { key: 'b', operator: 'In' },
      ],
    };
    const expected = (path: string): string[] => [
      `${path}.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
      `${path}.matchExpressions[1].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ];
    expect(created('NetworkPolicy', { spec: { podSelector: bad } })).toEqual(expected('spec.podSelector'));
    expect(created('Deployment', workload({ selector: bad }))).toEqual(expected('spec.selector'));
  });

  it('API-502 the status is not checked', () => {
    expect(created('Pod', { ...pod(), status: { conditions: [{}], hostIPs: [{}] } })).toEqual([]);
  });

  it('API-502 lists of lists of structures, maps of them and circles', () => {
    const schema = { type: 'object', properties: { a: { 'x-kubernetes-validations': [{ rule: '' }] } } };
    const definition = {
      spec: {
        group: 'g.io',
        scope: 'Namespaced',
        names: { plural: 'as', kind: 'A' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    };
    expect(created('CustomResourceDefinition', definition)).toEqual([
      'spec.versions[0].schema.openAPIV3Schema.properties[a].x-kubernetes-validations[0].rule: Required value',
    ]);
  });

  it('every closed set belongs to a field of the table', () => {
    for (const key of fieldsWithSupportedValues()) {
      const [typeName = '', field = ''] =
        key.split('/').length > 1 ? [key.slice(0, key.lastIndexOf('/')), key.slice(key.lastIndexOf('/') + 1)] : [];
      expect(fieldOf(typeName, field)?.type, key).toBe('string');
    }
  });
});

describe('rules of single kinds on create', () => {
  it.each<[string, string, Json, string[]]>([
    ['no containers', 'Pod', { spec: {} }, ['spec.containers: Required value']],
    ['an empty list of containers', 'Pod', { spec: { containers: [] } }, ['spec.containers: Required value']],
    [
      'container names are labels',
      'Pod',
      pod({ containers: [{ name: 'A', image: 'x' }] }),
      [
        `spec.containers[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
      ],
    ],
    [
      'container names are unique',
      'Pod',
      pod({ containers: [CONTAINER, CONTAINER], initContainers: [CONTAINER] }),
      ['spec.containers[1].name: Duplicate value: "c"', 'spec.initContainers[0].name: Duplicate value: "c"'],
    ],
    [
      'no name, no image',
      'Pod',
      pod({ containers: [{}] }),
      ['spec.containers[0].name: Required value', 'spec.containers[0].image: Required value'],
    ],
    [
      'ports',
      'Pod',
      pod({ containers: [{ ...CONTAINER, ports: [{ containerPort: 70000 }, {}] }] }),
      [
        'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[1].containerPort: Required value',
      ],
    ],
    [
      'a mount without volume',
      'Pod',
      pod({ containers: [{ ...CONTAINER, volumeMounts: [{ name: 'v', mountPath: '/a' }] }] }),
      ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ],
    [
      'two mounts in one place',
      'Pod',
      pod({
        volumes: [{ name: 'v' }],
        containers: [
          {
            ...CONTAINER,
            volumeMounts: [
              { name: 'v', mountPath: '/a' },
              { name: 'v', mountPath: '/a' },
            ],
          },
        ],
      }),
      ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique'],
    ],
    [
      'two volumes of one name',
      'Pod',
      pod({ volumes: [{ name: 'v' }, { name: 'v' }] }),
      ['spec.volumes[1].name: Duplicate value: "v"'],
    ],
    [
      'a deadline of 0',
      'Pod',
      pod({ activeDeadlineSeconds: 0 }),
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [
      'no selector',
      'Deployment',
      { spec: { template: template() } },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'an empty selector',
      'Deployment',
      workload({ selector: {} }),
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'another selector',
      'ReplicaSet',
      workload({ selector: { matchLabels: { app: 'y' } } }),
      ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    ],
    [
      'restartPolicy',
      'Deployment',
      workload({ template: template({ app: 'x' }, { restartPolicy: 'Never' }) }),
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      'a deadline',
      'DaemonSet',
      workload({ template: template({ app: 'x' }, { activeDeadlineSeconds: 5 }) }),
      ['spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported'],
    ],
    [
      'negative replicas',
      'ReplicaSet',
      workload({ replicas: -1 }),
      ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'Recreate with parameters',
      'Deployment',
      workload({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'nothing may move',
      'Deployment',
      workload({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } }),
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [
      'an impossible deadline',
      'Deployment',
      workload({ minReadySeconds: 10, progressDeadlineSeconds: 10 }),
      ['spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds'],
    ],
    [
      'pod management',
      'StatefulSet',
      workload({ podManagementPolicy: 'Chaos' }),
      [`spec.podManagementPolicy: Invalid value: "Chaos": must be 'OrderedReady' or 'Parallel'`],
    ],
    [
      'bad template labels',
      'Deployment',
      workload({ template: template({ app: 'x', 'b c': 'd' }) }),
      [
        `spec.template.labels: Invalid value: "b c": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    ],
    [
      'a controller that selects others',
      'ReplicationController',
      { spec: { selector: { a: 'b' }, template: template() } },
      ['spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'],
    ],
    [
      'restartPolicy of jobs',
      'Job',
      workload(),
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'an indexed job without completions',
      'Job',
      job({ completionMode: 'Indexed', parallelism: 2 }),
      ['spec.completions: Required value: when completion mode is Indexed'],
    ],
    [
      'indexes without index',
      'Job',
      job({ maxFailedIndexes: 1 }),
      [
        'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
        'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
      ],
    ],
    [
      'no schedule',
      'CronJob',
      { spec: { jobTemplate: { spec: { template: template({}, { restartPolicy: 'Never' }) } } } },
      ['spec.schedule: Required value'],
    ],
    [
      'a short schedule',
      'CronJob',
      { spec: { schedule: '* * *', jobTemplate: { spec: { template: template({}, { restartPolicy: 'Never' }) } } } },
      ['spec.schedule: Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *]'],
    ],
    [
      'a long name',
      'CronJob',
      {
        metadata: { name: 'x'.repeat(53) },
        spec: { schedule: '@daily', jobTemplate: { spec: { template: template({}, { restartPolicy: 'Never' }) } } },
      },
      [`metadata.name: Invalid value: "${'x'.repeat(53)}": must be no more than 52 characters`],
    ],
    [
      'keys',
      'ConfigMap',
      { data: { 'a b': '', '..': '', '..x': '' } },
      [
        `data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
        `data[..]: Invalid value: "..": must not be '..'`,
        `data[..x]: Invalid value: "..x": must not start with '..'`,
      ],
    ],
    [
      'a key twice',
      'ConfigMap',
      { data: { a: 'x' }, binaryData: { a: 'YQ==' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    [
      'too much',
      'ConfigMap',
      { data: { a: 'x'.repeat(1048577) } },
      ['[]: Too long: may not be more than 1048576 bytes'],
    ],
    [
      'too much of a secret',
      'Secret',
      { data: { a: Buffer.alloc(1048577).toString('base64') } },
      ['data: Too long: may not be more than 1048576 bytes'],
    ],
    [
      'a TLS secret',
      'Secret',
      { type: 'kubernetes.io/tls', data: { 'tls.crt': 'YQ==' } },
      ['data[tls.key]: Required value'],
    ],
    [
      'docker credentials',
      'Secret',
      { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': 'YQ==' } },
      ['data[.dockercfg]: Invalid value: "<secret contents redacted>": invalid JSON'],
    ],
    [
      'a token without account',
      'Secret',
      { type: 'kubernetes.io/service-account-token' },
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
    [
      'a claim for nothing',
      'PersistentVolumeClaim',
      { spec: {} },
      [
        'spec.accessModes: Required value: at least 1 access mode is required',
        'spec.resources[storage]: Required value',
      ],
    ],
    [
      'a claim for zero',
      'PersistentVolumeClaim',
      claim({ resources: { requests: { storage: '0' } } }),
      ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'an access mode',
      'PersistentVolumeClaim',
      claim({ accessModes: ['WriteOnly'] }),
      [
        'spec.accessModes: Unsupported value: "WriteOnly": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [
      'a volume for one pod and for many',
      'PersistentVolume',
      volume({ accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
      ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      'a volume for one pod, and a mode that is none',
      'PersistentVolume',
      volume({ accessModes: ['ReadWriteOncePod', 'ReadWriteOncePod', 'Bogus'] }),
      [
        'spec.accessModes: Unsupported value: "Bogus": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [
      'a volume of nothing',
      'PersistentVolume',
      { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' } } },
      ['spec: Required value: must specify a volume type'],
    ],
    [
      'a volume of two things',
      'PersistentVolume',
      volume({ nfs: { server: 's', path: '/' } }),
      ['spec.nfs: Forbidden: may not specify more than 1 volume type'],
    ],
    ['a service without ports', 'Service', { spec: {} }, ['spec.ports: Required value']],
    [
      'several unnamed ports',
      'Service',
      service({ ports: [{ port: 1 }, { port: 1, name: 'a' }] }),
      ['spec.ports[0].name: Required value', 'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":1}'],
    ],
    ['no external name', 'Service', { spec: { type: 'ExternalName' } }, ['spec.externalName: Required value']],
    [
      'a rule without anything',
      'Role',
      { rules: [{}] },
      [
        'rules[0].verbs: Required value: verbs must contain at least one value',
        'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
        'rules[0].resources: Required value: resource rules must supply at least one resource',
      ],
    ],
    [
      'URLs in a namespace',
      'Role',
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
      ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
    ],
    [
      'an aggregation of nothing',
      'ClusterRole',
      { aggregationRule: { clusterRoleSelectors: [] } },
      [
        'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
      ],
    ],
    [
      'a binding to a role that no path names',
      'RoleBinding',
      { roleRef: { kind: 'Role', name: 'a/b' } },
      [`roleRef.name: Invalid value: "a/b": may not contain '/'`],
    ],
    [
      'a binding of an account that no account is called',
      'RoleBinding',
      { roleRef: { kind: 'Role', name: 'x' }, subjects: [{ kind: 'ServiceAccount', name: 'Bad_' }] },
      [expect.stringMatching(/^subjects\[0\]\.name: Invalid value: "Bad_": a lowercase RFC 1123 subdomain /)],
    ],
    [
      'a binding of a kind that has no group',
      'RoleBinding',
      { roleRef: { kind: 'Role', name: 'x' }, subjects: [{ kind: 'Pod', name: 'p' }] },
      ['subjects[0].kind: Unsupported value: "Pod": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [
      'a binding to a pod',
      'RoleBinding',
      { roleRef: { kind: 'Pod', name: 'x' } },
      ['roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"'],
    ],
    [
      'an account without namespace',
      'ClusterRoleBinding',
      { roleRef: { kind: 'ClusterRole', name: 'x' }, subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
      ['subjects[0].namespace: Required value'],
    ],
    [
      'a reserved priority',
      'PriorityClass',
      { metadata: { name: 'system-x' }, value: 1000000001 },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only",
        'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
      ],
    ],
    [
      'a budget with two bounds',
      'PodDisruptionBudget',
      { spec: { minAvailable: 1, maxUnavailable: 1 } },
      [
        'spec: Invalid value: {"minAvailable":1,"maxUnavailable":1}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      'a lease of no length',
      'Lease',
      { spec: { leaseDurationSeconds: 0 } },
      ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    ],
    [
      'an impossible range',
      'HorizontalPodAutoscaler',
      { spec: { minReplicas: 3, maxReplicas: 2, scaleTargetRef: { kind: 'D', name: 'd' } } },
      ['spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`'],
    ],
    ['a revision of nothing', 'ControllerRevision', { revision: 1 }, ['data: Required value: data is mandatory']],
  ])('API-502 %s', (_, kind, fields, expected) => {
    expect(created(kind, fields)).toEqual(expected);
  });
});

describe('what may not change', () => {
  const OTHER = { matchLabels: { app: 'y' } };
  const immutable = (path: string, value: unknown): string =>
    `${path}: Invalid value: ${JSON.stringify(value)}: field is immutable`;

  it.each(['Deployment', 'ReplicaSet', 'DaemonSet'])('API-502 the selector of a %s', (kind) => {
    const next = workload({ selector: OTHER, template: template({ app: 'y' }) });
    expect(updated(kind, workload(), next)).toEqual([immutable('spec.selector', OTHER)]);
    expect(updated(kind, workload(), workload({ replicas: 5, minReadySeconds: 1 }))).toEqual([]);
  });

  it('API-502 most of a StatefulSet', () => {
    const free = {
      replicas: 3,
      template: template({ app: 'x', b: 'c' }),
      updateStrategy: { type: 'OnDelete' },
      minReadySeconds: 1,
      ordinals: { start: 1 },
    };
    expect(updated('StatefulSet', workload(), workload(free))).toEqual([]);
    expect(updated('StatefulSet', workload(), workload({ serviceName: 'other' }))).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ]);
  });

  it('API-502 template, selector and completions of a Job', () => {
    const other = { ...template({ app: 'x' }, { restartPolicy: 'Never', nodeSelector: { a: 'b' } }) };
    const [finding] = updated('Job', job(), job({ template: other }));
    expect(finding).toMatch(/^spec\.template: Invalid value: .*: field is immutable$/);
    expect(updated('Job', job({ completions: 2 }), job({ completions: 3 }))).toEqual([
      immutable('spec.completions', 3),
    ]);
    expect(
      updated(
        'Job',
        job(),
        job({
          selector: { matchLabels: { app: 'x', b: 'c' } },
          template: template({ app: 'x', b: 'c' }, { restartPolicy: 'Never' }),
        }),
      )[0],
    ).toContain('spec.selector');
    expect(updated('Job', job(), job({ completions: 1, parallelism: 0, suspend: true, backoffLimit: 1 }))).toEqual([]);
  });

  it('API-502 a suspended Job may be sent elsewhere until it started', () => {
    const moved = { template: template({ app: 'x', b: 'c' }, { restartPolicy: 'Never', nodeSelector: { a: 'b' } }) };
    expect(updated('Job', job({ suspend: true }), job({ suspend: true, ...moved }))).toEqual([]);
    const started = { ...job({ suspend: true }), status: { startTime: '2026-01-01T00:00:00Z' } };
    expect(updated('Job', started, job({ suspend: true, ...moved }))[0]).toContain('spec.template');
  });

  it('API-502 completions of an indexed Job go with its parallelism', () => {
    const indexed = (n: number, parallelism: number): Json =>
      job({ completionMode: 'Indexed', completions: n, parallelism });
    expect(updated('Job', indexed(2, 2), indexed(3, 3))).toEqual([]);
    expect(updated('Job', indexed(2, 2), indexed(3, 2))).toEqual([
      'spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism',
    ]);
  });

  it('API-502 an immutable ConfigMap or Secret', () => {
    const text = 'Forbidden: field is immutable when `immutable` is set';
    expect(
      updated('ConfigMap', { immutable: true, data: { a: 'x' } }, { data: { a: 'y' }, binaryData: { b: 'YQ==' } }),
    ).toEqual([`immutable: ${text}`, `data: ${text}`, `binaryData: ${text}`]);
    expect(
      updated('Secret', { immutable: true, data: { a: 'YQ==' } }, { immutable: true, stringData: { a: 'b' } }),
    ).toEqual([`data: ${text}`]);
    expect(updated('Secret', { data: { a: 'YQ==' } }, { immutable: true, data: { a: 'Yg==' } })).toEqual([]);
    expect(updated('Secret', {}, { type: 'example.com/x' })).toEqual([immutable('type', 'example.com/x')]);
  });

  it('API-502 claims: bound once, then only more storage', () => {
    const forbidden =
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    const bound = (fields: Json, capacity = '1Gi'): Json => ({
      ...claim({ volumeName: 'v', ...fields }),
      status: { phase: 'Bound', capacity: { storage: capacity } },
    });
    const storage = (amount: string): Json => ({ resources: { requests: { storage: amount } } });
    expect(updated('PersistentVolumeClaim', claim(), claim({ volumeName: 'v' }))).toEqual([]);
    expect(updated('PersistentVolumeClaim', claim({ volumeName: 'v' }), claim({ volumeName: 'w' }))).toEqual([
      forbidden,
    ]);
    expect(updated('PersistentVolumeClaim', claim(), claim(storage('2Gi')))).toEqual([forbidden]);
    expect(updated('PersistentVolumeClaim', bound({}), bound(storage('2Gi')))).toEqual([]);
    expect(updated('PersistentVolumeClaim', bound(storage('3Gi')), bound(storage('2Gi')))).toEqual([]);
    expect(updated('PersistentVolumeClaim', bound(storage('3Gi')), bound(storage('1Gi')))).toEqual([
      'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
    ]);
  });

  it('API-502 the source of a PersistentVolume', () => {
    expect(updated('PersistentVolume', volume(), volume({ hostPath: { path: '/y' } }))).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
    ]);
    expect(
      updated(
        'PersistentVolume',
        volume(),
        volume({ persistentVolumeReclaimPolicy: 'Delete', capacity: { storage: '2Gi' } }),
      ),
    ).toEqual([]);
    expect(updated('PersistentVolume', volume(), volume({ volumeMode: 'Block' }))).toEqual([
      immutable('volumeMode', 'Block'),
    ]);
  });

  it.each<[string, string, Json, Json, string]>([
    [
      'the address of a Service',
      'Service',
      service({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }),
      service({ clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] }),
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ],
    [
      'the role of a binding',
      'RoleBinding',
      { roleRef: { kind: 'Role', name: 'a' } },
      { roleRef: { kind: 'Role', name: 'b' } },
      'roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"b"}: cannot change roleRef',
    ],
    ['a priority', 'PriorityClass', { value: 1 }, { value: 2 }, 'value: Forbidden: may not be changed in an update.'],
    [
      'a storage class',
      'StorageClass',
      { provisioner: 'a' },
      { provisioner: 'b' },
      'provisioner: Forbidden: updates to provisioner are forbidden.',
    ],
    [
      'a runtime',
      'RuntimeClass',
      { handler: 'a' },
      { handler: 'b' },
      'handler: Invalid value: "b": field is immutable',
    ],
    [
      'a revision',
      'ControllerRevision',
      { revision: 1, data: { a: 1 } },
      { revision: 2, data: { a: 2 } },
      'data: Invalid value: {"a":2}: field is immutable',
    ],
    [
      'the family of a slice',
      'EndpointSlice',
      { addressType: 'IPv4' },
      { addressType: 'IPv6' },
      'addressType: Invalid value: "IPv6": field is immutable',
    ],
    [
      'the controller of an ingress class',
      'IngressClass',
      { spec: { controller: 'example.com/a' } },
      { spec: { controller: 'example.com/b' } },
      'spec.controller: Invalid value: "example.com/b": field is immutable',
    ],
  ])('API-502 %s', (_, kind, previous, next, expected) => {
    expect(updated(kind, previous, next)).toEqual([expected]);
  });

  it('API-502 a service may become a name, and come back', () => {
    const name = { spec: { type: 'ExternalName', externalName: 'example.com' } };
    expect(updated('Service', service({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }), name)).toEqual([]);
  });

  it('API-502 what shares its content with the stored state, or repeats it, is not judged for it again', () => {
    const info = infoOf('Pod');
    const stored = prepared(info, pod({ restartPolicy: 'Sometimes' }));
    const labeled = { ...stored, metadata: { name: 'p', labels: { a: 'b' } } };
    expect(texts(validateBuiltinUpdate(labeled, stored, info))).toEqual([]);
    const running = { ...labeled, status: { phase: 'Running' } };
    expect(texts(validateBuiltinUpdate(running, stored, info))).toEqual([]);
    const repeated = { ...labeled, spec: copyJson(stored['spec']) };
    expect(texts(validateBuiltinUpdate(repeated, stored, info))).toEqual([]);
    const other = { ...labeled, spec: { ...(stored['spec'] as object), containers: [{ name: 'c', image: 'other' }] } };
    expect(texts(validateBuiltinUpdate(other, stored, info))).toContainEqual(
      expect.stringContaining('spec.restartPolicy'),
    );
    const emptied = { kind: 'Pod', metadata: labeled.metadata };
    expect(texts(validateBuiltinUpdate(emptied, stored, info))).not.toEqual([]);
  });
});
