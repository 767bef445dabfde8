interface Deletion {
  /** kube-controller-manager's name. */
  readonly controller: string;
  /** As in the metric of deletions. */
  readonly reason: string;
  readonly resource: string;
}

/** The rules of docs/rules/lifecycle.md by which a controller deletes; by reason or resource where there are several. */
const RULES: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  'pod-garbage-collector-controller': {
    terminated: 'LIFE-051',
    'terminated-in-namespace': 'LIFE-066',
    'terminated-long-ago': 'LIFE-066',
    orphaned: 'LIFE-058',
    unscheduled: 'LIFE-059',
    'out-of-service': 'LIFE-056',
  },
  'ttl-after-finished-controller': {
    ttl: 'LIFE-090',
    ttlAfterCondition: 'LIFE-090',
    jobs: 'LIFE-081',
    pods: 'LIFE-067',
  },
  'certificatesigningrequest-cleaner-controller': 'LIFE-100',
  'podcertificaterequest-cleaner-controller': 'LIFE-106',
  'persistentvolume-binder-controller': 'LIFE-138',
  'persistentvolumeclaim-protection-controller': 'LIFE-823',
  'cloud-node-lifecycle-controller': 'LIFE-171',
  'taint-eviction-controller': 'LIFE-182',
  'node-lease-cleaner-controller': 'LIFE-202',
  'replicaset-controller': 'LIFE-261',
  'replicationcontroller-controller': 'LIFE-261',
  'deployment-controller': 'LIFE-309',
  'job-controller': { finished: 'LIFE-357', surplus: 'LIFE-361' },
  'cronjob-controller': { history: 'LIFE-401', replaced: 'LIFE-408' },
  'namespace-controller': 'LIFE-450',
  'statefulset-controller': { history: 'LIFE-601', pods: 'LIFE-615' },
  'daemonset-controller': { history: 'LIFE-601', 'node is gone': 'LIFE-642', pods: 'LIFE-641' },
  'serviceaccount-token-controller': 'LIFE-680',
  'legacy-serviceaccount-token-cleaner-controller': 'LIFE-681',
  'token-cleaner-controller': 'LIFE-682',
  'resourceclaim-controller': 'LIFE-701',
  'endpoints-controller': 'LIFE-720',
  'endpointslice-controller': 'LIFE-720',
  'storageversion-garbage-collector-controller': 'LIFE-730',
};

/** The rule by which a controller deletes; undefined if none is known. */
export function ruleOfDeletion({ controller, reason, resource }: Deletion): string | undefined {
  const rules = RULES[controller];
  return typeof rules === 'object' ? (rules[reason] ?? rules[resource]) : rules;
}
