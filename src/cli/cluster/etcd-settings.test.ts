import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandError } from '../process/command-error.ts';
import { type EtcdFlags, etcdSettings } from './etcd-settings.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubegc-etcd-settings-'));
  await Promise.all(['ca', 'cert', 'key'].map((name) => writeFile(join(directory, name), `PEM of ${name}\n`)));
  await writeFile(join(directory, 'password'), 'secret\n');
});
afterAll(() => rm(directory, { recursive: true }));

const settings = (flags: Partial<EtcdFlags>, store = 'etcd') =>
  etcdSettings(store, { etcdPrefix: '/registry', ...flags });
const https = 'https://a:2379';

describe('the flags of etcd', () => {
  it('are the members, by either name, each once, with the usual port', async () => {
    const { endpoints } = (await settings({
      etcdEndpoints: ['http://a:1234, http://b', 'http://a:1234/'],
      etcdServers: ['http://[::1]:2379'],
    })) ?? { endpoints: [] };
    expect(endpoints).toEqual(['http://a:1234', 'http://b:2379', 'http://[::1]:2379']);
  });

  it('are read from their files', async () => {
    const file = (name: string): string => join(directory, name);
    const read = await settings({
      etcdEndpoints: [https],
      etcdPrefix: '/a/b',
      etcdCafile: file('ca'),
      etcdCertfile: file('cert'),
      etcdKeyfile: file('key'),
      etcdUsername: 'root',
      etcdPasswordFile: file('password'),
    });
    expect(read).toEqual({
      endpoints: [https],
      prefix: '/a/b',
      tls: { caPem: 'PEM of ca\n', certPem: 'PEM of cert\n', keyPem: 'PEM of key\n' },
      credentials: { username: 'root', password: 'secret' },
    });
  });

  it('are nobody’s business with another store', async () => {
    expect(await settings({}, 'file')).toBeUndefined();
    await expect(settings({ etcdServers: [https] }, 'memory')).rejects.toThrow(
      'the flags --etcd-… do nothing with --store memory',
    );
  });

  it.each<[Partial<EtcdFlags>, string]>([
    [{}, '--store etcd needs to know where etcd is'],
    [{ etcdEndpoints: ['a:2379'] }, 'invalid --etcd-endpoints entry "a:2379"'],
    [{ etcdEndpoints: ['https://a:2379,'] }, 'invalid --etcd-endpoints entry ""'],
    [{ etcdEndpoints: ['https://a:99999'] }, 'invalid --etcd-endpoints entry "https://a:99999"'],
    [{ etcdEndpoints: ['https://a/path'] }, 'invalid --etcd-endpoints entry "https://a/path"'],
    [{ etcdEndpoints: [https, 'http://b:2379'] }, 'some of --etcd-endpoints are https and some are http'],
    [{ etcdEndpoints: ['http://a'], etcdCafile: 'x' }, '--etcd-keyfile are for https'],
    [{ etcdEndpoints: [https], etcdCertfile: 'x' }, 'a client certificate and its key belong together'],
    [{ etcdEndpoints: [https], etcdUsername: 'x' }, 'a user and a password belong together'],
    [{ etcdEndpoints: [https], etcdPrefix: 'registry' }, 'invalid --etcd-prefix "registry"'],
    [{ etcdEndpoints: [https], etcdCafile: '/no/such/file' }, 'cannot read /no/such/file: no such file or directory'],
  ])('%j is refused: %s', async (flags, message) => {
    const refused = settings(flags);
    await expect(refused).rejects.toThrow(CommandError);
    await expect(refused).rejects.toThrow(message);
  });
});
