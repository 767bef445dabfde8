import { describe, expect, it } from 'vitest';

import { copyJson } from '../../codec/json/json-value.ts';
import { formatFieldError } from '../../field-error.ts';
import { builtinResources } from '../../kinds/builtin-resources.ts';
import { apiVersionOf } from '../../meta/group-version-kind.ts';
import type { KubeObject } from '../../meta/object-meta.ts';
import { applyDefaults } from '../defaults/defaults.ts';
import { decodeTyped } from '../decoding/typed-decoding.ts';
import { validateBuiltin, validateBuiltinUpdate } from './validate-builtin.ts';

type Json = Record<string, unknown>;

function infoOf(kind: string): ReturnType<typeof builtinResources>[number] {
  const info = builtinResources().find((row) => row.kind === kind);
  if (info === undefined) throw new Error(`no kind ${kind}`);
  return info;
}

function prepared(kind: string, fields: Json): KubeObject {
  const info = infoOf(kind);
  const apiVersion = apiVersionOf(info);
  const { object } = decodeTyped({ apiVersion, kind, ...copyJson(fields) } as KubeObject, info.typeName ?? '');
  applyDefaults(object, apiVersion, kind);
  return object;
}

function created(kind: string, fields: Json): string[] {
  return validateBuiltin(prepared(kind, fields), infoOf(kind)).map(formatFieldError);
}

function updated(kind: string, previous: Json, next: Json): string[] {
  return validateBuiltinUpdate(prepared(kind, next), prepared(kind, previous), infoOf(kind)).map(formatFieldError);
}

const MANY_SCOPES = Array.from({ length: 50_000 }, (_, n) => `s${n}`);
const template = (podFields: Json = {}): Json => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...podFields },
});
const workload = (fields: Json = {}): Json => ({
  metadata: { name: 'w' },
  spec: { selector: { matchLabels: { app: 'x' } }, template: template(), ...fields },
});
const rolling = (rollingUpdate: Json): Json => workload({ strategy: { rollingUpdate } });
const daemonRolling = (rollingUpdate: Json): Json => workload({ updateStrategy: { rollingUpdate } });
const job = (fields: Json = {}): Json => workload({ template: template({ restartPolicy: 'Never' }), ...fields });
const cron = (fields: Json = {}): Json => ({
  metadata: { name: 'c' },
  spec: {
    schedule: '@daily',
    jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } },
    ...fields,
  },
});
const failureRule = (rule: Json): Json => job({ podFailurePolicy: { rules: [rule] } });
const scaler = (fields: Json = {}): Json => ({
  spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' }, ...fields },
});
const service = (fields: Json = {}): Json => ({ spec: { ports: [{ port: 80 }], ...fields } });
const ingress = (...paths: Json[]): Json => ({ spec: { rules: [{ host: 'a.b', http: { paths } }] } });
const backend = { service: { name: 's', port: { number: 80 } } };
const policy = (rule: Json): Json => ({ spec: { podSelector: {}, ingress: [rule] } });
const claim = (fields: Json = {}): Json => ({
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...fields },
});
const pv = (fields: Json = {}): Json => ({
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, ...fields },
});
const quota = (fields: Json): Json => ({ spec: fields });
const limits = (...items: Json[]): Json => ({ spec: { limits: items } });
const metric = (fields: Json): Json => scaler({ metrics: [fields] });
const cpu = (target: Json): Json => metric({ type: 'Resource', resource: { name: 'cpu', target } });

const PERCENT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

