import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { type Answer, startTestServer, type TestServer } from './test-server.ts';

/** A request to create LimitRange `a`, to which faults are added. */
interface Attempt {
  readonly server: TestServer;
  /** The namespace in the path. */
  namespace: string;
  readonly object: KubeObject;
}

interface Fault {
  readonly status: number;
  readonly message: RegExp;
  put(attempt: Attempt): Promise<void> | void;
}

const limitRanges = (namespace: string): string => `/api/v1/namespaces/${namespace}/limitranges`;

/** The faults in the order in which kube-apiserver checks them: if there are two, the answer is about the first one in this table. */
const faults: Readonly<Record<string, Fault>> = {
  'another namespace than that of the path': {
    status: 400,
    message: /namespace of the provided object does not match/,
    put: ({ object }) => {
      object.metadata!.namespace = 'elsewhere';
    },
  },
  'a uid where nothing exists': {
    status: 409,
    message: /uid mismatch|Precondition failed: UID in precondition: u, UID in object meta: $/,
    put: ({ object }) => {
      object.metadata!.uid = 'u';
    },
  },
  'a namespace that does not exist': {
    status: 404,
    message: /namespaces "missing" not found/,
    put: (attempt) => {
      attempt.namespace = 'missing';
    },
  },
  'an invalid label': {
    status: 422,
    message: /metadata.labels: Invalid value/,
    put: ({ object }) => {
      object.metadata!.labels = { l: 'not a label!' };
    },
  },
  'an exceeded quota': {
    status: 403,
    message: /exceeded quota: none/,
    put: async ({ server }) => {
      const quotas = '/api/v1/namespaces/default/resourcequotas';
      const hard = { 'count/limitranges': '0' };
      await server.post(quotas, { metadata: { name: 'none' }, spec: { hard } });
      const counted = await server.patch(`${quotas}/none/status`, { status: { hard, used: hard } });
      expect(counted.status).toBe(200);
    },
  },
  'a resourceVersion': {
    status: 500,
    message: /^resourceVersion should not be set on objects to be created$/,
    put: ({ object }) => {
      object.metadata!.resourceVersion = '5';
    },
  },
  'a name that exists': {
    status: 409,
    message: /limitranges "a" already exists/,
    put: async ({ server }) => {
      const other = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'a' }, spec: { limits: [] } };
      expect((await server.post(limitRanges('default'), other)).status).toBe(201);
    },
  },
};

type Send = (attempt: Attempt) => Promise<Answer>;

const post: Send = ({ server, namespace, object }) => server.post(limitRanges(namespace), object);
const dryRun: Send = ({ server, namespace, object }) => server.post(`${limitRanges(namespace)}?dryRun=All`, object);
const put: Send = ({ server, namespace, object }) => server.put(`${limitRanges(namespace)}/a`, object);
const apply: Send = ({ server, namespace, object }) =>
  server.request('PATCH', `${limitRanges(namespace)}/a?fieldManager=m`, {
    body: JSON.stringify(object),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });

/** Adds the faults, `a` last, because an object that exists already must not hide the other faults. */
async function answerTo(send: Send, names: readonly string[]): Promise<Answer> {
  const server = await startTestServer();
  const metadata = { name: 'a' };
  const attempt: Attempt = {
    server,
    namespace: 'default',
    object: { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits: [] } } as KubeObject,
  };
  for (const name of names.toReversed()) await faults[name]!.put(attempt);
  return send(attempt);
}

/** The names of all faults except these, in order. */
const except = (...left: readonly string[]): string[] => Object.keys(faults).filter((name) => !left.includes(name));
const NOT_IN_POST = 'a uid where nothing exists';
/** A patch compares the uid directly after it was applied, so before the namespace. */
const appliedOrder = [NOT_IN_POST, ...except(NOT_IN_POST, 'a resourceVersion', 'a name that exists')];
const verbs: readonly [string, Send, readonly string[]][] = [
  ['POST', post, except(NOT_IN_POST)],
  ['POST as a dry run', dryRun, except(NOT_IN_POST, 'a resourceVersion')],
  ['PUT', put, except('a resourceVersion', 'a name that exists')],
  ['apply', apply, appliedOrder],
];

describe.each(verbs)('%s that creates', (_verb, send, names) => {
  const pairs = names.flatMap((first, index) => names.slice(index).map((second) => [first, second] as const));

  it.each(pairs)('API-151 answers %s before %s', async (first, second) => {
    const answer = await answerTo(send, first === second ? [first] : [first, second]);
    const { status, message } = faults[first]!;
    expect({ status: answer.status, message: answer.json.message }).toEqual({
      status,
      message: expect.stringMatching(message),
    });
  });
});

describe('a resourceVersion of an object to be created', () => {
  it.each([
    ['POST', post, '', 201],
    ['POST', post, '0', 201],
    ['POST', post, 'no-number', 201],
    ['POST', post, '18446744073709551616', 201],
    ['POST', post, '18446744073709551615', 500],
    ['POST as a dry run', dryRun, '5', 201],
    ['PUT', put, '5', 201],
    ['apply', apply, '5', 201],
  ] as const)('API-060 in %s: %o is %o', async (_verb, send, version, status) => {
    const server = await startTestServer();
    const metadata = { name: 'a', resourceVersion: version };
    const object = { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits: [] } } as KubeObject;
    expect((await send({ server, namespace: 'default', object })).status).toBe(status);
  });

  it('API-060 is not stored when it is taken', async () => {
    const server = await startTestServer();
    const metadata = { name: 'a', resourceVersion: 'no-number' };
    const object = { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits: [] } };
    const created = await server.post(limitRanges('default'), object);
    expect(created.json.metadata?.resourceVersion).toMatch(/^\d+$/);
  });
});
