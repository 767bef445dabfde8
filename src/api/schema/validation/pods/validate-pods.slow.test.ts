import { describe, expect, it } from 'vitest';

import { copyJson } from '../../../codec/json/json-value.ts';
import { formatFieldError } from '../../../field-error.ts';
import { builtinResources } from '../../../kinds/builtin-resources.ts';
import { apiVersionOf } from '../../../meta/group-version-kind.ts';
import type { KubeObject } from '../../../meta/object-meta.ts';
import { applyDefaults } from '../../defaults/defaults.ts';
import { validateKeysOnce } from '../../fields/matched-label-keys.ts';
import { decodeTyped } from '../../decoding/typed-decoding.ts';
import { validateBuiltin, validateBuiltinUpdate } from '../validate-builtin.ts';
import { validateMounts } from './validate-mounts.ts';

type Json = Record<string, unknown>;

/** Findings about a new object. An update may repeat any stored value. */
function findings(kind: string, fields: Json): string[] {
  const info = builtinResources().find((row) => row.kind === kind);
  if (info === undefined) throw new Error(`no kind ${kind}`);
  const prepare = (): KubeObject => {
    const apiVersion = apiVersionOf(info);
    const { object } = decodeTyped({ apiVersion, kind, ...copyJson(fields) } as KubeObject, info.typeName ?? '');
    applyDefaults(object, apiVersion, kind);
    return object;
  };
  const created = validateBuiltin(prepare(), info).map(formatFieldError);
  const updated = validateBuiltinUpdate(prepare(), prepare(), info).map(formatFieldError);
  expect(updated).toEqual([]);
  return created;
}

const C = { name: 'c', image: 'i' };
const container = (fields: Json): Json => ({ containers: [{ ...C, ...fields }] });
const probe = (fields: Json): Json => container({ readinessProbe: { httpGet: { port: 80 }, ...fields } });
const volume = (fields: Json): Json => ({ containers: [C], volumes: [{ name: 'v', ...fields }] });
const nodes = (term: Json): Json => ({
  containers: [C],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term } },
});
const NODE_TERMS = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
const resources = (limits: Json, requests: Json): Json => container({ resources: { limits, requests } });

