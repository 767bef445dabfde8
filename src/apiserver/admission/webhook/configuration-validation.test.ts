import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../../../api/field-error.ts';
import type { Webhook } from './configuration.ts';
import { type ConfigurationRules, rulesForUpdate, validateWebhookConfiguration } from './configuration-validation.ts';

const rules: ConfigurationRules = { type: 'mutating', sideEffects: 'none', reviewVersions: 'known', names: 'unique' };
const good: Webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://example.com/hook' },
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};

function problems(...hooks: Partial<Webhook>[]): string[] {
  const webhooks = hooks.map((hook) => ({ ...good, ...hook }));
  return validateWebhookConfiguration({ webhooks }, rules).map(formatFieldError);
}

const url = (text: string): Partial<Webhook> => ({ clientConfig: { url: text } });
const service = (extra: object): Partial<Webhook> => ({
  clientConfig: { service: { namespace: 'n', name: 's', port: 443, ...extra } },
});
const rule = (extra: object): Partial<Webhook> => ({ rules: [{ ...good.rules?.[0], ...extra }] });

describe('API-350 a configuration', () => {
  it('that is good has no errors', () => {
    expect(problems({}, { name: 'b.example.com', ...service({ path: '/a/b' }) })).toEqual([]);
  });

  it.each<[string, Partial<Webhook>, string[]]>([
    ['no name', { name: '' }, ['webhooks[0].name: Required value']],
    [
      'a short name',
      { name: 'example.com' },
      [
        'webhooks[0].name: Invalid value: "example.com": should be a domain with at least three segments separated by dots',
      ],
    ],
    [
      'neither url nor service',
      { clientConfig: {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'both',
      { clientConfig: { url: 'https://a', service: { namespace: 'n', name: 's' } } },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'no https',
      url('http://example.com'),
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      ],
    ],
    [
      'no host',
      url('https:///path'),
      ['webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]'],
    ],
    [
      'user, query, fragment',
      url('https://u:p@example.com/a?b=c#d'),
      [
        'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "d": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "b=c": query parameters are not permitted in the URL',
      ],
    ],
    [
      'a service without names',
      service({ name: '', namespace: '' }),
      [
        'webhooks[0].clientConfig.service.name: Required value',
        'webhooks[0].clientConfig.service.namespace: Required value',
      ],
    ],
    [
      'a service with a strange port',
      service({ port: 70_000 }),
      [
        'webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'a path without a slash',
      service({ path: 'foo' }),
      ['webhooks[0].clientConfig.service.path: Invalid value: "foo": must start with a \'/\''],
    ],
    [
      'a path with an empty segment',
      service({ path: '/foo//bar' }),
      ['webhooks[0].clientConfig.service.path: Invalid value: "/foo//bar": segment[1] may not be empty'],
    ],
    [
      'too long a time',
      { timeoutSeconds: 31 },
      ['webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    ],
    [
      'side effects',
      { sideEffects: 'Some' },
      ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      'an unknown failure policy',
      { failurePolicy: 'Maybe' },
      ['webhooks[0].failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
    ],
    [
      'an unknown match policy',
      { matchPolicy: 'Maybe' },
      ['webhooks[0].matchPolicy: Unsupported value: "Maybe": supported values: "Equivalent", "Exact"'],
    ],
    [
      'an unknown reinvocation policy',
      { reinvocationPolicy: 'Maybe' },
      ['webhooks[0].reinvocationPolicy: Unsupported value: "Maybe": supported values: "IfNeeded", "Never"'],
    ],
    [
      'no review versions',
      { admissionReviewVersions: [] },
      ['webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
    ],
    [
      'review versions that were not given',
      { admissionReviewVersions: null },
      ['webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
    ],
    [
      'side effects that were not given',
      { sideEffects: null },
      ['webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun'],
    ],
    [
      'only unknown review versions',
      { admissionReviewVersions: ['v2'] },
      ['webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
    ],
    [
      'a review version twice',
      { admissionReviewVersions: ['v1', 'v1'] },
      ['webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
    ],
    ['no operations', rule({ operations: [] }), ['webhooks[0].rules[0].operations: Required value']],
    [
      'an unknown operation',
      rule({ operations: ['GET'] }),
      [
        'webhooks[0].rules[0].operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
      ],
    ],
    [
      'stars that are not alone',
      rule({ operations: ['*', 'CREATE'], apiGroups: ['*', 'apps'], apiVersions: ['*', 'v1'] }),
      [
        `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
        `webhooks[0].rules[0].apiGroups: Invalid value: ["*","apps"]: if '*' is present, must not specify other API groups`,
        `webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
      ],
    ],
    [
      'resources beside what covers them',
      rule({ resources: ['pods/*', 'pods/log'] }),
      [
        `webhooks[0].rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
      ],
    ],
    [
      'everything and more',
      rule({ resources: ['*', 'pods'] }),
      [
        `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
      ],
    ],
    [
      'an unknown scope',
      rule({ scope: 'Galaxy' }),
      ['webhooks[0].rules[0].scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"'],
    ],
  ])('with %s', (_name, change, expected) => {
    expect(problems(change)).toEqual(expected);
  });

  it('has each name once', () => {
    expect(problems({}, {})).toEqual(['webhooks[1].name: Duplicate value: "a.example.com"']);
  });

  it('may stay in an update as bad as it is stored', () => {
    const old = { webhooks: [{ ...good, sideEffects: 'Some', admissionReviewVersions: ['v9'] }, good] };
    expect(validateWebhookConfiguration(old, rules)).toHaveLength(3);
    expect(validateWebhookConfiguration(old, rulesForUpdate(rules, old))).toEqual([]);
    expect(validateWebhookConfiguration(old, rulesForUpdate(rules, { webhooks: [good] }))).toHaveLength(3);
  });
});