describe('what is refused', () => {
  it.each<[string, string, Json, string[]]>([
    [
      'a share that is none',
      'Deployment',
      rolling({ maxSurge: 'x', maxUnavailable: 1 }),
      [`spec.strategy.rollingUpdate.maxSurge: Invalid value: "x": ${PERCENT}`],
    ],
    [
      'a negative number of pods',
      'Deployment',
      rolling({ maxSurge: -1, maxUnavailable: 1 }),
      ['spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'more than all',
      'Deployment',
      rolling({ maxSurge: '101%', maxUnavailable: '101%' }),
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      'negative seconds',
      'Deployment',
      workload({ minReadySeconds: -1 }),
      ['spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'more pods and fewer',
      'DaemonSet',
      daemonRolling({ maxSurge: 1, maxUnavailable: 1 }),
      ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero'],
    ],
    [
      'neither more pods nor fewer',
      'DaemonSet',
      daemonRolling({ maxSurge: 0, maxUnavailable: '0%' }),
      ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
    ],
    [
      'a negative partition',
      'StatefulSet',
      workload({ updateStrategy: { rollingUpdate: { partition: -1 } } }),
      ['spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'what becomes of claims',
      'StatefulSet',
      workload({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep', whenScaled: 'Retain' } }),
      [
        'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"',
      ],
    ],
    [
      'a template of a claim for nothing',
      'StatefulSet',
      workload({ volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }] }),
      ['spec.volumeClaimTemplates[0].spec.resources[storage]: Required value'],
    ],
    [
      'negative numbers of a job',
      'Job',
      job({ parallelism: -1, completions: -2, backoffLimit: -3 }),
      [
        'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
        'spec.completions: Invalid value: -2: must be greater than or equal to 0',
        'spec.backoffLimit: Invalid value: -3: must be greater than or equal to 0',
      ],
    ],
    [
      'a name that an index makes too long',
      'Job',
      { ...job({ completionMode: 'Indexed', completions: 11 }), metadata: { name: 'x'.repeat(61) } },
      [
        `metadata.name: Invalid value: "${'x'.repeat(61)}": will not able to create pod with invalid DNS label: ${'x'.repeat(61)}-10`,
      ],
    ],
    [
      'somebody without a domain',
      'Job',
      job({ managedBy: 'me' }),
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'a failure of nothing',
      'Job',
      failureRule({ action: 'Ignore' }),
      ['spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required'],
    ],
    [
      'exit codes',
      'Job',
      failureRule({ action: 'FailJob', onExitCodes: { operator: 'In', values: [2, 0, 2], containerName: 'x' } }),
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "x": must be one of the container or initContainer names in the pod template',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered',
      ],
    ],
    [
      'a schedule with a wrong hour',
      'CronJob',
      cron({ schedule: '0 24 * * *' }),
      ['spec.schedule: Invalid value: "0 24 * * *": end of range (24) above maximum (23): 24'],
    ],
    [
      'a time zone in the schedule',
      'CronJob',
      cron({ schedule: 'TZ=UTC 0 0 * * *' }),
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'a time zone nobody lives in',
      'CronJob',
      cron({ timeZone: 'Europe/Atlantis' }),
      ['spec.timeZone: Invalid value: "Europe/Atlantis": unknown time zone Europe/Atlantis'],
    ],
    [
      'what to do with two at once',
      'CronJob',
      cron({ concurrencyPolicy: 'Queue' }),
      ['spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      'a budget of too much',
      'PodDisruptionBudget',
      { spec: { minAvailable: '150%' } },
      ['spec.minAvailable: Invalid value: "150%": must not be greater than 100%'],
    ],
    [
      'a target without a name',
      'HorizontalPodAutoscaler',
      { spec: { maxReplicas: 0, scaleTargetRef: { kind: 'Deployment' } } },
      [
        'spec.scaleTargetRef.name: Required value',
        'spec.maxReplicas: Invalid value: 0: must be greater than 0',
        'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      ],
    ],
    [
      'a metric of no type',
      'HorizontalPodAutoscaler',
      cpu({}),
      [
        'spec.metrics[0].resource.target.type: Required value: must specify a metric target type',
        'spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue',
        'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
      ],
    ],
    [
      'a metric of another type',
      'HorizontalPodAutoscaler',
      metric({ type: 'Pods', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }),
      ['spec.metrics[0].pods: Required value: must populate information for the given metric source'],
    ],
    [
      'no use of the processor',
      'HorizontalPodAutoscaler',
      cpu({ type: 'Utilization', averageUtilization: 0 }),
      ['spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0'],
    ],
    [
      'no policy of scaling',
      'HorizontalPodAutoscaler',
      scaler({ behavior: { scaleDown: { stabilizationWindowSeconds: 3601, policies: [{ type: 'Pods', value: 1 }] } } }),
      [
        'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
        'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be greater than zero',
      ],
    ],
    [
      'a port out of range',
      'Service',
      service({ ports: [{ port: 65536, targetPort: 'no good name for it' }] }),
      [
        'spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive',
        'spec.ports[0].targetPort: Invalid value: "no good name for it": must be no more than 15 characters',
        'spec.ports[0].targetPort: Invalid value: "no good name for it": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
    ],
    [
      'a type',
      'Service',
      service({ type: 'Public' }),
      [
        'spec.type: Unsupported value: "Public": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      ],
    ],
    [
      'an address that is none',
      'Service',
      service({ clusterIP: 'x', clusterIPs: ['x'] }),
      ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [
      'two addresses of a family',
      'Service',
      service({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'] }),
      ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family'],
    ],
    [
      'no address on the nodes',
      'Service',
      service({ type: 'NodePort', clusterIP: 'None' }),
      [`spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`],
    ],
    [
      'how clients are kept',
      'Service',
      service({ sessionAffinity: 'Sticky' }),
      ['spec.sessionAffinity: Unsupported value: "Sticky": supported values: "ClientIP", "None"'],
    ],
    [
      'clients that are kept for two days',
      'Service',
      service({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 172800 } } }),
      [
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 172800: must be greater than 0 and less than 86400',
      ],
    ],
    [
      'the same port of the node twice',
      'Service',
      service({
        type: 'NodePort',
        ports: [
          { name: 'a', port: 1, nodePort: 30000 },
          { name: 'b', port: 2, nodePort: 30000 },
        ],
      }),
      ['spec.ports[1].nodePort: Duplicate value: 30000'],
    ],
    [
      'what only a balancer can',
      'Service',
      service({ loadBalancerSourceRanges: ['10.0.0.0/33'], externalTrafficPolicy: 'Local' }),
      [
        "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
      ],
    ],
    [
      'an address of everybody',
      'Service',
      service({ externalIPs: ['127.0.0.1'] }),
      ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
    ],
    [
      'no rules',
      'Ingress',
      { spec: {} },
      ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'no path type',
      'Ingress',
      ingress({ path: '/', backend }),
      ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    ],
    [
      'a relative path',
      'Ingress',
      ingress({ path: 'a//b', pathType: 'Prefix', backend }),
      [
        'spec.rules[0].http.paths[0].path: Invalid value: "a//b": must be an absolute path',
        `spec.rules[0].http.paths[0].path: Invalid value: "a//b": must not contain '//'`,
      ],
    ],
    [
      'a backend without a port',
      'Ingress',
      ingress({ path: '/', pathType: 'Exact', backend: { service: { name: 's' } } }),
      ['spec.rules[0].http.paths[0].backend: Required value: port name or number is required'],
    ],
    [
      'no backend',
      'Ingress',
      ingress({ path: '/', pathType: 'Exact', backend: {} }),
      ['spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'],
    ],
    [
      'an address as host',
      'Ingress',
      { spec: { defaultBackend: backend, rules: [{ host: '10.0.0.1' }] } },
      ['spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address'],
    ],
    [
      'a class said twice',
      'Ingress',
      {
        metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } },
        spec: { ingressClassName: 'a', defaultBackend: backend },
      },
      ['annotations.kubernetes.io/ingress.class: Invalid value: "a": can not be set when the class field is also set'],
    ],
    [
      'a controller without a domain',
      'IngressClass',
      { spec: { controller: 'nginx' } },
      ['spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'no peer',
      'NetworkPolicy',
      policy({ from: [{}] }),
      ['spec.ingress[0].from[0]: Required value: must specify a peer'],
    ],
    [
      'a network and pods',
      'NetworkPolicy',
      policy({ from: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/9'] } }] }),
      [
        'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a strict subset of `cidr`',
        'spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
      ],
    ],
    [
      'ports backwards',
      'NetworkPolicy',
      policy({ ports: [{ port: 90, endPort: 80 }, { port: 'http', endPort: 80 }, { endPort: 80 }] }),
      [
        'spec.ingress[0].ports[0].endPort: Invalid value: 90: must be greater than or equal to `port`',
        'spec.ingress[0].ports[1].endPort: Invalid value: 80: may not be specified when `port` is non-numeric',
        'spec.ingress[0].ports[2].endPort: Invalid value: 80: may not be specified when `port` is not specified',
      ],
    ],
    [
      'a copy of what cannot be copied',
      'PersistentVolumeClaim',
      claim({ dataSource: { kind: 'Secret', name: 's' } }),
      [
        `spec.dataSource: Invalid value: "Secret": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
      ],
    ],
    [
      'a disk of nowhere',
      'PersistentVolume',
      { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, local: { path: '/x' } } },
      ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
    ],
    [
      'more than storage',
      'PersistentVolume',
      pv({ capacity: { storage: '1Gi', cpu: '1' } }),
      ['spec.capacity: Unsupported value: {"storage":"1Gi","cpu":"1"}: supported values: "storage"'],
    ],
    [
      'a quota of what nobody counts',
      'ResourceQuota',
      quota({ hard: { gpus: '1', pods: '1500m' } }),
      [
        'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource type or fully qualified',
        'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource for quota',
        'spec.hard[pods]: Invalid value: "1500m": must be an integer',
      ],
    ],
    [
      'pods that have and have not',
      'ResourceQuota',
      quota({ hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort'] }),
      ['spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'],
    ],
    [
      'a scope that does not count it',
      'ResourceQuota',
      quota({ hard: { secrets: '1' }, scopes: ['BestEffort'] }),
      ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
    ],
    [
      'a scope that there is not, and one that counts neither of two resources',
      'ResourceQuota',
      quota({ hard: { secrets: '1', services: '1', pods: '1' }, scopes: ['x', 'y', 'BestEffort'] }),
      [
        'spec.scopes: Invalid value: ["x","y","BestEffort"]: unsupported scope',
        'spec.scopes: Invalid value: ["x","y","BestEffort"]: unsupported scope applied to resource',
      ],
    ],
    [
      'as many scopes as an object has place for',
      'ResourceQuota',
      quota({ hard: { secrets: '1' }, scopes: MANY_SCOPES }),
      [`spec.scopes: Invalid value: ${JSON.stringify(MANY_SCOPES)}: unsupported scope`],
    ],
    [
      'a limit of nothing',
      'LimitRange',
      limits({ type: 'Node' }, { type: 'Pod', default: { cpu: '1' } }, { type: 'PersistentVolumeClaim' }),
      [
        'spec.limits[0].type: Invalid value: "Node": must be a standard limit type or fully qualified',
        "spec.limits[1].default: Forbidden: may not be specified when `type` is 'Pod'",
        'spec.limits[2].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
    [
      'a minimum above the maximum',
      'LimitRange',
      limits({ type: 'Pod', min: { cpu: '2' }, max: { cpu: '1' } }),
      ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'],
    ],
    [
      'a default above the maximum',
      'LimitRange',
      limits({ type: 'Container', default: { cpu: '2' }, max: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
      ['spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1'],
    ],
  ])('API-502 %s', (_, kind, fields, expected) => {
    expect(created(kind, fields)).toEqual(expected);
  });
});

describe('what is fine', () => {
  it.each<[string, Json]>([
    ['Deployment', rolling({ maxSurge: '200%', maxUnavailable: 0 })],
    ['Deployment', workload({ replicas: 0, revisionHistoryLimit: 0, strategy: { type: 'Recreate' } })],
    ['DaemonSet', daemonRolling({ maxSurge: '10%', maxUnavailable: 0 })],
    ['DaemonSet', workload({ updateStrategy: { type: 'OnDelete' } })],
    ['StatefulSet', workload({ updateStrategy: { rollingUpdate: { partition: 0, maxUnavailable: '50%' } } })],
    ['StatefulSet', workload({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } })],
    ['Job', job({ completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 1 })],
    [
      'Job',
      job({ completionMode: 'Indexed', completions: 3, successPolicy: { rules: [{ succeededIndexes: '0-1' }] } }),
    ],
    ['Job', job({ managedBy: 'kueue.x-k8s.io/multikueue', suspend: true })],
    [
      'Job',
      job({
        podFailurePolicy: {
          rules: [
            { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [0, 42], containerName: 'c' } },
            { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
          ],
        },
      }),
    ],
    ['CronJob', cron({ schedule: '*/5 0-23/2 1,15 JAN-DEC mon', timeZone: 'America/New_York' })],
    ['CronJob', cron({ schedule: '@every 1h30m', timeZone: 'Etc/UTC', successfulJobsHistoryLimit: 0 })],
    ['PodDisruptionBudget', { spec: { maxUnavailable: '0%' } }],
    ['HorizontalPodAutoscaler', cpu({ type: 'Utilization', averageUtilization: 150 })],
    [
      'HorizontalPodAutoscaler',
      scaler({
        minReplicas: 3,
        behavior: { scaleDown: { selectPolicy: 'Disabled' }, scaleUp: { stabilizationWindowSeconds: 0 } },
        metrics: [
          {
            type: 'ContainerResource',
            containerResource: { name: 'cpu', container: 'c', target: { type: 'AverageValue', averageValue: '100m' } },
          },
          { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'Value', value: '30' } } },
          { type: 'Pods', pods: { metric: { name: 'a:b' }, target: { type: 'AverageValue', averageValue: '1k' } } },
          {
            type: 'Object',
            object: {
              describedObject: { kind: 'Ingress', name: 'i', apiVersion: 'networking.k8s.io/v1' },
              metric: { name: 'requests' },
              target: { type: 'Value', value: '2k' },
            },
          },
        ],
      }),
    ],
    [
      'Service',
      service({ type: 'LoadBalancer', loadBalancerClass: 'a.b/c', loadBalancerSourceRanges: [' 10.0.0.0/8 '] }),
    ],
    ['Service', service({ externalIPs: ['192.168.1.1'], externalTrafficPolicy: 'Local', sessionAffinity: 'ClientIP' })],
    [
      'Service',
      service({
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1', 'fd00::1'],
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
      }),
    ],
    [
      'Service',
      service({
        ports: [
          { name: 'dns', port: 53, targetPort: 'dns', appProtocol: 'kubernetes.io/h2c' },
          { name: 'dns-udp', port: 53, protocol: 'UDP' },
        ],
      }),
    ],
    ['Service', { spec: { type: 'ExternalName', externalName: 'my.database.example.com.', ports: [{ port: 1 }] } }],
    ['Ingress', { spec: { defaultBackend: backend } }],
    [
      'Ingress',
      {
        spec: {
          rules: [{ host: '*.example.com', http: { paths: [{ pathType: 'ImplementationSpecific', backend }] } }],
        },
      },
    ],
    ['Ingress', { spec: { defaultBackend: { resource: { apiGroup: 'a.b', kind: 'Bucket', name: 'x' } }, tls: [{}] } }],
    [
      'IngressClass',
      { spec: { controller: 'k8s.io/ingress-nginx', parameters: { kind: 'P', name: 'p', apiGroup: 'a.b' } } },
    ],
    [
      'NetworkPolicy',
      policy({
        from: [
          { podSelector: {}, namespaceSelector: {} },
          { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
        ],
        ports: [{}, { port: 'http' }, { port: 1000, endPort: 1000, protocol: 'SCTP' }],
      }),
    ],
    ['NetworkPolicy', policy({ from: [{ ipBlock: { cidr: 'fd00::/8', except: ['fd00:1::/32'] } }] })],
    [
      'PersistentVolumeClaim',
      claim({ storageClassName: '', volumeName: 'v', dataSource: { kind: 'PersistentVolumeClaim', name: 'c' } }),
    ],
    [
      'PersistentVolume',
      {
        spec: {
          accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
          capacity: { storage: '1Gi' },
          local: { path: '/x' },
          nodeAffinity: {
            required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] },
          },
        },
      },
    ],
    [
      'ResourceQuota',
      quota({
        hard: {
          'count/widgets.example.com': '5',
          'requests.nvidia.com/gpu': '4',
          'gold.storageclass.storage.k8s.io/requests.storage': '1Ti',
          'limits.cpu': '500m',
          'requests.hugepages-2Mi': '2Gi',
          'services.loadbalancers': '0',
        },
      }),
    ],
    [
      'ResourceQuota',
      quota({
        hard: { pods: '5', cpu: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
      }),
    ],
    [
      'LimitRange',
      limits(
        {
          type: 'Container',
          default: { cpu: '1' },
          defaultRequest: { cpu: '100m' },
          maxLimitRequestRatio: { cpu: '10' },
        },
        { type: 'PersistentVolumeClaim', max: { storage: '1Ti' } },
        { type: 'example.com/widget' },
      ),
    ],
  ])('API-502 %s', (kind, fields) => {
    expect(created(kind, fields)).toEqual([]);
    expect(updated(kind, fields, fields)).toEqual([]);
  });
});

describe('lists as long as a request can be', () => {
  it('API-502 exit codes', () => {
    const values = Array.from({ length: 400_000 }, (_, n) => 1 + n);
    expect(created('Job', failureRule({ action: 'FailJob', onExitCodes: { operator: 'In', values } }))).toEqual([
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 400000: must have at most 255 items',
    ]);
  });

  it('API-502 constraints of where pods go', () => {
    const one = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} };
    const topologySpreadConstraints = Array.from({ length: 60_000 }, (_, n) => ({ ...one, topologyKey: `k${n}` }));
    const spec = { containers: [{ name: 'c', image: 'i' }], topologySpreadConstraints };
    expect(created('Pod', { metadata: { name: 'p' }, spec })).toEqual([]);
  });
});

describe('what may not change', () => {
  it('API-502 the scopes of a quota, their order aside', () => {
    const of = (...scopes: string[]): Json => quota({ hard: { pods: '1' }, scopes });
    expect(updated('ResourceQuota', of('BestEffort'), of('Terminating'))).toEqual([
      'spec.scopes: Invalid value: ["Terminating"]: field is immutable',
    ]);
    expect(updated('ResourceQuota', of('BestEffort', 'Terminating'), of('Terminating', 'BestEffort'))).toEqual([]);
  });

  it('API-502 a time zone that was once accepted stays', () => {
    const zone = (timeZone: string): Json => cron({ timeZone });
    expect(updated('CronJob', zone('Europe/Atlantis'), zone('Europe/Atlantis'))).toEqual([]);
    expect(updated('CronJob', zone('UTC'), zone('Europe/Atlantis'))).toHaveLength(1);
  });

  it('API-502 the balancer of a service', () => {
    const of = (loadBalancerClass: string): Json => service({ type: 'LoadBalancer', loadBalancerClass });
    expect(updated('Service', of('a.b/c'), of('a.b/d'))).toEqual([
      'spec.loadBalancerClass: Invalid value: "a.b/d": may not change once set',
    ]);
  });
});
