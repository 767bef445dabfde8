import { request } from 'node:https';
import { expect, it, vi } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';

// The only test of its file: the certificates are made once a process, here by a cluster that starts while the date is wrong.
it('API-370 a client that verifies the certificate is answered while a test has set the date of its process', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    vi.setSystemTime(0);
    await using cluster = await startCluster({ listen: true, controllers: [] });
    const field = (name: string): string => new RegExp(`${name}: "?([^"\\n]+)`).exec(cluster.kubeconfig)?.[1] ?? '';
    const ca = Buffer.from(field('certificate-authority-data'), 'base64');
    const headers = { authorization: `Bearer ${field('token')}` };
    const status = await new Promise<number>((settle, reject) => {
      request(`${cluster.url}/api/v1/namespaces/default`, { ca, headers, agent: false }, (answer) => {
        answer.resume();
        settle(answer.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  } finally {
    vi.useRealTimers();
  }
});
