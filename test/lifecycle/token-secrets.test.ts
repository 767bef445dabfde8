import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TokenSecretController } from '../../src/lifecycle/serviceaccount/token-secret-controller.ts';
import { EmbeddedCluster, gvrOf } from './embedded-cluster.ts';

const secrets = gvrOf('secrets');
const accounts = gvrOf('serviceaccounts');
const namespace = 'default';
let cluster: EmbeddedCluster;

beforeEach(async () => {
  cluster = await EmbeddedCluster.start();
  await cluster.run(
    (environment) =>
      new TokenSecretController({
        ...environment,
        rootCaPem: 'ca',
        issue: ({ namespace: of, account, secret }) => `${of} ${account.name} ${secret}`,
      }),
  );
});
afterEach(() => cluster.stop());

const secret = (name: string, account: string) =>
  cluster.create(
    { gvr: secrets, namespace },
    {
      metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
      type: 'kubernetes.io/service-account-token',
    },
  );
const tokenOf = async (name: string) => {
  const { data } = ((await cluster.get({ gvr: secrets, namespace, name })) ?? {}) as { data?: { token?: string } };
  return Buffer.from(data?.token ?? '', 'base64').toString();
};

describe('Secrets for tokens', () => {
  it('LIFE-680 are filled, go with their account, and leave all others alone', async () => {
    await cluster.create({ gvr: accounts, namespace }, { metadata: { name: 'robot' } });
    await cluster.create({ gvr: accounts, namespace }, { metadata: { name: 'other' } });
    await cluster.create({ gvr: secrets, namespace }, { metadata: { name: 'plain' } });
    await secret('one', 'robot');
    await secret('two', 'other');
    await cluster.until(async () => (await tokenOf('one')) === 'default robot one' && (await tokenOf('two')) !== '');
    cluster.requests.length = 0;
    await cluster.clock.advanceAsync(60_000);
    expect(cluster.requests).toEqual([]);
    await cluster.wait(cluster.client.delete({ gvr: accounts, namespace, name: 'robot' }));
    await cluster.until(async () => (await cluster.get({ gvr: secrets, namespace, name: 'one' })) === undefined);
    expect(await tokenOf('two')).toBe('default other two');
    expect(await cluster.get({ gvr: secrets, namespace, name: 'plain' })).toBeDefined();
  });

  it('LIFE-680 of an account that does not exist are taken away', async () => {
    await secret('stray', 'nobody');
    await cluster.until(async () => (await cluster.get({ gvr: secrets, namespace, name: 'stray' })) === undefined);
  });
});
