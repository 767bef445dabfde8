import { describe, expect, it } from 'vitest';
import type { PrintedRow } from '../fixtures.ts';
import { cells } from '../fixtures.ts';

const rows: readonly PrintedRow[] = [
  [
    '',
    'Service',
    {
      spec: {
        type: 'NodePort',
        clusterIPs: ['10.96.0.1', 'fd00::1'],
        ports: [
          { port: 80, nodePort: 30000, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
        selector: { app: 'a' },
      },
    },
    {
      Type: 'NodePort',
      'Cluster-IP': '10.96.0.1',
      'External-IP': '<none>',
      'Port(s)': '80:30000/TCP,53/UDP',
      Selector: 'app=a',
    },
  ],
  [
    '',
    'Service',
    { spec: { type: 'LoadBalancer' } },
    { 'Cluster-IP': '<none>', 'External-IP': '<pending>', 'Port(s)': '<none>', Selector: '<none>' },
  ],
  [
    '',
    'Service',
    {
      spec: { type: 'LoadBalancer', externalIPs: ['1.1.1.1'] },
      status: { loadBalancer: { ingress: [{ hostname: 'lb.example' }, { ip: '2.2.2.2' }, { ip: '2.2.2.2' }] } },
    },
    { 'External-IP': '2.2.2.2,lb.example,1.1.1.1' },
  ],
  [
    '',
    'Service',
    { spec: { type: 'ClusterIP', externalIPs: ['1.1.1.1', '1.1.1.2'] } },
    { 'External-IP': '1.1.1.1,1.1.1.2' },
  ],
  ['', 'Service', { spec: { type: 'ExternalName', externalName: 'db.example' } }, { 'External-IP': 'db.example' }],
  [
    '',
    'Endpoints',
    {
      subsets: [
        { addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 443 }] },
        { addresses: [{ ip: '10.0.0.3' }] },
      ],
    },
    { Endpoints: '10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 2 more...' },
  ],
  ['', 'Endpoints', {}, { Endpoints: '<none>' }],
  [
    'discovery.k8s.io',
    'EndpointSlice',
    {
      addressType: 'IPv4',
      ports: [{ port: 80 }, { name: 'x' }, {}, { port: 1 }],
      endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }, { addresses: ['10.0.0.3'] }],
    },
    { AddressType: 'IPv4', Ports: '80,x,* + 1 more...', Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3' },
  ],
  ['discovery.k8s.io', 'EndpointSlice', { addressType: 'FQDN' }, { Ports: '<unset>', Endpoints: '<unset>' }],
];

describe('service cells', () => {
  it.each(rows)('API-438 %s/%s %#', (group, kind, object, want) => {
    expect(cells(group, kind, object)).toMatchObject(want);
  });
});
