import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { loadClientConfig } from './client-config.ts';
import { KubeconfigError } from './kubeconfig.ts';
import { caPem, clientCertPem, clientKeyPem, serverCertPem, serverKeyPem } from '../http/tls.fixture.ts';
import type { KubeconfigIo, ProgramCall, ProgramResult } from './kubeconfig-io.ts';

/** An environment with files and one program. */
function setUp(
  files: Record<string, string>,
  options: {
    env?: Record<string, string>;
    program?: (call: ProgramCall) => Promise<ProgramResult> | ProgramResult | Error;
  } = {},
) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const reads: string[] = [];
  const runs: ProgramCall[] = [];
  const io: KubeconfigIo = {
    env: options.env ?? {},
    homeDirectory: '/home/me',
    pathListSeparator: ':',
    readFile: (path) => {
      reads.push(path);
      const text = files[path];
      return text === undefined
        ? Promise.reject(Object.assign(new Error(`no such file ${path}`), { code: 'ENOENT' }))
        : Promise.resolve(text);
    },
    runProgram: (call) => {
      runs.push(call);
      const result = options.program?.(call) ?? new Error('ENOENT');
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
  };
  return {
    clock,
    io,
    reads,
    runs,
    load: (rest: { context?: string; server?: string; path?: string } = {}) => loadClientConfig({ io, clock, ...rest }),
  };
}

const CONFIG = '/home/me/.kube/config';
const kubeconfig = (user: string, cluster = ''): string => `
current-context: c
clusters: [{name: k, cluster: {server: "https://k:6443"${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: c, context: {cluster: k, user: u, namespace: ns}}]`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const certificate = (certPem: string, keyPem: string): string =>
  `client-certificate-data: ${base64(certPem)}, client-key-data: ${base64(keyPem)}`;

