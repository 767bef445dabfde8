import { describe, expect, it } from 'vitest';
import {
  type Kubeconfig,
  KubeconfigError,
  loadKubeconfig,
  mergeKubeconfigs,
  parseKubeconfig,
  renderKubeconfig,
  selectContext,
} from './kubeconfig.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A file with one context of the name, in a cluster at `https://<name>`. */
function file(name: string, rest = ''): string {
  return `
apiVersion: v1
kind: Config
current-context: ${name}
clusters: [{name: shared, cluster: {server: "https://${name}"}}]
users: [{name: ${name}-user, user: {token: "${name}-token"}}]
contexts: [{name: ${name}, context: {cluster: shared, user: ${name}-user}}]
${rest}`;
}

describe('parseKubeconfig', () => {
  it('reads every supported field and resolves relative paths', () => {
    const config = parseKubeconfig(
      `
current-context: c
clusters:
- name: k
  cluster:
    server: https://k:6443
    certificate-authority: ca/ca.crt
    certificate-authority-data: ${base64('CA PEM')}
    insecure-skip-tls-verify: true
    tls-server-name: other
users:
- name: u
  user:
    token: '012345'
    tokenFile: /abs/token
    client-certificate: ../c.crt
    client-certificate-data: ${base64('CERT')}
    client-key: c.key
    client-key-data: ${base64('KEY')}
    username: me
    password: p
    as: someone
    as-groups: [a, b]
    as-user-extra: {scopes: [view, 1], none: []}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/plugin
      args: [get-token, "1"]
      env: [{name: A, value: b}]
      interactiveMode: IfAvailable
      provideClusterInfo: true
      installHint: install it
contexts:
- name: c
  context: {cluster: k, user: u, namespace: ns}
preferences: {}
`,
      { directory: '/home/me/.kube' },
    );
    expect(config.clusters.get('k')).toEqual({
      server: 'https://k:6443',
      certificateAuthority: '/home/me/.kube/ca/ca.crt',
      certificateAuthorityData: 'CA PEM',
      insecureSkipTlsVerify: true,
      tlsServerName: 'other',
    });
    expect(config.users.get('u')).toEqual({
      token: '012345',
      tokenFile: '/abs/token',
      clientCertificate: '/home/me/.kube/../c.crt',
      clientCertificateData: 'CERT',
      clientKey: '/home/me/.kube/c.key',
      clientKeyData: 'KEY',
      username: 'me',
      password: 'p',
      impersonate: {
        user: 'someone',
        groups: ['a', 'b'],
        extra: new Map([
          ['scopes', ['view', '1']],
          ['none', []],
        ]),
      },
      exec: {
        command: '/home/me/.kube/bin/plugin',
        args: ['get-token', '1'],
        env: { A: 'b' },
        apiVersion: 'client.authentication.k8s.io/v1',
        interactiveMode: 'IfAvailable',
        provideClusterInfo: true,
        installHint: 'install it',
      },
    });
    expect(config.contexts.get('c')).toEqual({ cluster: 'k', user: 'u', namespace: 'ns' });
    expect(selectContext(config)).toMatchObject({ name: 'c', namespace: 'ns' });
  });

  it('takes an empty file, and JSON', () => {
    expect(parseKubeconfig('').currentContext).toBe('');
    expect(parseKubeconfig('{"kind":"Config","current-context":"x"}').currentContext).toBe('x');
  });

  it('reads YAML as kubectl does', () => {
    const config = parseKubeconfig(`
base: &base {server: "https://old", insecure-skip-tls-verify: yes}
clusters:
- name: k
  cluster: {<<: *base, server: "https://k"}
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{name: A}, {name: B, value: null}]}
---
what: follows is not read
`);
    expect(config.clusters.get('k')).toEqual({ server: 'https://k', insecureSkipTlsVerify: true });
    expect(config.users.get('u')?.exec?.env).toEqual({ A: '', B: '' });
  });

  it('leaves a program without a slash to PATH', () => {
    const text = 'users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}}}]';
    const { exec } = parseKubeconfig(text, { directory: '/d' }).users.get('u')!;
    expect([exec?.command, exec?.interactiveMode]).toEqual(['aws', 'IfAvailable']);
  });

  it.each([
    ['no YAML', 'a: [', 'not YAML'],
    ['another kind', 'kind: Pod', 'kind is "Pod"'],
    ['a list', '[]', 'kubeconfig is not an object'],
    ['clusters that are no list', 'clusters: {}', 'clusters is not a list'],
    ['an entry without a name', 'clusters: [{cluster: {}}]', 'clusters: an entry has no name'],
    ['extensions that are no list', 'clusters: [{name: c, cluster: {extensions: {}}}]', 'extensions is not a list'],
    ['extra that is a list', 'users: [{name: u, user: {as-user-extra: []}}]', 'as-user-extra is not an object'],
    ['extra that is no lists', 'users: [{name: u, user: {as-user-extra: {a: b}}}]', 'a is not a list'],
    ['a token that is a list', 'users: [{name: u, user: {token: []}}]', 'token is not a string'],
    [
      'data that is not base64',
      'clusters: [{name: c, cluster: {certificate-authority-data: "-----BEGIN"}}]',
      'certificate-authority-data is not base64',
    ],
    ['a number for a token', 'users: [{name: u, user: {token: 0123}}]', 'token is not a string; put it in quotes'],
    [
      'a word for yes or no',
      'clusters: [{name: c, cluster: {insecure-skip-tls-verify: "true"}}]',
      'insecure-skip-tls-verify is neither true nor false',
    ],
    ['two of a name', 'users: [{name: u, user: {}}, {name: u, user: {}}]', 'users: duplicate name "u" in list'],
  ])('refuses %s', (_, text, message) => {
    expect(() => parseKubeconfig(text)).toThrow(
      expect.objectContaining({ name: 'KubeconfigError', message: expect.stringContaining(message) }),
    );
  });
});