/** `[what, spec of the pod, findings without the path of the spec]`. */
const REFUSED: readonly (readonly [string, Json, readonly string[]])[] = [
  // Resources
  [
    'more requested than allowed',
    resources({ cpu: '1' }, { cpu: '2' }),
    ['containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    'more requested than allowed by one digit',
    resources({ memory: '9Mi' }, { memory: '10Mi' }),
    ['containers[0].resources.requests: Invalid value: "10Mi": must be less than or equal to memory limit of 9Mi'],
  ],
  [
    'more requested than allowed in other words',
    resources({ cpu: '1500m', memory: '1Gi' }, { cpu: '2', memory: '1500Mi' }),
    [
      'containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1500m',
      'containers[0].resources.requests: Invalid value: "1500Mi": must be less than or equal to memory limit of 1Gi',
    ],
  ],
  [
    'a negative request',
    resources({}, { cpu: '-1' }),
    ['containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    'a resource of nobody',
    resources({}, { gpu: '1' }),
    [
      'containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type or fully qualified',
      'containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
    ],
  ],
  [
    'half a device',
    resources({ 'example.com/gpu': '500m' }, { 'example.com/gpu': '500m' }),
    [
      'containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
      'containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
    ],
  ],
  [
    'a device that is only requested',
    resources({}, { 'example.com/gpu': '1' }),
    ['containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    'fewer devices requested than allowed',
    resources({ 'example.com/gpu': '2' }, { 'example.com/gpu': '1' }),
    ['containers[0].resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
  ],
  [
    'pages that do not fit',
    resources({ cpu: '1', 'hugepages-2Mi': '3Mi' }, { cpu: '1', 'hugepages-2Mi': '3Mi' }),
    [
      'containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    ],
  ],
  [
    'pages and nothing else',
    resources({ 'hugepages-2Mi': '4Mi' }, { 'hugepages-2Mi': '4Mi' }),
    ['containers[0].resources: Forbidden: HugePages require cpu or memory'],
  ],
  [
    'a claim that the pod does not have',
    container({ resources: { claims: [{ name: 'x' }] } }),
    [
      'containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ],
  [
    'more claims that the pod does not have than are told',
    {
      containers: [0, 1].map((n) => ({
        ...C,
        name: `c${n}`,
        resources: { claims: Array.from({ length: 7 }, (_, i) => ({ name: `x${i}` })) },
      })),
      resourceClaims: ['z', 'a'].map((name) => ({ name, resourceClaimName: 'r' })),
    },
    [0, 1].flatMap((n) =>
      Array.from(
        { length: n === 0 ? 7 : 3 },
        (_, i) =>
          `containers[${n}].resources.claims[${i}]: Not found: "x${i}": must be one of the names in pod.spec.resourceClaims: a, z`,
      ),
    ),
  ],
  // Containers
  ['an empty image', container({ image: '' }), ['containers[0].image: Required value']],
  ['two of a name', { containers: [C, C] }, ['containers[1].name: Duplicate value: "c"']],
  [
    'a name of a port',
    container({ ports: [{ containerPort: 1, name: 'Web_1' }] }),
    [
      'containers[0].ports[0].name: Invalid value: "Web_1": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    ],
  ],
  [
    'two ports of a name',
    container({
      ports: [
        { containerPort: 1, name: 'a' },
        { containerPort: 2, name: 'a' },
      ],
    }),
    ['containers[0].ports[1].name: Duplicate value: "a"'],
  ],
  [
    'a port of the node twice',
    container({
      ports: [
        { containerPort: 1, hostPort: 8 },
        { containerPort: 2, hostPort: 8 },
      ],
    }),
    ['containers[0].ports[1].hostPort: Duplicate value: "TCP//8"'],
  ],
  [
    'a protocol',
    container({ ports: [{ containerPort: 1, protocol: 'ICMP' }] }),
    ['containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'ports that differ on the network of the node',
    { ...container({ ports: [{ containerPort: 1, hostPort: 2 }] }), hostNetwork: true },
    ['containers[0].ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is true'],
  ],
  [
    'a restart policy of a container',
    container({ restartPolicy: 'Sometimes' }),
    ['containers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'],
  ],
  [
    'a probe of a container that ends',
    { containers: [C], initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['x'] } } }] },
    ['initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always'],
  ],
  // Environment
  [
    'a value from two places',
    container({ env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    ['containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    'two sources',
    container({
      env: [
        {
          name: 'A',
          valueFrom: { configMapKeyRef: { name: 'm', key: 'k' }, secretKeyRef: { name: 's', key: 'k' } },
        },
      ],
    }),
    ['containers[0].env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
  ],
  [
    'no source',
    container({ env: [{ name: 'A', valueFrom: {} }] }),
    [
      'containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    ],
  ],
  [
    'a field nobody knows',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.image' } } }] }),
    [
      'containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.image": error converting fieldPath: field label not supported: spec.image',
    ],
  ],
  [
    'a field that is no variable',
    container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }] }),
    [
      'containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ],
  ],
  [
    'a resource nobody has',
    container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'cpu' } } }] }),
    [
      'containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "cpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ],
  ],
  [
    'a divisor',
    container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } }] }),
    [
      `containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`,
    ],
  ],
  [
    'the name of a variable',
    container({ env: [{ name: 'A=B' }] }),
    [
      `containers[0].env[0].name: Invalid value: "A=B": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    ],
  ],
  [
    'the environment from nowhere',
    container({ envFrom: [{}] }),
    ['containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
  ],
  [
    'the environment from something without a name',
    container({ envFrom: [{ secretRef: {} }] }),
    ['containers[0].envFrom[0].secretRef.name: Required value'],
  ],
  // Handlers
  [
    'a probe of nothing',
    container({ livenessProbe: {} }),
    ['containers[0].livenessProbe: Required value: must specify a handler type'],
  ],
  [
    'a probe of two things',
    probe({ exec: { command: ['x'] } }),
    ['containers[0].readinessProbe.httpGet: Forbidden: may not specify more than 1 handler type'],
  ],
  [
    'a probe of port 0',
    probe({ httpGet: { port: 0 } }),
    ['containers[0].readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive'],
  ],
  [
    'a probe of a port without a good name',
    probe({ httpGet: { port: '80-' } }),
    [
      'containers[0].readinessProbe.httpGet.port: Invalid value: "80-": must contain at least one letter (a-z)',
      'containers[0].readinessProbe.httpGet.port: Invalid value: "80-": must not begin or end with a hyphen',
    ],
  ],
  [
    'a scheme',
    probe({ httpGet: { port: 1, scheme: 'ftp' } }),
    ['containers[0].readinessProbe.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"'],
  ],
  [
    'an empty command',
    container({ livenessProbe: { exec: {} } }),
    ['containers[0].livenessProbe.exec.command: Required value'],
  ],
  [
    'numbers of a probe',
    probe({ periodSeconds: -1, failureThreshold: -2 }),
    [
      'containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
      'containers[0].readinessProbe.failureThreshold: Invalid value: -2: must be greater than or equal to 0',
    ],
  ],
  [
    'a container that must live twice',
    container({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
    ['containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1'],
  ],
  [
    'nothing before it stops',
    container({ lifecycle: { preStop: {} } }),
    ['containers[0].lifecycle.preStop: Required value: must specify a handler type'],
  ],
  [
    'a sleep that is too long',
    container({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }),
    [
      'containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ],
  ],
  // Volumes
  [
    'two sources of a volume',
    volume({ emptyDir: {}, configMap: { name: 'm' } }),
    ['volumes[0].configMap: Forbidden: may not specify more than 1 volume type'],
  ],
  ['a ConfigMap without a name', volume({ configMap: {} }), ['volumes[0].configMap.name: Required value']],
  ['a Secret without a name', volume({ secret: {} }), ['volumes[0].secret.secretName: Required value']],
  [
    'a claim without a name',
    volume({ persistentVolumeClaim: {} }),
    ['volumes[0].persistentVolumeClaim.claimName: Required value'],
  ],
  [
    'permissions',
    volume({ secret: { secretName: 's', defaultMode: 512 } }),
    ['volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive'],
  ],
  [
    'a file outside',
    volume({ configMap: { name: 'm', items: [{ key: 'k', path: '../x' }] } }),
    [`volumes[0].configMap.items[0].path: Invalid value: "../x": must not contain '..'`],
  ],
  [
    'a sort of path',
    volume({ hostPath: { path: '/x', type: 'Link' } }),
    [
      'volumes[0].hostPath.type: Unsupported value: "Link": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    'two projections in one, and a file twice',
    volume({
      projected: {
        sources: [
          { secret: { name: 's', items: [{ key: 'k', path: 'f' }] }, configMap: { name: 'm' } },
          { configMap: { name: 'm', items: [{ key: 'k', path: 'f' }] } },
        ],
      },
    }),
    [
      'volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source',
      'volumes[0].projected: Invalid value: "m": conflicting duplicate paths',
    ],
  ],
  [
    'a token for too short',
    volume({ projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 599 } }] } }),
    [
      'volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
  ],
  [
    'a claim for each pod that asks for nothing',
    volume({ ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'] } } } }),
    ['volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value'],
  ],
  [
    'a mount of a volume with something wrong',
    { ...volume({ secret: {} }), ...container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }) },
    ['volumes[0].secret.secretName: Required value', 'containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    'a path out of a volume',
    { ...volume({ emptyDir: {} }), ...container({ volumeMounts: [{ name: 'v', mountPath: '/v', subPath: '/a/..' }] }) },
    [
      'containers[0].volumeMounts.subPath: Invalid value: "/a/..": must be a relative path',
      `containers[0].volumeMounts.subPath: Invalid value: "/a/..": must not contain '..'`,
    ],
  ],
  [
    'a directory as a device',
    { ...volume({ emptyDir: {} }), ...container({ volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] }) },
    [
      'containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    ],
  ],
  // The user of the process
  [
    'negative ids',
    { ...container({ securityContext: { runAsUser: -1 } }), securityContext: { fsGroup: -1, runAsGroup: -2 } },
    [
      'containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'securityContext.runAsGroup: Invalid value: -2: must be between 0 and 2147483647, inclusive',
    ],
  ],
  [
    'all and no privileges',
    container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    [
      'containers[0].securityContext: Invalid value: {"privileged":true,"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ],
  [
    'a profile without a name',
    { containers: [C], securityContext: { seccompProfile: { type: 'Localhost' } } },
    ['securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost'],
  ],
  [
    'a profile without a type',
    { containers: [C], securityContext: { seccompProfile: {} } },
    ['securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set'],
  ],
  // The choice of the node
  [
    'no terms',
    nodes({ nodeSelectorTerms: [] }),
    [`${NODE_TERMS}: Required value: must have at least one node selector term`],
  ],
  [
    'an operator',
    nodes({ nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Near' }] }] }),
    [`${NODE_TERMS}[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`],
  ],
  [
    'greater than two values',
    nodes({ nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1', '2'] }] }] }),
    [
      `${NODE_TERMS}[0].matchExpressions[0].values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`,
    ],
  ],
  [
    'another field of the node',
    nodes({ nodeSelectorTerms: [{ matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }] }] }),
    [`${NODE_TERMS}[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key`],
  ],
  [
    'a weight',
    {
      containers: [C],
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: 'a' } }],
        },
      },
    },
    [
      'affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100',
    ],
  ],
  [
    'pods of nowhere',
    {
      containers: [C],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] } },
    },
    [
      'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty',
      'affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty',
      `affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ],
  ],
  [
    'a toleration of some value of everything',
    { containers: [C], tolerations: [{ value: 'x' }] },
    [
      'tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'a toleration for a while of what evicts nobody',
    { containers: [C], tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }] },
    [
      `tolerations[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
    ],
  ],
  [
    'pods spread over nothing',
    { containers: [C], topologySpreadConstraints: [{ topologyKey: 'z', whenUnsatisfiable: 'Cry' }] },
    [
      'topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Cry": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    'a key that is matched twice',
    {
      containers: [C],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          matchLabelKeys: ['h'],
          labelSelector: { matchLabels: { h: '1' }, matchExpressions: [{ key: 'h', operator: 'In', values: ['1'] }] },
        },
      ],
    },
    [
      'topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "h": exists in both matchLabelKeys and labelSelector',
    ],
  ],
  // All other fields
  [
    'a name for no address',
    { containers: [C], hostAliases: [{ ip: 'localhost', hostnames: ['a'] }] },
    ['hostAliases[0].ip: Invalid value: "localhost": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    'an operating system',
    { containers: [C], os: { name: 'plan9' } },
    ['os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  ],
  [
    'no resolver',
    { containers: [C], dnsPolicy: 'None' },
    ['dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  ],
  [
    'an unknown resolver',
    { containers: [C], dnsPolicy: 'Mine' },
    [
      'dnsPolicy: Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  ],
  [
    'an address with four servers',
    { containers: [C], dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } },
    [
      'dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
    ],
  ],
  [
    'users of its own on the network of the node',
    { containers: [C], hostUsers: false, hostPID: true },
    ['HostPID: Forbidden: when `hostUsers` is false'],
  ],
];

/** Kinds with a pod template, and its path. Kinds that run to completion need another restart policy. */
const TEMPLATES: readonly (readonly [kind: string, path: string, wrap: (template: Json) => Json])[] = [
  ['PodTemplate', 'template.spec', (template) => ({ template })],
  ['ReplicationController', 'spec.template.spec', (template) => ({ spec: { selector: { app: 'x' }, template } })],
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map(
    (kind) =>
      [
        kind,
        'spec.template.spec',
        (template: Json) => ({ spec: { serviceName: 's', selector: { matchLabels: { app: 'x' } }, template } }),
      ] as const,
  ),
  ['Job', 'spec.template.spec', (template) => ({ spec: { selector: { matchLabels: { app: 'x' } }, template } })],
  [
    'CronJob',
    'spec.jobTemplate.spec.template.spec',
    (template) => ({ spec: { schedule: '@daily', jobTemplate: { spec: { template } } } }),
  ],
];
const RUNS_TO_END = new Set(['Job', 'CronJob']);

function inTemplate(kind: string, wrap: (template: Json) => Json, spec: Json): Json {
  const restartPolicy = RUNS_TO_END.has(kind) ? 'Never' : 'Always';
  const template = { metadata: { labels: { app: 'x' } }, spec: { restartPolicy, ...spec } };
  return { metadata: { name: 'w' }, ...wrap(template) };
}

describe('what no pod may be', () => {
  it.each(REFUSED)('API-502 %s', (_, spec, expected) => {
    const found = findings('Pod', { metadata: { name: 'p' }, spec });
    expect(found.toSorted()).toEqual(expected.map((text) => `spec.${text}`).toSorted());
  });

  it.each(TEMPLATES)('API-502 a %s makes none of them', (kind, path, wrap) => {
    for (const [, spec, expected] of REFUSED) {
      const found = findings(kind, inTemplate(kind, wrap, spec));
      expect(found.toSorted()).toEqual(expected.map((text) => `${path}.${text}`).toSorted());
    }
  });

  it('API-502 spaces around an image are for templates only', () => {
    const spec = container({ image: ' ' });
    expect(findings('Pod', { metadata: { name: 'p' }, spec })).toEqual([
      'spec.containers[0].image: Invalid value: " ": must not have leading or trailing whitespace',
    ]);
    for (const [kind, , wrap] of TEMPLATES) expect(findings(kind, inTemplate(kind, wrap, spec))).toEqual([]);
  });

  it('API-502 a container for debugging comes later', () => {
    const spec = { containers: [C], ephemeralContainers: [{ name: 'd', image: 'i' }] };
    expect(findings('Pod', { spec })).toEqual(['spec.ephemeralContainers: Forbidden: cannot be set on create']);
    expect(findings('PodTemplate', { template: { spec } })).toEqual([
      'template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ]);
  });

  it('API-502 a container for debugging has no duties', () => {
    const debug = {
      name: 'd',
      image: 'i',
      targetContainerName: 'x',
      ports: [{ containerPort: 1 }],
      livenessProbe: { exec: { command: ['x'] } },
    };
    expect(findings('Pod', { spec: { containers: [C], ephemeralContainers: [debug] } })).toEqual(
      expect.arrayContaining([
        'spec.ephemeralContainers[0].targetContainerName: Not found: "x"',
        'spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
        'spec.ephemeralContainers[0].livenessProbe: Forbidden: cannot be set for an Ephemeral Container',
      ]),
    );
  });

  it('API-502 a gated pod has no node', () => {
    const spec = { containers: [C], nodeName: 'n', schedulingGates: [{ name: 'g' }] };
    expect(findings('Pod', { spec })).toEqual([
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
    ]);
  });
});

/** Every field is unusual but valid. */
const RICH: Json = {
  restartPolicy: 'Never',
  dnsPolicy: 'None',
  dnsConfig: {
    nameservers: ['fd00::1'],
    searches: ['_srv.example.com', '.'],
    options: [{ name: 'ndots', value: '2' }],
  },
  hostAliases: [{ ip: '127.0.0.1', hostnames: ['a.b'] }],
  os: { name: 'linux' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  terminationGracePeriodSeconds: -1,
  overhead: { cpu: '10m' },
  readinessGates: [{ conditionType: 'example.com/ready' }],
  resourceClaims: [{ name: 'r', resourceClaimName: 'rc' }],
  securityContext: {
    runAsUser: 0,
    fsGroupChangePolicy: 'OnRootMismatch',
    supplementalGroups: [0, 5],
    sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }],
    seccompProfile: { type: 'Localhost', localhostProfile: 'a/b.json' },
    appArmorProfile: { type: 'Unconfined' },
  },
  tolerations: [{ operator: 'Exists' }, { key: 'a/b', value: 'c', effect: 'NoExecute', tolerationSeconds: -5 }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      minDomains: 2,
      labelSelector: {},
      matchLabelKeys: ['h'],
    },
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {},
          {
            matchExpressions: [{ key: 'n', operator: 'Gt', values: ['5'] }],
            matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }],
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, preference: { matchExpressions: [{ key: 'a', operator: 'In', values: ['no label value!'] }] } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: {}, namespaces: ['a'] } },
      ],
    },
  },
  volumes: [
    { name: 'nothing' },
    { name: 'cm', configMap: { name: 'm', defaultMode: 0o777, items: [{ key: 'k', path: 'a/b', mode: 0 }] } },
    { name: 'dw', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: "metadata.labels['app']" } }] } },
    {
      name: 'all',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token' } },
          {
            downwardAPI: {
              items: [{ path: 'c', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '1m' } }],
            },
          },
          { configMap: { name: 'ca', optional: true } },
        ],
      },
    },
    { name: 'host', hostPath: { path: '/', type: '' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'p' } },
    {
      name: 'own',
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
    { name: 'img', image: { reference: 'r' } },
    { name: 'drv', csi: { driver: 'secrets-store.csi.k8s.io' } },
  ],
  initContainers: [
    { name: 'side', image: 'i', restartPolicy: 'Always', startupProbe: { grpc: { port: 1 } } },
    { name: 'first', image: 'registry:5000/a/b@sha256:0123', resources: { requests: { cpu: null } } },
  ],
  containers: [
    {
      name: 'c',
      image: 'i',
      resources: {
        limits: { cpu: '1', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi', 'ephemeral-storage': '1.5Gi' },
        requests: { cpu: '1000m', memory: '1e3', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' },
        claims: [
          { name: 'r', request: 'a' },
          { name: 'r', request: 'b' },
        ],
      },
      ports: [
        { containerPort: 53, name: 'dns', hostPort: 53 },
        { containerPort: 53, name: 'dns-udp', protocol: 'UDP', hostPort: 53 },
        { containerPort: 53 },
      ],
      env: [
        { name: 'with space', value: '' },
        { name: '9', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['Example.com/A']" } } },
        { name: 'L', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi', divisor: '1Mi' } } },
        { name: 'N', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
      ],
      envFrom: [{ prefix: 'P_', secretRef: { name: 's' } }, { configMapRef: { name: 'm', optional: true } }],
      livenessProbe: {
        httpGet: { path: '/', port: 'dns', httpHeaders: [{ name: 'X-A', value: '' }] },
        initialDelaySeconds: 0,
      },
      readinessProbe: { tcpSocket: { port: 65535 }, successThreshold: 3 },
      lifecycle: { postStart: { exec: { command: ['true'] } }, preStop: { httpGet: { port: 1 } } },
      securityContext: { privileged: true, runAsUser: 2147483647, procMount: 'Default' },
      volumeMounts: [
        { name: 'nothing', mountPath: '/n', subPathExpr: '$(POD)/x', mountPropagation: 'Bidirectional' },
        { name: 'nothing', mountPath: '/m', subPath: 'a..b', readOnly: true, recursiveReadOnly: 'IfPossible' },
        { name: 'all', mountPath: 'relative' },
        { name: 'host', mountPath: '/h:ro' },
      ],
      volumeDevices: [{ name: 'claim', devicePath: '/dev/x' }],
    },
  ],
};

describe('what pods may be', () => {
  it.each([
    ['cpu', '100m', '200m'],
    ['cpu', '900m', '1'],
    ['memory', '9Mi', '10Mi'],
    ['memory', '1000Mi', '1Gi'],
    ['memory', '8Ei', '9Ei'],
  ])('API-502 a request of %s of %s within %s', (name, request, limit) => {
    expect(findings('Pod', { spec: resources({ [name]: limit }, { [name]: request }) })).toEqual([]);
  });

  it('API-502 much that is unusual', () => {
    expect(
      findings('Pod', { metadata: { name: 'p' }, spec: { ...RICH, schedulingGates: [{ name: 'a.b/c' }] } }),
    ).toEqual([]);
  });

  it.each(TEMPLATES)('API-502 in a %s too', (kind, _, wrap) => {
    const { restartPolicy: _policy, ...spec } = RICH;
    expect(findings(kind, inTemplate(kind, wrap, spec))).toEqual([]);
  });
});

describe('lists as long as a request has place for', () => {
  const texts = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

  it('API-502 keys of labels that are matched twice', () => {
    const matchExpressions = texts('x', 100_000).map((key) => ({ key, operator: 'Exists' }));
    const term = { matchLabelKeys: [...texts('k', 100_000), 'x7'], labelSelector: { matchExpressions } };
    const twice = { ...term, labelSelector: { matchExpressions, matchLabels: { x7: '' } } };
    expect(validateKeysOnce(term, 'p')).toEqual([]);
    expect(validateKeysOnce(twice, 'p').map(formatFieldError)).toEqual([
      'p[100000]: Invalid value: "x7": exists in both matchLabelKeys and labelSelector',
    ]);
  });

  it('API-502 mounts and devices of one container', () => {
    const names = texts('v', 100_000);
    const volumes = new Map(names.map((name) => [name, { name, persistentVolumeClaim: { claimName: 'c' } }]));
    const overlapping = {
      volumeMounts: names.slice(0, 50_000).map((name) => ({ name, mountPath: `/m/${name}` })),
      volumeDevices: names.slice(49_999).map((name) => ({ name, devicePath: `/d/${name}` })),
    };
    expect(validateMounts(overlapping, volumes, 'c').map(formatFieldError)).toEqual([
      'c.volumeMounts[49999].name: Invalid value: "v49999": must not already exist in volumeDevices',
      'c.volumeDevices[0].name: Invalid value: "v49999": must not already exist in volumeMounts',
    ]);
  });
});
