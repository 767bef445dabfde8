import { ServerProcess } from '../program/server-process.ts';
import { type Benchmark, levelOf, median } from '../result.ts';
import { Load } from './load.ts';

/**
 * CEL: creates of a custom resource with ten rules, against creates of the same without rules on the same server, in turns. Both
 * pass the same schema.
 */
const RULES = [
  'self.minReplicas <= self.maxReplicas',
  'self.replicas >= self.minReplicas && self.replicas <= self.maxReplicas',
  'self.name.matches("^[a-z]([-a-z0-9]*[a-z0-9])?$")',
  'self.ports.all(p, p.port > 0 && p.port < 65536)',
  'self.ports.all(p, self.ports.exists_one(q, p.name == q.name))',
  '!has(self.labels) || self.labels.all(k, size(self.labels[k]) < 64)',
  'has(self.labels) && "app" in self.labels',
  'self.strategy in ["Recreate", "RollingUpdate"]',
  'self.strategy != "RollingUpdate" || has(self.maxSurge)',
  'isQuantity(self.memory) && quantity(self.memory).isLessThan(quantity("64Gi"))',
];

const text = { type: 'string', maxLength: 64 };
const number = { type: 'integer' };
const port = { type: 'object', required: ['name', 'port'], properties: { name: text, port: number } };
const properties = {
  name: text,
  replicas: number,
  minReplicas: number,
  maxReplicas: number,
  maxSurge: number,
  memory: text,
  strategy: text,
  ports: { type: 'array', maxItems: 20, items: port },
  labels: { type: 'object', maxProperties: 20, additionalProperties: text },
};
const value = {
  name: 'web',
  replicas: 3,
  minReplicas: 1,
  maxReplicas: 10,
  maxSurge: 1,
  memory: '512Mi',
  strategy: 'RollingUpdate',
  ports: Array.from({ length: 5 }, (_, index) => ({ name: `port-${index}`, port: 8000 + index })),
  labels: { app: 'web', tier: 'front', team: 'one' },
};

function definition(kind: string, rules: readonly string[]): object {
  const plural = `${kind.toLowerCase()}s`;
  const validations = rules.length === 0 ? {} : { 'x-kubernetes-validations': rules.map((rule) => ({ rule })) };
  const spec = { type: 'object', required: Object.keys(properties), properties, ...validations };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.bench.example.com` },
    spec: {
      group: 'bench.example.com',
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

const json = (object: object): Buffer => Buffer.from(JSON.stringify(object));

async function expectStatus(status: Promise<number>, wanted: number): Promise<void> {
  const found = await status;
  if (found !== wanted) throw new Error(`answered ${found} instead of ${wanted}`);
}

/** Creates a second. */
async function creates(
  load: Load,
  kind: string,
  { from, count }: { readonly from: number; readonly count: number },
): Promise<number> {
  const path = `/apis/bench.example.com/v1/namespaces/default/${kind.toLowerCase()}s`;
  let next = from;
  const start = performance.now();
  const loop = async (): Promise<void> => {
    for (let index = next++; index < from + count; index = next++) {
      const metadata = { name: `${kind.toLowerCase()}-${index}` };
      await expectStatus(
        load.send('POST', path, json({ apiVersion: 'bench.example.com/v1', kind, metadata, spec: value })),
        201,
      );
    }
  };
  await Promise.all(Array.from({ length: load.connections }, loop));
  return count / ((performance.now() - start) / 1000);
}

export const run: Benchmark = async ({ smoke }) => {
  const [count, rounds] = smoke ? [20, 2] : [4000, 5];
  const server = new ServerProcess({ args: ['--store', 'memory'] });
  await server.ready;
  const load = new Load(server.kubeconfig, 32);
  try {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await expectStatus(load.send('POST', definitions, json(definition('Ruled', RULES))), 201);
    await expectStatus(load.send('POST', definitions, json(definition('Plain', []))), 201);
    const path = '/apis/bench.example.com/v1/namespaces/default/ruleds';
    const broken = { ...value, minReplicas: 11 };
    const metadata = { name: 'broken' };
    const wrong = { apiVersion: 'bench.example.com/v1', kind: 'Ruled', metadata, spec: broken };
    await expectStatus(load.send('POST', path, json(wrong)), 422);
    const ruled: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const part = { from: round * count, count };
      const measured = [await creates(load, 'Plain', part), await creates(load, 'Ruled', part)] as const;
      // The first round warms the server up.
      if (round === 0) continue;
      plain.push(measured[0]);
      ruled.push(measured[1]);
    }
    const ratio = median(ruled) / median(plain);
    return [
      {
        id: 'CEL',
        workload: `${count * rounds} creates with ${RULES.length} rules, 32 connections, in memory`,
        metric: 'creates/s with rules',
        value: median(ruled),
        baseline: { what: 'the same without rules', value: median(plain) },
        ratio,
        level: levelOf(ratio, { good: 0.6, great: 0.8, better: 'more' }),
        demands: { good: '>= 0.6x', great: '>= 0.8x' },
      },
    ];
  } finally {
    load.close();
    await server.stop();
  }
};
