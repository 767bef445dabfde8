import { describe, expect, it } from 'vitest';
import { builtinWarnings } from './warnings.ts';

const pods = { group: '', resource: 'pods' };
const deployments = { group: 'apps', resource: 'deployments' };
const container = { name: 'c', image: 'i' };
const NOT_A_LABEL = 'a DNS label is recommended: [must not contain dots]';

const ofPod = (spec: object, metadata: object = {}): readonly string[] =>
  builtinWarnings(pods, { metadata, spec: { containers: [container], ...spec } });

describe('API-010 what is accepted with a warning', () => {
  it('nothing is said of an ordinary pod, or of a kind without rules', () => {
    expect(ofPod({ nodeSelector: { 'kubernetes.io/os': 'linux' }, volumes: [{ name: 'v', emptyDir: {} }] })).toEqual(
      [],
    );
    expect(builtinWarnings({ group: '', resource: 'configmaps' }, { metadata: { name: 'a.b' } })).toEqual([]);
    const terms = [{ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    expect(ofPod({ nodeSelector: { constructor: 'x' }, affinity: { nodeAffinity } })).toEqual([]);
  });

  it('ports beyond the hundredth of one number are compared with the first hundred only', () => {
    const ports = Array.from({ length: 50_000 }, (_, n) => ({ containerPort: 1, hostPort: 1 + n, protocol: 'TCP' }));
    const twins = [...ports, { containerPort: 1, hostPort: 100, protocol: 'TCP' }, ports.at(-1)!];
    expect(ofPod({ containers: [{ ...container, ports: twins }] })).toEqual([
      'spec.containers[0].ports[50000]: duplicate port definition with spec.containers[0].ports[99]',
    ]);
    const same = Array.from({ length: 50_000 }, () => ({ containerPort: 1, protocol: 'TCP' }));
    expect(ofPod({ containers: [{ ...container, ports: same }] }).length).toBeLessThan(200);
  });

  it('labels, annotations and volumes of old', () => {
    const terms = [{ matchExpressions: [{ key: 'beta.kubernetes.io/arch', operator: 'Exists' }] }];
    const spec = {
      nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
      topologySpreadConstraints: [{ topologyKey: 'failure-domain.beta.kubernetes.io/zone' }],
      volumes: [{ name: 'v', gitRepo: { repository: 'r' } }],
    };
    const annotations = {
      'scheduler.alpha.kubernetes.io/critical-pod': '',
      'container.seccomp.security.alpha.kubernetes.io/c': 'x',
    };
    expect(ofPod(spec, { annotations })).toEqual([
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
      'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
      'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
      'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
      'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
      'metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the "seccompProfile" field instead',
    ]);
  });

  it('a duplicate that hides an earlier value', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
      { name: 'A', value: '$(A):3' },
      { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ];
    const ports = [
      { name: 'web', containerPort: 80, protocol: 'TCP' },
      { name: 'web', containerPort: 80, protocol: 'TCP', hostPort: 8080 },
    ];
    const second = { name: 'd', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }] };
    const spec = {
      containers: [{ ...container, env, ports }, second],
      imagePullSecrets: [{ name: 's' }, { name: 's' }, {}],
    };
    expect(ofPod(spec)).toEqual([
      'spec.imagePullSecrets[1].name: duplicate name "s"',
      'spec.imagePullSecrets[2].name: invalid empty name ""',
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
      'spec.containers[0].env[3]: hides previous definition of "A", which may be dropped when using apply',
      'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
      'spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]',
      'spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[1]',
      'spec.containers[0].ports[1]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ]);
  });

  it('amounts that are no amounts', () => {
    const resources = { limits: { memory: '100m', cpu: '100m' }, requests: { memory: '1Gi' } };
    const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] } };
    const spec = { containers: [{ ...container, resources }], terminationGracePeriodSeconds: -1, affinity };
    expect(ofPod(spec)).toEqual([
      'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
      'spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
      'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod',
    ]);
  });

  it('templates of pods, and names that pods will have; of updates only those that change the spec', () => {
    const template = { spec: { containers: [container], terminationGracePeriodSeconds: -1 } };
    const made = { metadata: { name: 'a.b', generation: 1 }, spec: { template } };
    const grace = 'spec.template.spec.terminationGracePeriodSeconds: must be >= 0';
    expect(builtinWarnings(deployments, made)).toEqual([
      expect.stringContaining(NOT_A_LABEL),
      expect.stringContaining(grace),
    ]);
    expect(builtinWarnings(deployments, made, made)).toEqual([]);
    const changed = { ...made, metadata: { name: 'a.b', generation: 2 } };
    expect(builtinWarnings(deployments, changed, made)).toEqual([expect.stringContaining(grace)]);
    const cronJob = { metadata: { name: 'c' }, spec: { jobTemplate: { spec: { template } } } };
    expect(builtinWarnings({ group: 'batch', resource: 'cronjobs' }, cronJob)).toEqual([
      expect.stringContaining(`spec.jobTemplate.${grace}`),
    ]);
    expect(builtinWarnings(pods, changed, made)).toEqual([]);
  });

  it.each([
    [
      'ingresses',
      'networking.k8s.io',
      { metadata: { annotations: { 'kubernetes.io/ingress.class': 'x' } }, spec: {} },
      `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
    ],
    [
      'services',
      '',
      { spec: { type: 'ClusterIP', externalIPs: ['1.2.3.4'] } },
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ],
    [
      'services',
      '',
      { spec: { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'ClientIP' } },
      'spec.SessionAffinity is ignored for headless services',
    ],
    [
      'services',
      '',
      { spec: { type: 'ClusterIP', externalName: 'x' } },
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
    [
      'persistentvolumeclaims',
      '',
      { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } } },
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
    ],
    [
      'persistentvolumeclaims',
      '',
      { spec: { resources: { requests: { storage: '1500m' } } } },
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ],
  ])('%s of group %j', (resource, group, object, text) => {
    expect(builtinWarnings({ group, resource }, object)).toEqual([text]);
  });

  const pem = (...types: string[]): string =>
    Buffer.from(types.map((type) => `-----BEGIN ${type}-----\nYQ==\n-----END ${type}-----\n`).join('')).toString(
      'base64',
    );
  it.each<[string, string, string | undefined]>([
    [pem('CERTIFICATE'), pem('RSA PRIVATE KEY'), undefined],
    [pem('CERTIFICATE', 'CERTIFICATE'), pem('EC PARAMETERS', 'EC PRIVATE KEY'), undefined],
    ['YQ==', 'YQ==', 'tls: failed to find any PEM data in certificate input'],
    [
      Buffer.from('-----BEGIN X-----\n'.repeat(9)).toString('base64'),
      '',
      'tls: failed to find any PEM data in certificate input',
    ],
    [
      pem('PRIVATE KEY'),
      pem('CERTIFICATE'),
      'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    ],
    [
      pem('X', 'Y'),
      '',
      'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [X Y]',
    ],
    [pem('CERTIFICATE'), '', 'tls: failed to find any PEM data in key input'],
    [
      pem('CERTIFICATE'),
      pem('CERTIFICATE'),
      'tls: found a certificate rather than a key in the PEM for the private key',
    ],
    [
      pem('CERTIFICATE'),
      pem('X'),
      'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [X]',
    ],
  ])('a TLS Secret with certificate %s and key %s', (crt, key, text) => {
    const secrets = { group: '', resource: 'secrets' };
    const secret = { type: 'kubernetes.io/tls', data: { 'tls.crt': crt, 'tls.key': key } };
    const expected = text === undefined ? [] : [text];
    expect(builtinWarnings(secrets, secret)).toEqual(expected);
    expect(builtinWarnings(secrets, secret, secret)).toEqual(expected);
    expect(builtinWarnings(secrets, { ...secret, type: 'Opaque' })).toEqual([]);
  });
});

describe('warnings about controllers', () => {
  const annotations = (value: string) => ({ annotations: { 'pod.kubegc.io/ttl-after-finished': value } });
  const template = { metadata: annotations('5'), spec: { containers: [container] } };
  const ignored = (path: string) =>
    `${path}.metadata.annotations[pod.kubegc.io/ttl-after-finished]: ignored, because the pods of a Job belong to the Job; use "ttlSecondsAfterFinished" of the Job instead`;

  it('LIFE-067 the template of a Job has the annotation of bare pods', () => {
    const job = { metadata: { name: 'j', generation: 1 }, spec: { template } };
    expect(builtinWarnings({ group: 'batch', resource: 'jobs' }, job)).toEqual([ignored('spec.template')]);
    const cronJob = { metadata: { name: 'c' }, spec: { jobTemplate: { spec: { template } } } };
    expect(builtinWarnings({ group: 'batch', resource: 'cronjobs' }, cronJob)).toEqual([
      ignored('spec.jobTemplate.spec.template'),
    ]);
    expect(builtinWarnings(deployments, { metadata: { name: 'd' }, spec: { template } })).toEqual([]);
  });

  it('LIFE-067 the annotation of a bare pod is not a number of seconds', () => {
    expect(ofPod({}, annotations('5'))).toEqual([]);
    expect(ofPod({}, annotations('5s'))).toEqual([
      'metadata.annotations[pod.kubegc.io/ttl-after-finished]: ignored, because it is not a whole number of seconds',
    ]);
  });

  it('nothing scales by a HorizontalPodAutoscaler; an update says so no more', () => {
    const autoscalers = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };
    const before = { metadata: { name: 'h', generation: 1 } };
    expect(builtinWarnings(autoscalers, before)).toEqual([
      'kubegc runs no controller of HorizontalPodAutoscalers: the object is stored, and nothing is scaled',
    ]);
    expect(builtinWarnings(autoscalers, { metadata: { name: 'h', generation: 2 } }, before)).toEqual([]);
  });
});