describe('mergeKubeconfigs', () => {
  it('takes each name from the first file that has it', () => {
    const merged = mergeKubeconfigs([parseKubeconfig(file('a')), parseKubeconfig(file('b'))]);
    expect(merged.currentContext).toBe('a');
    expect([...merged.contexts.keys()].toSorted()).toEqual(['a', 'b']);
    expect(merged.clusters.get('shared')?.server).toBe('https://a');
    expect(selectContext(merged, 'b').user.token).toBe('b-token');
  });

  it('takes the first current context that is set', () => {
    expect(mergeKubeconfigs([parseKubeconfig(''), parseKubeconfig(file('b'))]).currentContext).toBe('b');
    expect(mergeKubeconfigs([]).currentContext).toBe('');
  });
});

describe('selectContext', () => {
  const broken = (changes: string): Kubeconfig => parseKubeconfig(changes);

  it('fills in the default namespace, and nobody for no user', () => {
    const config = parseKubeconfig(
      'clusters: [{name: k, cluster: {server: "https://k"}}]\ncontexts: [{name: c, context: {cluster: k}}]',
    );
    expect(selectContext(config, 'c')).toMatchObject({ namespace: 'default', user: {} });
  });

  it.each(['as-uid: "1"', 'as-groups: [g]', 'as-user-extra: {scopes: [a]}'])('takes no %s without a user', (asked) => {
    const config = parseKubeconfig(file('a').replace('token:', `${asked}, token:`));
    const message = 'requesting uid, groups or user-extra for "a-user" without impersonating a user';
    expect(() => selectContext(config)).toThrow(expect.objectContaining({ name: 'KubeconfigError', message }));
  });

  it.each([
    'as-groups: [g]',
    'exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}',
    'auth-provider: {name: gcp}',
  ])('leaves alone that other users ask for %s', (asked) => {
    const users = `users: [{name: a-user, user: {}}, {name: other, user: {${asked}}}]`;
    const config = parseKubeconfig(file('a').replace(/users: .*/, users));
    expect(selectContext(config).user).toEqual({});
  });

  it.each([
    ['no current context', '', undefined, 'current-context is not set'],
    ['a missing context', file('a'), 'x', 'context "x" does not exist'],
    ['a missing cluster', 'contexts: [{name: c, context: {cluster: k}}]', 'c', 'cluster "k" does not exist'],
    [
      'a missing user',
      'clusters: [{name: k, cluster: {server: "https://k"}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]',
      'c',
      'auth info "u" does not exist',
    ],
    [
      'a cluster without a server',
      'clusters: [{name: k}]\ncontexts: [{name: c, context: {cluster: k}}]',
      'c',
      'has no server',
    ],
    [
      'a proxy',
      'clusters: [{name: k, cluster: {server: "https://k", proxy-url: "ftp://p"}}]\ncontexts: [{name: c, context: {cluster: k}}]',
      'c',
      'proxy-url "ftp://p" is no http, https or socks5 URL',
    ],
    ...[
      ['exec without a command', 'apiVersion: client.authentication.k8s.io/v1', 'exec: command must be specified'],
      [
        'exec of an old version',
        'apiVersion: client.authentication.k8s.io/v1alpha1, command: x',
        'user "a-user": exec: unsupported apiVersion "client.authentication.k8s.io/v1alpha1"',
      ],
      [
        'exec v1 without interactiveMode',
        'apiVersion: client.authentication.k8s.io/v1, command: x',
        'interactiveMode must be',
      ],
    ].map(([what = '', exec = '', message = '']): [string, string, string, string] => [
      what,
      file('a').replace('token: "a-token"', `exec: {${exec}}`),
      'a',
      message,
    ]),
    [
      'an auth-provider',
      `clusters: [{name: k, cluster: {server: "https://k"}}]\nusers: [{name: u, user: {auth-provider: {name: gcp}}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]`,
      'c',
      'auth-provider is not supported',
    ],
  ])('says what is wrong with %s', (_, text, name, message) => {
    expect(() => selectContext(broken(text), name)).toThrow(
      expect.objectContaining({ name: 'KubeconfigError', message: expect.stringContaining(message) }),
    );
  });
});

