import { expect, it } from 'vitest';
import { startTestServer } from '../test/test-server.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const COUNT = 500;
const IN_FLIGHT = 100;

function definition(at: number): object {
  const group = `group${at % 20}.example.com`;
  const properties = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, { type: 'string' }]));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `kind${at}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `kind${at}s`, kind: `Kind${at}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
        },
      ],
    },
  };
}

it('API-454 of very many definitions that come together, a few are taken in each turn, and others are answered', async () => {
  const server = await startTestServer();
  let next = 0;
  let created = 0;
  const create = async (): Promise<void> => {
    while (next < COUNT) {
      expect((await server.post(DEFINITIONS, definition(next++))).status).toBe(201);
      created++;
    }
  };
  const progress = { done: false };
  const all = Promise.all(Array.from({ length: IN_FLIGHT }, create)).finally(() => (progress.done = true));
  let most = 0;
  while (!progress.done) {
    const before = created;
    await new Promise((resolve) => void setImmediate(resolve));
    most = Math.max(most, created - before);
    expect((await server.get('/livez')).status).toBe(200);
  }
  await all;
  expect(most).toBeLessThanOrEqual(IN_FLIGHT / 4);
  const last = definition(COUNT - 1) as { spec: { group: string; names: { plural: string } } };
  const { group, names } = last.spec;
  await expect.poll(async () => (await server.get(`/apis/${group}/v1/${names.plural}`)).status).toBe(200);
  await server.server.stop();
  server.store.close();
});
