import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells, metadata } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  [
    'networking.k8s.io',
    'Ingress',
    {
      spec: {
        ingressClassName: 'nginx',
        rules: [{ host: 'a' }, { host: 'b' }, {}, { host: 'c' }, { host: 'd' }],
        tls: [{}],
      },
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    },
    { Class: 'nginx', Hosts: 'a,b,c + 2 more...', Address: '1.2.3.4', Ports: '80, 443' },
  ],
  [
    'networking.k8s.io',
    'Ingress',
    { spec: { rules: [{}] } },
    { Class: '<none>', Hosts: '*', Address: '', Ports: '80' },
  ],
  [
    'networking.k8s.io',
    'IngressClass',
    {
      metadata: { ...metadata, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'c', parameters: { apiGroup: 'g', kind: 'K', name: 'n' } },
    },
    { Name: 'x (default)', Controller: 'c', Parameters: 'K.g/n' },
  ],
  ['networking.k8s.io', 'IngressClass', { spec: { parameters: { kind: 'K', name: 'n' } } }, { Parameters: 'K/n' }],
  ['networking.k8s.io', 'IngressClass', {}, { Parameters: '<none>' }],
  ['networking.k8s.io', 'NetworkPolicy', { spec: { podSelector: {} } }, { 'Pod-Selector': '<none>' }],
  [
    'networking.k8s.io',
    'NetworkPolicy',
    { spec: { podSelector: { matchLabels: { a: 'b' } } } },
    { 'Pod-Selector': 'a=b' },
  ],
  [
    'networking.k8s.io',
    'IPAddress',
    { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } } },
    { ParentRef: 'services/default/kubernetes' },
  ],
  ['networking.k8s.io', 'IPAddress', {}, { ParentRef: '<none>' }],
  [
    'networking.k8s.io',
    'ServiceCIDR',
    { spec: { cidrs: ['10.0.0.0/24', 'fd00::/64'] } },
    { CIDRs: '10.0.0.0/24,fd00::/64' },
  ],
];

describe('network cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
