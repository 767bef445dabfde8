import type { Load } from './load.ts';

/** Pods that nobody schedules, as large as asked for, in namespace `default`; what the benchmarks of lists and memory hold. */
export const podsPath = '/api/v1/namespaces/default/pods';

/** Every hundredth carries the label `rare=yes`. */
export function podBody(name: string, index: number, fillerBytes: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        labels: { app: 'bench', tier: 'front', ...(index % 100 === 0 ? { rare: 'yes' } : {}) },
        annotations: { 'bench.example.com/filler': 'x'.repeat(fillerBytes) },
      },
      spec: { containers: [{ name: 'server', image: 'registry.example.com/server:v1' }] },
    }),
  );
}

export async function createPods(load: Load, count: number, fillerBytes: number): Promise<void> {
  const body = (index: number): Buffer => podBody(`pod-${index}`, index, fillerBytes);
  await load.each(count, (index) => load.send('POST', podsPath, body(index)), 201);
}