describe('loadClientConfig', () => {
  it('gives all that a transport needs', async () => {
    const { load } = setUp({
      [CONFIG]: kubeconfig('token: t', ', certificate-authority: ca.crt, tls-server-name: name'),
      '/home/me/.kube/ca.crt': caPem,
    });
    const config = await load();
    expect(config).toMatchObject({
      server: 'https://k:6443',
      namespace: 'ns',
      source: 'c',
      caPem,
      tlsServerName: 'name',
      insecureSkipTlsVerify: false,
    });
    expect(await config.credentials?.headers()).toEqual({ authorization: 'Bearer t' });
  });

  it('takes another server than the one of the context, whose name in the certificate is not its', async () => {
    const { load } = setUp({ [CONFIG]: kubeconfig('', ', tls-server-name: name') });
    expect(await load()).toMatchObject({ server: 'https://k:6443', tlsServerName: 'name' });
    const other = await load({ server: 'https://other' });
    expect(other.server).toBe('https://other');
    expect(other).not.toHaveProperty('tlsServerName');
  });

  it.each([
    ['a token', 'token: t', { authorization: 'Bearer t' }],
    [
      'name and password',
      'username: me, password: pä',
      { authorization: `Basic ${Buffer.from('me:pä').toString('base64')}` },
    ],
    ['nothing', '', {}],
    [
      'another identity',
      'token: t, as: x, as-uid: "1", as-groups: [g, h]',
      { authorization: 'Bearer t', 'impersonate-user': 'x', 'impersonate-uid': '1', 'impersonate-group': ['g', 'h'] },
    ],
    [
      'what else is said of another identity, with keys as names of headers can hold them',
      'as: x, as-user-extra: {scopes: [a, b], Scopes: [c], "acme.com/größe (%)": [d], none: []}',
      {
        'impersonate-user': 'x',
        'impersonate-extra-scopes': ['a', 'b', 'c'],
        'impersonate-extra-acme.com%2fgr%c3%b6%c3%9fe%20%28%25%29': ['d'],
      },
    ],
  ])('sends %s', async (_, user, headers) => {
    const config = await setUp({ [CONFIG]: kubeconfig(user) }).load();
    expect(await config.credentials?.headers()).toEqual(headers);
  });

  it.each([
    ['a token', 'token: t'],
    ['a file with one', 'tokenFile: /t'],
    ['name and password', 'username: me, password: p'],
    ['a certificate', certificate(clientCertPem, clientKeyPem)],
    ['a program', 'exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}'],
  ])('shows %s to nobody who is not reached over TLS', async (_, user) => {
    const { load, runs, reads } = setUp({ [CONFIG]: kubeconfig(`as: someone, ${user}`) });
    const { credentials } = await load({ server: 'http://127.0.0.1:8001' });
    expect(await credentials?.headers()).toEqual({ 'impersonate-user': 'someone' });
    expect([await credentials?.certificate?.(), runs, reads]).toEqual([undefined, [], [CONFIG]]);
  });

  it('reads a client certificate from data or files, data first', async () => {
    const user = `client-certificate: c.crt, client-certificate-data: ${base64(clientCertPem)}, client-key: c.key`;
    const config = await setUp({ [CONFIG]: kubeconfig(user), '/home/me/.kube/c.key': clientKeyPem }).load();
    expect(await config.credentials?.certificate?.()).toEqual({ certPem: clientCertPem, keyPem: clientKeyPem });
  });

  it.each([
    ['two ways to sign in', kubeconfig('token: t, username: u'), 'more than one authentication method found'],
    ['a certificate without its key', kubeconfig('client-certificate-data: QQ=='), 'needs its key'],
    ['a file that is not there', kubeconfig('client-certificate: x, client-key: z'), 'unable to read /home/me/.kube/x'],
    [
      'an authority that is not to be checked',
      kubeconfig('', ', insecure-skip-tls-verify: true, certificate-authority-data: QQ=='),
      'insecure flag',
    ],
    [
      'an authority that is none',
      kubeconfig('', ', certificate-authority-data: bm9wZQ=='),
      'certificate-authority-data has no certificate in it: PEM is expected',
    ],
    ['a certificate that is none', kubeconfig(certificate('nope', clientKeyPem)), 'no usable pair in PEM'],
    ['the key of another one', kubeconfig(certificate(clientCertPem, serverKeyPem)), 'no usable pair in PEM'],
    [
      'another protocol',
      kubeconfig('').replace('https://k:6443', 'ftp://k'),
      'server "ftp://k" is neither an http or https URL nor HOST:PORT',
    ],
    ['what is no address', kubeconfig('').replace('https://k:6443', 'k:x'), 'server "k:x" is neither'],
  ])('refuses %s', async (_, text, message) => {
    await expect(setUp({ [CONFIG]: text }).load()).rejects.toThrow(
      expect.objectContaining({ name: 'KubeconfigError', message: expect.stringContaining(message) }),
    );
  });

  it.each([
    ['k:6443', '', 'http://k:6443'],
    ['k:6443', ', insecure-skip-tls-verify: true', 'https://k:6443'],
    ['127.0.0.1:6443', `, certificate-authority-data: ${base64(caPem)}`, 'https://127.0.0.1:6443'],
    ['[::1]:6443', ', insecure-skip-tls-verify: true', 'https://[::1]:6443'],
  ])('takes %s%s for %s', async (server, cluster, url) => {
    const text = kubeconfig('', cluster).replace('https://k:6443', server);
    expect((await setUp({ [CONFIG]: text }).load()).server).toBe(url);
  });

  it.each<[string, string, { server?: string }]>([
    ['without a scheme, which is no https here', 'k:6443', {}],
    ['of http, in capitals', 'HTTP://k', {}],
    ['that --master names', 'https://k', { server: 'http://127.0.0.1:8080' }],
  ])('takes no proxy to a server %s', async (_what, server, flags) => {
    const text = kubeconfig('', ', proxy-url: "http://p:3128"').replace('https://k:6443', server);
    await expect(setUp({ [CONFIG]: text }).load(flags)).rejects.toThrow('proxy-url needs an https server');
  });

  it('takes a proxy to the https server that --master names', async () => {
    const text = kubeconfig('', ', proxy-url: "http://p:3128"').replace('https://k:6443', 'http://k');
    const config = await setUp({ [CONFIG]: text }).load({ server: 'https://k' });
    expect(config).toMatchObject({ server: 'https://k', proxyUrl: 'http://p:3128' });
  });

  it('falls back to the pod it runs in, and says so when it runs in none', async () => {
    const account = '/var/run/secrets/kubernetes.io/serviceaccount';
    const files = {
      [`${account}/token`]: 'pod-token\n',
      [`${account}/ca.crt`]: 'CA',
      [`${account}/namespace`]: 'kube-system\n',
    };
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    const config = await setUp(files, { env }).load();
    expect(config).toMatchObject({
      server: 'https://[fd00::1]:443',
      caPem: 'CA',
      namespace: 'kube-system',
      source: 'in-cluster',
    });
    expect(await config.credentials?.headers()).toEqual({ authorization: 'Bearer pod-token' });
    await expect(setUp(files).load()).rejects.toThrow('no configuration');
    expect((await setUp({ ...files, [CONFIG]: kubeconfig('') }, { env }).load()).source).toBe('c');
    // A context in the command line means another cluster than the pod's.
    for (const KUBECONFIG of ['/gone/config', '']) {
      const inPod = setUp(files, { env: { ...env, KUBECONFIG } });
      await expect(inPod.load({ context: 'staging' })).rejects.toThrow(
        expect.objectContaining({ name: 'KubeconfigError', message: 'context "staging" does not exist' }),
      );
      expect((await inPod.load({ server: 'https://other' })).server).toBe('https://other');
    }
    await expect(setUp(files).load({ context: 'staging' })).rejects.toThrow('context "staging" does not exist');
  });

  it.each<[string, string, string, Record<string, string>, { path?: string }]>([
    ['KUBECONFIG=/dev/null', '/dev/null', '', { KUBECONFIG: '/dev/null' }, {}],
    ['an empty file in the home directory', CONFIG, '\n', {}, {}],
    ['an empty --kubeconfig', '/k', '{}', {}, { path: '/k' }],
    [
      'a file whose last context was taken out',
      CONFIG,
      'apiVersion: v1\nkind: Config\nclusters: null\ncontexts: []\ncurrent-context: ""\npreferences: {}\nusers: null\n',
      {},
      {},
    ],
  ])('takes %s for no configuration', async (_, file, content, env, flags) => {
    const account = '/var/run/secrets/kubernetes.io/serviceaccount';
    const files = { [file]: content, [`${account}/token`]: 't', [`${account}/ca.crt`]: 'CA' };
    const inPod = setUp(files, { env: { ...env, KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '443' } });
    expect((await inPod.load(flags)).source).toBe('in-cluster');
    await expect(inPod.load({ ...flags, context: 'staging' })).rejects.toThrow('context "staging" does not exist');
    await expect(setUp(files, { env }).load(flags)).rejects.toThrow('no configuration');
  });

  it('takes a file without a current context for a mistake, also in a pod', async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'h', KUBERNETES_SERVICE_PORT: '443' };
    const { load } = setUp({ [CONFIG]: kubeconfig('').replace('current-context: c', '') }, { env });
    await expect(load()).rejects.toThrow('current-context is not set');
  });

  it.each([
    ['no configuration at all', {}],
    ['an empty one', { [CONFIG]: '' }],
    ['one without a current context', { [CONFIG]: kubeconfig('token: t').replace('current-context: c', '') }],
  ])('needs no more than --master with %s', async (_, files) => {
    const config = await setUp(files).load({ server: 'https://h:1' });
    expect(config).toMatchObject({ server: 'https://h:1', namespace: 'default', source: '--master' });
    expect(await config.credentials?.headers()).toEqual({});
    await expect(setUp(files).load({ server: 'https://h:1', context: 'x' })).rejects.toThrow('"x" does not exist');
  });
});

