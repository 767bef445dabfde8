import { afterAll, beforeAll, describe } from 'vitest';
import { silentLogger } from '../../src/base/logs/logger.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { describeStore } from '../../src/apiserver/storage/conformance.ts';
import { openEtcdStore } from '../../src/apiserver/storage/etcd/open-etcd-store.ts';
import { EtcdProcess, etcdPaths } from './etcd-process.ts';

const common = { clock: systemClock, random: systemRandom, logger: silentLogger };
let prefixes = 0;

describe.each(etcdPaths())('with %s', (path) => {
  let etcd: EtcdProcess;
  beforeAll(async () => {
    etcd = await EtcdProcess.start({ path });
  });
  afterAll(() => etcd[Symbol.asyncDispose]());

  describeStore('etcd', async () => {
    const prefix = `/test-${++prefixes}`;
    const open = async () => (await openEtcdStore({ endpoints: [etcd.url], prefix, ...common })).store;
    let store = await open();
    return {
      store,
      reopen: async () => {
        await store.close();
        store = await open();
        return store;
      },
      dispose: () => store.close(),
    };
  });
});
