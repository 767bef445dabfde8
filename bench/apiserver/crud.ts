import { join } from 'node:path';
import { type Benchmark, type BenchResult, levelOf, median } from '../result.ts';
import { ServerProcess } from '../program/server-process.ts';
import { Load } from './load.ts';
import { startResponder } from './responder.ts';

/**
 * P08: create, get, merge-patch and delete over TLS on the durable store, against a constant answer over TLS. Both take turns, and
 * medians are reported.
 */
const filler = 'x'.repeat(800);

const configMap = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench' } },
  data: { filler },
});

const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'bench', tier: 'front' } },
  spec: {
    containers: [
      {
        name: 'server',
        image: 'registry.example.com/server:v1',
        ports: [{ containerPort: 8080 }],
        env: [{ name: 'PORT', value: '8080' }],
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '256Mi' } },
        readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
      },
    ],
  },
});

interface Kind {
  readonly name: string;
  readonly path: string;
  make(name: string): object;
}

const kinds: readonly Kind[] = [
  { name: 'ConfigMap', path: '/api/v1/namespaces/default/configmaps', make: configMap },
  { name: 'Pod', path: '/api/v1/namespaces/default/pods', make: pod },
];

const patch = Buffer.from(JSON.stringify({ metadata: { annotations: { touched: 'yes' } } }));
const deleteOptions = Buffer.from(JSON.stringify({ propagationPolicy: 'Background', gracePeriodSeconds: 0 }));

export const run: Benchmark = async ({ smoke }) => {
  const server = new ServerProcess();
  await server.ready;
  const answer = JSON.stringify(configMap('constant'));
  const responder = await startResponder(join(server.directory, 'data'), answer);
  const results: BenchResult[] = [];
  try {
    for (const connections of smoke ? [8] : [1, 16, 64]) {
      // A lone client shows most of how the machine wakes its cores, which changes within seconds: more and shorter turns.
      const count = smoke ? 100 : connections === 1 ? 1_000 : 10_000;
      const rounds = smoke ? 1 : connections === 1 ? 7 : 3;
      const load = new Load(server.kubeconfig, connections);
      const constant = new Load(server.kubeconfig, connections, responder.port);
      for (const { name, path, make } of kinds) {
        const body = (index: number): Buffer => Buffer.from(JSON.stringify(make(`bench-${index}`)));
        const operations: Record<string, () => Promise<number>> = {
          create: () => load.each(count, (index) => load.send('POST', path, body(index)), 201),
          get: () => load.each(count, (index) => load.send('GET', `${path}/bench-${index}`), 200),
          patch: () =>
            load.each(
              count,
              (index) => load.send('PATCH', `${path}/bench-${index}`, patch, 'application/merge-patch+json'),
              200,
            ),
          delete: () => load.each(count, (index) => load.send('DELETE', `${path}/bench-${index}`, deleteOptions), 200),
        };
        const turns = new Map<string, { rate: number; baseline: number; cpu: number }[]>();
        for (let round = 0; round < rounds; round++) {
          for (const [verb, operation] of Object.entries(operations)) {
            const responderSeconds = await constant.each(count, () => constant.send('POST', '/', body(0)), 200);
            const before = server.cpuMicros;
            const rate = count / (await operation());
            const turn = { rate, baseline: count / responderSeconds, cpu: (server.cpuMicros - before) / count };
            turns.set(verb, [...(turns.get(verb) ?? []), turn]);
          }
        }
        for (const [verb, of] of turns) {
          const ratio = median(of.map(({ rate, baseline }) => rate / baseline));
          results.push({
            id: `P08 C=${connections}`,
            workload: `${count} ${verb} ${name}, ${of.length} rounds`,
            metric: `${verb} ${name}/s (${median(of.map(({ cpu }) => cpu)).toFixed(0)} µs server CPU each)`,
            value: median(of.map(({ rate }) => rate)),
            baseline: { what: 'the constant responder', value: median(of.map(({ baseline }) => baseline)) },
            ratio,
            level: levelOf(ratio, { good: 0.12, great: 0.25, better: 'more' }),
            demands: { good: '>= 0.12x', great: '>= 0.25x' },
          });
        }
      }
      load.close();
      constant.close();
    }
  } finally {
    responder.stop();
    await server.stop();
  }
  return results;
};