describe('a token file', () => {
  it('is read again after a minute and after a 401, and wins over a token', async () => {
    const files: Record<string, string> = { [CONFIG]: kubeconfig('token: old, tokenFile: /t'), '/t': 'one\n' };
    const { clock, reads, load } = setUp(files);
    const { credentials } = await load();
    const read = async () => (await credentials?.headers())?.['authorization'];
    expect(await read()).toBe('Bearer one');
    files['/t'] = 'two';
    clock.advance(59_999);
    expect(await read()).toBe('Bearer one');
    clock.advance(1);
    expect(await read()).toBe('Bearer two');
    files['/t'] = 'three';
    credentials?.rejected?.((await credentials?.headers()) ?? {});
    expect([await read(), await read()]).toEqual(['Bearer three', 'Bearer three']);
    expect(reads.filter((path) => path === '/t')).toHaveLength(3);
  });

  it('that vanishes leaves the last token in use; one that never was is an error', async () => {
    const files: Record<string, string> = { [CONFIG]: kubeconfig('tokenFile: /t') };
    const { clock, load } = setUp(files);
    const { credentials } = await load();
    await expect(credentials?.headers()).rejects.toThrow(
      expect.objectContaining({
        name: 'KubeconfigError',
        message: 'unable to read the token file /t: no such file /t',
      }),
    );
    files['/t'] = ' ';
    await expect(credentials?.headers()).rejects.toThrow('read empty token');
    files['/t'] = 'one';
    await credentials?.headers();
    delete files['/t'];
    clock.advance(120_000);
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer one' });
  });
});