describe('loadKubeconfig', () => {
  const io = (files: Record<string, string>, env: Record<string, string> = {}) => ({
    env,
    homeDirectory: '/home/me',
    pathListSeparator: ':',
    readFile: (path: string) =>
      files[path] === undefined
        ? Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
        : Promise.resolve(files[path]),
  });

  it('takes the file it is given, which must exist', async () => {
    const files = { '/x/config': file('a'), '/home/me/.kube/config': file('b') };
    expect((await loadKubeconfig({ io: io(files), path: '/x/config' }))?.currentContext).toBe('a');
    await expect(loadKubeconfig({ io: io(files), path: '/x/none' })).rejects.toThrow('/x/none: no such file');
  });

  it('else those of KUBECONFIG that exist, else that of the home directory', async () => {
    const files = { '/a': file('a'), '/b': file('b'), '/home/me/.kube/config': file('home') };
    const merged = await loadKubeconfig({ io: io(files, { KUBECONFIG: ':/none:/b:/a:/b:' }) });
    expect([merged?.currentContext, merged?.contexts.size]).toEqual(['b', 2]);
    expect((await loadKubeconfig({ io: io(files) }))?.currentContext).toBe('home');
    expect(await loadKubeconfig({ io: io(files, { KUBECONFIG: '/none' }) })).toBeUndefined();
    expect(await loadKubeconfig({ io: io({}) })).toBeUndefined();
  });

  it('resolves paths against the file they stand in', async () => {
    const files = {
      '/a/config': 'users: [{name: u, user: {tokenFile: t}}]',
      '/b/config': 'users: [{name: v, user: {tokenFile: t}}]',
    };
    const merged = await loadKubeconfig({ io: io(files, { KUBECONFIG: '/a/config:/b/config' }) });
    expect([merged?.users.get('u')?.tokenFile, merged?.users.get('v')?.tokenFile]).toEqual(['/a/t', '/b/t']);
  });

  it('names the file that is broken', async () => {
    await expect(loadKubeconfig({ io: io({ '/home/me/.kube/config': 'kind: Pod' }) })).rejects.toThrow(
      '/home/me/.kube/config: kind is "Pod"',
    );
  });
});

describe('renderKubeconfig', () => {
  it('writes what parses back to the same', () => {
    const options = {
      server: 'https://127.0.0.1:6443',
      caPem: 'CA\nPEM\n',
      token: 'a: "b" #',
      clientCertificatePem: 'CERT',
      clientKeyPem: 'KEY',
      namespace: 'no',
      tlsServerName: 'kubegc.test',
      name: 'my cluster',
    };
    const selected = selectContext(parseKubeconfig(renderKubeconfig(options)));
    expect(selected).toEqual({
      name: 'my cluster',
      namespace: 'no',
      cluster: {
        server: options.server,
        certificateAuthorityData: options.caPem,
        insecureSkipTlsVerify: false,
        tlsServerName: 'kubegc.test',
      },
      user: { token: options.token, clientCertificateData: 'CERT', clientKeyData: 'KEY' },
    });
  });

  it('looks as kubectl would have written it', () => {
    expect(renderKubeconfig({ server: 'https://127.0.0.1:6443', insecureSkipTlsVerify: true })).toBe(`apiVersion: v1
clusters:
- cluster:
    insecure-skip-tls-verify: true
    server: https://127.0.0.1:6443
  name: kubegc
contexts:
- context:
    cluster: kubegc
    user: kubegc
  name: kubegc
current-context: kubegc
kind: Config
users:
- name: kubegc
  user: {}
`);
    expect(KubeconfigError.name).toBe('KubeconfigError');
  });
});
