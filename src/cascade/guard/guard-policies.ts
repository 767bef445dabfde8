import { PROTECT } from '../../api/meta/annotations.ts';
import { PROTECT_DEPENDENTS } from './protection.ts';

const ADMISSION_V1 = 'admissionregistration.k8s.io/v1';
const NAME = 'guard.kubegc.io';
/** Manifest-based admission accepts only names with this suffix (KEP-5793). */
const STATIC_SUFFIX = '.static.k8s.io';

export interface WebhookConfigurationOptions {
  /** Where the API server reaches the guard: a service of the cluster, or a URL. */
  readonly reachedBy:
    | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
    | { readonly url: string };
  readonly caPem: string;
  /** `Fail`: deletions wait for the guard to come back. `Ignore`: they go on unguarded. */
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly timeoutSeconds: number;
  /** The namespace that the guard runs in. It is not guarded, otherwise the guard could prevent its own replacement. */
  readonly namespace?: string;
}

/** Only updates that may delete or unprotect are sent; a change of the status is not. */
const MATTERS = [
  "request.operation != 'UPDATE'",
  '(has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}) != (has(object.metadata.annotations) ? object.metadata.annotations : {})',
  '(has(oldObject.metadata.ownerReferences) ? oldObject.metadata.ownerReferences : []) != (has(object.metadata.ownerReferences) ? object.metadata.ownerReferences : [])',
  '(has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : []) != (has(object.metadata.finalizers) ? object.metadata.finalizers : [])',
  "(request.resource.resource == 'namespaces' && request.resource.group == '')",
].join(' || ');

/** The configuration that registers the guard with an API server. */
export function webhookConfiguration(options: WebhookConfigurationOptions): object {
  const { reachedBy, caPem, failurePolicy, timeoutSeconds, namespace } = options;
  const where = 'url' in reachedBy ? { url: reachedBy.url } : { service: { ...reachedBy.service, path: '/validate' } };
  const clientConfig = { ...where, caBundle: Buffer.from(caPem, 'utf8').toString('base64') };
  const rule = (operations: readonly string[], resources: readonly string[]): object => ({
    operations,
    apiGroups: ['*'],
    apiVersions: ['*'],
    resources,
    scope: '*',
  });
  return {
    apiVersion: ADMISSION_V1,
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: NAME },
    webhooks: [
      {
        name: NAME,
        clientConfig,
        failurePolicy,
        timeoutSeconds,
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [
          rule(['DELETE'], ['*']),
          rule(['UPDATE'], ['*/*']),
          { ...rule(['CREATE'], ['pods/eviction']), apiGroups: [''] },
        ],
        ...(namespace === undefined
          ? {}
          : {
              namespaceSelector: {
                matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace] }],
              },
            }),
        // No kind is left out: any object may be the only owner of a protected one.
        matchConditions: [{ name: 'may-delete', expression: MATTERS }],
      },
    ],
  };
}

export interface PolicyOptions {
  readonly exemptUsers: readonly string[];
  readonly exemptGroups: readonly string[];
}

/**
 * Plain protection without any process: a ValidatingAdmissionPolicy with its binding. It sees one object only: it protects objects that
 * have the annotation, but neither their dependents nor the content of a namespace.
 */
export function protectionPolicy({ exemptUsers, exemptGroups }: PolicyOptions): readonly [object, object] {
  const has = (object: string): string =>
    `(has(${object}.metadata.annotations) && '${PROTECT}' in ${object}.metadata.annotations)`;
  const open = (object: string): string =>
    `(has(${object}.metadata.annotations) && '${PROTECT_DEPENDENTS}' in ${object}.metadata.annotations && ${object}.metadata.annotations['${PROTECT_DEPENDENTS}'] == 'false')`;
  const keeps = `${has('object')} && (${open('oldObject')} || !${open('object')})`;
  const right =
    "authorizer.group(request.resource.group).resource(request.resource.resource).namespace(request.namespace).name(request.name).check('unprotect').allowed()";
  const policy = {
    apiVersion: ADMISSION_V1,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: NAME },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        resourceRules: [
          { apiGroups: ['*'], apiVersions: ['*'], operations: ['DELETE'], resources: ['*'] },
          { apiGroups: ['*'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['*/*'] },
        ],
      },
      matchConditions: [
        { name: 'protected', expression: `oldObject != null && ${has('oldObject')}` },
        { name: 'not-exempt-user', expression: `!(request.userInfo.username in ${JSON.stringify(exemptUsers)})` },
        {
          name: 'not-exempt-group',
          expression: `!has(request.userInfo.groups) || !request.userInfo.groups.exists(g, g in ${JSON.stringify(exemptGroups)})`,
        },
      ],
      validations: [
        {
          expression: "request.operation != 'DELETE'",
          messageExpression: `'it is protected: ' + oldObject.metadata.annotations['${PROTECT}'] + '; take the annotation ${PROTECT} off first'`,
          reason: 'Forbidden',
        },
        {
          expression: `request.operation != 'UPDATE' || (${keeps}) || ${right}`,
          message: `it is protected, and taking that off needs the verb "unprotect"`,
          reason: 'Forbidden',
        },
      ],
    },
  };
  const binding = {
    apiVersion: ADMISSION_V1,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: NAME },
    spec: { policyName: NAME, validationActions: ['Deny'] },
  };
  return [policy, binding];
}

/**
 * The same policy for a folder of manifest-based admission, with the names that such a folder requires. The API cannot change it (CAS-075).
 */
export function staticPolicy(options: PolicyOptions): readonly [object, object] {
  const name = `${NAME}${STATIC_SUFFIX}`;
  const [policy, binding] = protectionPolicy(options) as readonly [
    { readonly metadata: object },
    { readonly metadata: object; readonly spec: object },
  ];
  return [
    { ...policy, metadata: { name } },
    { ...binding, metadata: { name }, spec: { ...binding.spec, policyName: name } },
  ];
}