describe('files of a client certificate', () => {
  const before = { certPem: clientCertPem, keyPem: clientKeyPem };
  const after = { certPem: serverCertPem, keyPem: serverKeyPem };
  const start = async (user = 'client-certificate: /c, client-key: /k', first = before) => {
    const files: Record<string, string> = { [CONFIG]: kubeconfig(user) };
    const write = ({ certPem, keyPem }: Partial<typeof before>): void => {
      if (certPem !== undefined) files['/c'] = certPem;
      if (keyPem !== undefined) files['/k'] = keyPem;
    };
    write(first);
    const { clock, reads, load } = setUp(files);
    const { credentials } = await load();
    const read = async () => await credentials?.certificate?.();
    const looks = () => reads.filter((path) => path === '/c').length;
    return { files, write, clock, looks, read, rejected: () => credentials?.rejected?.({}) };
  };

  it('are read again after a minute and after a 401, once for all who ask', async () => {
    const { write, clock, looks, read, rejected } = await start();
    write(after);
    clock.advance(59_999);
    expect([await read(), looks()]).toEqual([before, 1]);
    clock.advance(1);
    expect([await Promise.all([read(), read(), read()]), looks()]).toEqual([[after, after, after], 2]);
    write(before);
    expect(await read()).toEqual(after);
    rejected();
    expect([await Promise.all([read(), read()]), await read(), looks()]).toEqual([[before, before], before, 3]);
  });

  it('that were being read when a 401 came are read once more', async () => {
    const { write, looks, read, rejected } = await start();
    rejected();
    const reading = read();
    rejected();
    write(after);
    await reading;
    expect([await read(), looks()]).toEqual([after, 3]);
  });

  it.each<[string, Partial<typeof before>, Partial<typeof before>]>([
    ['the certificate first', { certPem: serverCertPem }, { keyPem: serverKeyPem }],
    ['the key first', { keyPem: serverKeyPem }, { certPem: serverCertPem }],
    ['a certificate that is cut off', { certPem: serverCertPem.slice(0, 300), keyPem: serverKeyPem }, after],
  ])(
    'leave the last pair in use while a rotation has written %s, and are read again each second',
    async (_, one, two) => {
      const { write, clock, looks, read } = await start();
      write(one);
      clock.advance(60_000);
      expect([await read(), await read(), looks()]).toEqual([before, before, 2]);
      write(two);
      clock.advance(999);
      expect([await read(), looks()]).toEqual([before, 2]);
      clock.advance(1);
      expect([await read(), looks()]).toEqual([after, 3]);
      clock.advance(59_999);
      await read();
      expect(looks()).toBe(3);
    },
  );

  it.each(['/c', '/k'])('leave the last pair in use while %s cannot be read', async (path) => {
    const { files, write, clock, read, rejected } = await start();
    write(after);
    delete files[path];
    rejected();
    expect(await read()).toEqual(before);
    write(after);
    clock.advance(1_000);
    expect(await read()).toEqual(after);
  });

  it('may be one and the same', async () => {
    const bundle = ({ certPem, keyPem }: typeof before) => ({ certPem: certPem + keyPem, keyPem: certPem + keyPem });
    const { write, clock, read } = await start('client-certificate: /c, client-key: /c', bundle(before));
    expect(await read()).toEqual(bundle(before));
    write(bundle(after));
    clock.advance(60_000);
    expect(await read()).toEqual(bundle(after));
  });

  it('are read once when only one half is a file, as by client-go', async () => {
    const { write, clock, looks, read, rejected } = await start(
      `client-certificate: /c, client-key-data: ${base64(clientKeyPem)}`,
    );
    write(after);
    clock.advance(60_000);
    rejected();
    expect([await read(), looks()]).toEqual([before, 1]);
  });
});

