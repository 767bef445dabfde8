import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { describe, expect, it } from 'vitest';
import { createServingCertificates } from '../../../src/apiserver/authentication/certificates.ts';
import type { Authorizer } from '../../../src/apiserver/authorization/authorizer.ts';
import { serve } from '../../../src/apiserver/serving/http-server.ts';
import { configMaps, type Json, startTestServer } from '../../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import { systemRandom } from '../../../src/base/random/random.ts';

/** API-376: a request is made as whom it says, or not at all. */

const reviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const userOf = (json: Json): unknown => (json['status'] as { userInfo?: unknown } | undefined)?.userInfo;

describe('impersonation', () => {
  it.each([
    [{ 'impersonate-user': 'alice' }, { username: 'alice', groups: ['system:authenticated'] }],
    [
      { 'impersonate-user': 'alice', 'impersonate-group': ['dev', 'a,b'], 'impersonate-uid': '7' },
      { username: 'alice', uid: '7', groups: ['dev', 'a,b', 'system:authenticated'] },
    ],
    [
      { 'impersonate-user': 'alice', 'impersonate-extra-example.com%2fscope': ['view', 'edit'] },
      { username: 'alice', groups: ['system:authenticated'], extra: { 'example.com/scope': ['view', 'edit'] } },
    ],
    [
      { 'impersonate-user': 'system:serviceaccount:ns:robot' },
      {
        username: 'system:serviceaccount:ns:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      },
    ],
    [
      { 'impersonate-user': 'system:serviceaccount:ns:No_Robot' },
      { username: 'system:serviceaccount:ns:No_Robot', groups: ['system:authenticated'] },
    ],
    [{ 'impersonate-user': 'system:anonymous' }, { username: 'system:anonymous', groups: ['system:unauthenticated'] }],
  ])('API-376 %j', async (headers, expected) => {
    const server = await startTestServer();
    const { status, json } = await server.request('POST', reviews, {
      body: {},
      headers: headers as unknown as Record<string, string>,
    });
    expect([status, userOf(json)]).toEqual([201, expected]);
  });

  it('API-376 every part must be allowed, and then it is the other user who must be allowed', async () => {
    const asked: string[] = [];
    const authorizer: Authorizer = {
      authorize: ({ user, verb, group, resource, subresource, namespace, name }) => {
        asked.push([user.username, verb, group, resource, subresource, namespace, name].join(' '));
        const allowed = verb.startsWith('impersonate') ? verb === 'impersonate' && name !== 'root' : true;
        return { allowed, reason: '' };
      },
    };
    const server = await startTestServer({ authorizer });
    const refused = await server.request('GET', configMaps, { headers: { 'impersonate-user': 'root' } });
    expect([refused.status, refused.json.message]).toEqual([
      403,
      'configmaps is forbidden: User "system:anonymous" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "default"',
    ]);
    expect(asked).toEqual([
      'system:anonymous impersonate-on:user-info:list  configmaps  default ',
      'system:anonymous impersonate  users   root',
    ]);
    asked.length = 0;
    const headers = {
      'impersonate-user': 'system:serviceaccount:ns:robot',
      'impersonate-group': 'dev',
      'impersonate-uid': '7',
      'impersonate-extra-scope': 'view',
    };
    expect((await server.request('GET', configMaps, { headers })).status).toBe(200);
    expect(asked).toEqual([
      'system:anonymous impersonate  serviceaccounts  ns robot',
      'system:anonymous impersonate authentication.k8s.io uids   7',
      'system:anonymous impersonate  groups   dev',
      'system:anonymous impersonate authentication.k8s.io userextras scope  view',
      'system:serviceaccount:ns:robot list  configmaps  default ',
    ]);
  });

  it('API-376 a user who may impersonate a node or an account for one verb only gets no other identity, and no other verb', async () => {
    const rules: Record<string, readonly string[]> = {
      'impersonate-on:serviceaccount:list': ['configmaps'],
      'impersonate:serviceaccount': ['ns/robot'],
      'impersonate-on:arbitrary-node:list': ['configmaps'],
      'impersonate:arbitrary-node': ['/n1'],
      'impersonate-on:user-info:list': ['configmaps'],
      'impersonate:user-info': ['/alice', '/dev', '/system:masters', '/7', '/view'],
    };
    const seen: unknown[] = [];
    const authorizer: Authorizer = {
      authorize({ user, verb, group, resource, namespace, name }) {
        if (!verb.startsWith('impersonate')) seen.push(user);
        const part = verb.startsWith('impersonate:') && group === 'authentication.k8s.io';
        const allowed = rules[verb]?.includes(part ? `${namespace}/${name}` : resource) === true;
        return { allowed: allowed || !verb.startsWith('impersonate'), reason: '' };
      },
    };
    const server = await startTestServer({ authorizer });
    const as = async (path: string, headers: Record<string, string>): Promise<unknown> => {
      const { status, json } = await server.request('GET', path, { headers });
      return status === 403 ? json.message : status;
    };
    const robot = { 'impersonate-user': 'system:serviceaccount:ns:robot' };
    const node = { 'impersonate-user': 'system:node:n1' };
    const alice = { 'impersonate-user': 'alice' };
    expect([await as(configMaps, robot), await as(configMaps, node), await as(configMaps, alice)]).toEqual([
      200, 200, 200,
    ]);
    expect(seen).toEqual([
      {
        username: 'system:serviceaccount:ns:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      },
      { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] },
      { username: 'alice', groups: ['system:authenticated'] },
    ]);
    const full = { ...alice, 'impersonate-uid': '7', 'impersonate-group': 'dev', 'impersonate-extra-a.io%2fs': 'view' };
    expect(await as(configMaps, full)).toBe(200);
    const cannot = 'User "system:anonymous" cannot impersonate';
    expect(await as(`${configMaps}/a`, robot)).toContain(`${cannot}-on:serviceaccount:get resource "configmaps"`);
    expect(await as('/api/v1/pods', alice)).toContain(`${cannot}-on:user-info:list resource "pods"`);
    expect(await as(configMaps, { 'impersonate-user': 'system:node:n2' })).toBe(
      `nodes.authentication.k8s.io "n2" is forbidden: ${cannot}:arbitrary-node resource "nodes" in API group "authentication.k8s.io" at the cluster scope`,
    );
    expect(await as(configMaps, { ...alice, 'impersonate-group': 'system:masters' })).toContain(
      'impersonating the system:masters group is not allowed',
    );
    expect(await as(configMaps, { ...alice, 'impersonate-extra-scope': 'view' })).toContain('invalid key in extra');
    // With more than a name it would be anybody's account or node.
    expect(await as(configMaps, { ...robot, 'impersonate-group': 'dev' })).toContain(
      `${cannot} resource "serviceaccounts"`,
    );
    expect(await as(configMaps, { ...node, 'impersonate-uid': '7' })).toContain(`${cannot} resource "users"`);
  });

  it('API-376 an account is the node its pod runs on by a right to any node, and no other node', async () => {
    const asked: string[] = [];
    const authorizer: Authorizer = {
      authorize({ verb, resource, name }) {
        asked.push(`${verb} ${resource} ${name}`);
        return { allowed: !verb.startsWith('impersonate') || verb.includes('associated-node'), reason: '' };
      },
    };
    const authenticator = {
      authenticate: () => ({
        username: 'system:serviceaccount:ns:robot',
        groups: [],
        extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
      }),
    };
    const server = await startTestServer({ authorizer, authenticator });
    const as = async (name: string): Promise<number> =>
      (await server.request('GET', configMaps, { headers: { 'impersonate-user': name } })).status;
    expect(await as('system:node:n1')).toBe(200);
    expect(asked).toEqual([
      'impersonate-on:associated-node:list configmaps ',
      'impersonate:associated-node nodes *',
      'list configmaps ',
    ]);
    expect(await as('system:node:n2')).toBe(403);
  });

  it.each([
    ['impersonate-group', 'UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)'],
    ['impersonate-uid', 'UID:"x", Groups:[]string(nil), Extra:map[string][]string(nil)'],
    ['impersonate-extra-x', 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"x":[]string{"x"}}'],
  ])('API-376 %s without a user is 400', async (name, fields) => {
    const server = await startTestServer();
    const { status, json } = await server.request('GET', configMaps, { headers: { [name]: 'x' } });
    expect([status, json.reason, json.message]).toEqual([
      400,
      'BadRequest',
      `requested &user.DefaultInfo{Name:"", ${fields}} without impersonating a user name`,
    ]);
  });

  it('API-376 groups sent over sockets stay apart', async () => {
    const certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
    const { server } = await startTestServer();
    const listener = await serve({
      handler: server.handler,
      host: '127.0.0.1',
      port: 0,
      tls: { keyPem: certificates.keyPem, certPem: certificates.certPem },
    });
    const groups = ['a,b', 'c'];
    const one = await new Promise<string>((resolve, reject) => {
      const headers = { 'impersonate-user': 'alice', 'impersonate-group': groups, 'content-length': 2 };
      httpsRequest(
        {
          port: listener.port,
          host: '127.0.0.1',
          method: 'POST',
          path: reviews,
          ca: certificates.caPem,
          agent: false,
          headers,
        },
        (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('end', () => resolve(text));
        },
      )
        .on('error', reject)
        .end('{}');
    });
    const client = connect(listener.url, { ca: certificates.caPem });
    const two = await new Promise<string>((resolve, reject) => {
      const stream = client.request({
        ':method': 'POST',
        ':path': reviews,
        'impersonate-user': 'alice',
        'impersonate-group': groups,
      });
      let text = '';
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
      stream.on('end', () => resolve(text));
      stream.on('error', reject);
      stream.end('{}');
    });
    client.close();
    for (const text of [one, two]) {
      expect(userOf(JSON.parse(text) as Json)).toEqual({
        username: 'alice',
        groups: [...groups, 'system:authenticated'],
      });
    }
    await listener.close();
  });
});