describe('exec', () => {
  const user = (rest = ''): string =>
    `exec: {apiVersion: client.authentication.k8s.io/v1, command: plugin, args: [a], env: [{name: E, value: v}], interactiveMode: Never${rest}}`;
  const printed = (status: object, rest: object = {}): ProgramResult => ({
    exitCode: 0,
    stderr: '',
    stdout: JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status, ...rest }),
  });

  it('runs the program once until its credentials expire or are rejected', async () => {
    let n = 0;
    const { clock, load, runs } = setUp(
      { [CONFIG]: kubeconfig(user()) },
      {
        program: () => printed({ token: `t${++n}`, expirationTimestamp: new Date(clock.now() + 60_000).toISOString() }),
      },
    );
    const { credentials } = await load();
    expect(runs).toHaveLength(0);
    const tokens = () => Promise.all([credentials?.headers(), credentials?.headers()]);
    const both = (token: string) => [{ authorization: `Bearer ${token}` }, { authorization: `Bearer ${token}` }];
    expect(await tokens()).toEqual(both('t1'));
    clock.advance(59_999);
    expect(await tokens()).toEqual(both('t1'));
    clock.advance(1);
    expect(await tokens()).toEqual(both('t2'));
    credentials?.rejected?.((await credentials?.headers()) ?? {});
    expect(await tokens()).toEqual(both('t3'));
    expect(runs).toHaveLength(3);
  });

  it.each<[string, string, (n: number) => object]>([
    ['a token', '', (n) => ({ token: `t${n}` })],
    ['a token, for somebody else', ', as: x', (n) => ({ token: `t${n}` })],
    ['a certificate', '', () => ({ clientCertificateData: clientCertPem, clientKeyData: clientKeyPem })],
  ])('keeps the new one of %s when the old one is refused once more', async (_, rest, status) => {
    let n = 0;
    const { load, runs } = setUp({ [CONFIG]: kubeconfig(user() + rest) }, { program: () => printed(status(++n)) });
    const credentials = (await load()).credentials!;
    const old = await credentials.headers();
    credentials.rejected?.(old);
    const issued = await credentials.headers();
    // The answer to a request that was in progress meanwhile.
    credentials.rejected?.(old);
    expect([await credentials.headers(), runs.length]).toEqual([issued, 2]);
    credentials.rejected?.(issued);
    await credentials.headers();
    expect(runs).toHaveLength(3);
  });

  it('passes the program what the protocol says', async () => {
    const cluster = [
      'certificate-authority: /ca',
      'tls-server-name: name',
      'proxy-url: "http://p:3128"',
      'extensions: [{name: x, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {audience: [a]}}]',
    ];
    const { load, runs } = setUp(
      {
        [CONFIG]: kubeconfig(user(', provideClusterInfo: true'), `, ${cluster.join(', ')}`),
        '/ca': caPem,
      },
      { program: () => printed({ token: 't' }) },
    );
    await (await load()).credentials?.headers();
    expect(runs[0]).toMatchObject({ command: 'plugin', args: ['a'], env: { E: 'v' } });
    expect(JSON.parse(runs[0]!.env['KUBERNETES_EXEC_INFO']!)).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: {
        interactive: false,
        cluster: {
          server: 'https://k:6443',
          'tls-server-name': 'name',
          'certificate-authority-data': base64(caPem),
          'proxy-url': 'http://p:3128',
          config: { audience: ['a'] },
        },
      },
    });
  });

  it('passes the program the server that --master names', async () => {
    const { load, runs } = setUp(
      { [CONFIG]: kubeconfig(user(', provideClusterInfo: true'), ', tls-server-name: name') },
      { program: () => printed({ token: 't' }) },
    );
    await (await load({ server: 'https://other' })).credentials?.headers();
    expect(JSON.parse(runs[0]!.env['KUBERNETES_EXEC_INFO']!)).toMatchObject({
      spec: { cluster: { server: 'https://other' } },
    });
    expect(runs[0]!.env['KUBERNETES_EXEC_INFO']).not.toContain('tls-server-name');
  });

  it('takes null for what is absent', async () => {
    const nothing = { clientCertificateData: null, clientKeyData: null, expirationTimestamp: null };
    const { clock, load, runs } = setUp(
      { [CONFIG]: kubeconfig(user()) },
      { program: () => printed({ token: 't', ...nothing }) },
    );
    const { credentials } = await load();
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer t' });
    expect(await credentials?.certificate?.()).toBeUndefined();
    clock.advance(1e12);
    await credentials?.headers();
    expect(runs).toHaveLength(1);
  });

  it('stops waiting when the program ends, and runs it again for the next request', async () => {
    let hangs = true;
    const { clock, load, runs } = setUp(
      { [CONFIG]: kubeconfig(user()) },
      { program: () => (hangs ? new Promise<ProgramResult>(() => {}) : printed({ token: 't' })) },
    );
    const { credentials } = await load();
    const asked = Promise.allSettled([credentials?.headers(), credentials?.certificate?.()]);
    clock.advance(65_000);
    const reason = new KubeconfigError('exec: executable plugin did not end within 60 s');
    expect(await asked).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    hangs = false;
    expect(await credentials?.headers()).toEqual({ authorization: 'Bearer t' });
    expect([runs.length, clock.pendingTimers]).toEqual([2, 0]);
  });

  it('keeps credentials without an end, and presents certificates', async () => {
    const { clock, load, runs } = setUp(
      { [CONFIG]: kubeconfig(user()) },
      { program: () => printed({ clientCertificateData: clientCertPem, clientKeyData: clientKeyPem }) },
    );
    const { credentials } = await load();
    expect(await credentials?.certificate?.()).toEqual({ certPem: clientCertPem, keyPem: clientKeyPem });
    clock.advance(1e12);
    expect(await credentials?.headers()).toEqual({});
    expect(runs).toHaveLength(1);
  });

  it.each<[string, ProgramResult | Error, string]>([
    ['can not be started', new Error('spawn ENOENT'), 'executable plugin failed to start: spawn ENOENT\nget it here'],
    [
      'fails',
      { exitCode: 3, stdout: '', stderr: ' not logged in \n' },
      'executable plugin failed with exit code 3: not logged in\nget it here',
    ],
    ['is killed', { exitCode: null, stdout: '', stderr: '' }, 'was ended by a signal'],
    ['hangs', { exitCode: null, timedOut: true, stdout: '', stderr: 'who are you?' }, 'within 60 s: who are you?'],
    ['prints text', { exitCode: 0, stdout: 'token', stderr: '' }, 'its output is not JSON'],
    ['prints null', { exitCode: 0, stdout: 'null', stderr: '' }, 'plugin returned version'],
    [
      'prints another version',
      printed({ token: 't' }, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      'plugin returned version client.authentication.k8s.io/v1beta1',
    ],
    ['prints no status', printed({}, { status: undefined }), "didn't return a status field"],
    ['prints a status that is null', printed({}, { status: null }), "didn't return a status field"],
    ['prints a token that is null', printed({ token: null }), "didn't return a token or cert/key pair"],
    ['prints no credentials', printed({}), "didn't return a token or cert/key pair"],
    ['prints half a pair', printed({ clientKeyData: 'K' }), 'not both'],
    ['prints no PEM', printed({ clientCertificateData: 'C', clientKeyData: 'K' }), 'no usable pair in PEM'],
    ['prints a bad time', printed({ token: 't', expirationTimestamp: 'tomorrow' }), 'bad expirationTimestamp'],
  ])('says so when the program %s, and tries again next time', async (_, result, message) => {
    const { load, runs } = setUp(
      { [CONFIG]: kubeconfig(user(', installHint: get it here')) },
      { program: () => result },
    );
    const { credentials } = await load();
    const failing = () =>
      expect(credentials?.headers()).rejects.toThrow(
        expect.objectContaining({ name: 'KubeconfigError', message: expect.stringContaining(message) }),
      );
    await failing();
    await failing();
    expect(runs).toHaveLength(2);
  });

  it.each<[string, string, object]>([
    ['a token', 'token: t', { authorization: 'Bearer t' }],
    ['a token in a file', 'tokenFile: /t', { authorization: 'Bearer t' }],
    ['name and password', 'username: me, password: p', { authorization: `Basic ${base64('me:p')}` }],
    ['a client certificate', certificate(clientCertPem, clientKeyPem), {}],
  ])('does not run the program for who has %s, nor refuses it for its terminal', async (_, own, headers) => {
    const issued = { token: 'p', clientCertificateData: serverCertPem, clientKeyData: serverKeyPem };
    for (const mode of ['Never', 'Always']) {
      const text = kubeconfig(`${own}, ${user().replace('Never', mode)}`);
      const { load, runs } = setUp({ [CONFIG]: text, '/t': 't' }, { program: () => printed(issued) });
      const { credentials } = await load();
      expect(await credentials?.headers()).toEqual(headers);
      expect((await credentials?.certificate?.())?.certPem).not.toBe(serverCertPem);
      expect(runs).toHaveLength(0);
    }
  });

  it('refuses a program that needs a terminal', async () => {
    const text = kubeconfig(user().replace('interactiveMode: Never', 'interactiveMode: Always'));
    await expect(setUp({ [CONFIG]: text }).load()).rejects.toThrow('needs a terminal');
  });
});
