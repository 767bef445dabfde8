import { describe, expect, it } from 'vitest';
import { configMap, configMaps } from '../../../src/apiserver/test/test-server.ts';
import { BadInputServer, deployments, ns, refusal, type Row, startingWith, widgets, WITNESS } from './refusal.ts';

const rig = new BadInputServer();
const { refuses } = rig;

const notFound = 'the server could not find the requested resource';
const notAllowed = 'the server does not allow this method on the requested resource';
const get = (target: string, accept?: string) => ({
  method: 'GET',
  target,
  ...(accept === undefined ? {} : { headers: { accept } }),
});
const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('paths', () => {
  refuses(
    'percent-encodings of nothing',
    ['%', '%zz', '%ff', '%e4%b', '%c0%ae'].map((name): Row => [
      name,
      get(`${configMaps}/${name}`),
      refusal(400, `invalid URL escape in path "${configMaps}/${name}"`),
    ]),
  );
  refuses('names that are none name nothing', [
    ...(
      [
        ['.', '.'],
        ['..', '..'],
        ['%2e%2e', '..'],
        ['a%2Fb', 'a/b'],
        ['..%2Fdefault%2Fwitness', '../default/witness'],
        ['%E2%98%83', '☃'],
        ['constructor', 'constructor'],
        ['__proto__', '__proto__'],
        ['a'.repeat(10_000), 'a'.repeat(10_000)],
      ] as const
    ).map(([name, decoded]): Row => [
      name.slice(0, 30),
      get(`${configMaps}/${name}`),
      refusal(404, `configmaps "${decoded}" not found`),
    ]),
    ['%00', get(`${configMaps}/%00`), refusal(404, String.raw`configmaps "\x00" not found`)],
    [
      'another resource’s key',
      get('/api/v1/nodes/..%2Fconfigmaps%2Fdefault%2Fwitness'),
      refusal(404, /^nodes ".*" not found$/),
    ],
    [
      'a namespace with a slash',
      get('/api/v1/namespaces/default%2Fwitness/configmaps/x'),
      refusal(404, 'configmaps "x" not found'),
    ],
    ['DELETE', { method: 'DELETE', target: `${configMaps}/a%2Fb` }, refusal(404, 'configmaps "a/b" not found')],
    [
      'PATCH',
      {
        method: 'PATCH',
        target: `${configMaps}/..`,
        body: {},
        headers: { 'content-type': 'application/merge-patch+json' },
      },
      refusal(404, 'configmaps ".." not found'),
    ],
  ]);
  refuses('API-004 empty and surplus segments', [
    ['before the namespace', get('/api/v1//namespaces/default/configmaps'), refusal(404, notFound)],
    ['before the name', get(`${configMaps}//witness`), refusal(404, notFound)],
    ['no namespace, a name', get('/api/v1/namespaces//configmaps/witness'), refusal(404, notFound)],
    ['after the subresource', get(`${deployments}/d/status/x`), refusal(404, notFound)],
    ['a subresource that is not', get(`${WITNESS}/status`), refusal(404, notFound)],
    ['an inherited name as subresource', get(`${WITNESS}/constructor`), refusal(404, notFound)],
    ['an inherited name as resource', get('/api/v1/__proto__'), refusal(404, notFound)],
    ['only watch', get('/api/v1/watch'), refusal(404, notFound)],
    ['fifty thousand', get(`/api/v1/${'x/'.repeat(50_000)}`), refusal(404, notFound)],
  ]);

  it.each([
    '/constructor',
    '/__proto__',
    '/toString',
    '/healthz/constructor',
    '/apis/constructor',
    '/apis/__proto__/v1/x',
    '/openapi/v3/__proto__',
    '',
    '*',
    '//',
    '/../etc/passwd',
    `/${'a'.repeat(100_000)}`,
  ])('API-004 nothing is at %.40s', async (target) => {
    const { status, text, headers } = await rig.server.get(target);
    if (target === '//') return;
    expect([status, text]).toEqual([404, '404 page not found\n']);
    expect(headers['content-type']).toContain('text/plain');
  });

  refuses('API-005 methods', [
    ['POST to a name', { target: WITNESS, body: configMap('witness') }, refusal(405, notAllowed)],
    [
      'PUT to a collection',
      { method: 'PUT', target: configMaps, body: configMap('witness') },
      refusal(405, notAllowed),
    ],
    ['PATCH of a collection', { method: 'PATCH', target: configMaps, body: {} }, refusal(405, notAllowed)],
    ['POST over all namespaces', { target: '/api/v1/configmaps', body: configMap('x') }, refusal(405, notAllowed)],
    ['DELETE over all namespaces', { method: 'DELETE', target: '/api/v1/configmaps' }, refusal(405, notAllowed)],
    ['API-273 DELETE of all namespaces', { method: 'DELETE', target: '/api/v1/namespaces' }, refusal(405, notAllowed)],
    ['DELETE of a status', { method: 'DELETE', target: `${deployments}/d/status` }, refusal(405, notAllowed)],
    ['GET of a review', get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'), refusal(405, notAllowed)],
    ['a method of nobody', { method: 'BREW', target: WITNESS }, refusal(405, notAllowed)],
    [
      'a method of nobody, custom',
      { method: 'BREW', target: `${widgets}/w` },
      refusal(405, ' is not supported on resources of kind "widgets.example.com"'),
    ],
    ['PUT to a custom collection', { method: 'PUT', target: widgets, body: {} }, refusal(400, 'name must be provided')],
  ]);
});

describe('queries', () => {
  const list = (query: string) => get(`${configMaps}?${query}`);
  const watch = (query: string) => get(`${configMaps}?watch=1&${query}`);
  const create = (query: string) => ({ target: `${configMaps}?${query}`, body: configMap('x') });
  refuses(
    'API-016 numbers',
    ['limit', 'timeoutSeconds'].flatMap((name): Row[] => [
      [`${name}=abc`, list(`${name}=abc`), refusal(400, 'strconv.ParseInt: parsing "abc": invalid syntax')],
      [`${name}=1e3`, list(`${name}=1e3`), refusal(400, 'strconv.ParseInt: parsing "1e3": invalid syntax')],
      [
        `${name}=2^64`,
        list(`${name}=18446744073709551616`),
        refusal(400, 'strconv.ParseInt: parsing "18446744073709551616": value out of range'),
      ],
      [`${name} of a watch`, watch(`${name}=x`), refusal(400, 'strconv.ParseInt: parsing "x": invalid syntax')],
    ]),
  );
  refuses('API-139 API-094 resourceVersion', [
    ...['abc', '-1', '0x10', '1.5'].flatMap((text): Row[] => [
      [
        `list ${text}`,
        list(`resourceVersion=${text}`),
        refusal(
          400,
          `invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
        ),
      ],
      [
        `get ${text}`,
        get(`${WITNESS}?resourceVersion=${text}`),
        refusal(500, `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`),
      ],
      [
        `watch ${text}`,
        watch(`resourceVersion=${text}`),
        refusal(500, startingWith(`resourceVersion: Invalid value: "${text}": `)),
      ],
    ]),
    [
      'list of the future',
      list('resourceVersion=999999'),
      refusal(504, startingWith('Timeout: Too large resource version: 999999, current: ')),
    ],
  ]);
  refuses('API-098 continue', [
    ...(
      [
        ['no base64', 'continue=%00'],
        ['no JSON', 'continue=abc'],
        ['null', `continue=${token(null)}`],
        ['deep', `continue=${Buffer.from('['.repeat(10_000)).toString('base64url')}`],
        ['another version', `continue=${token({ v: 'v2', rv: 1, start: 'a' })}`],
        ['no revision', `continue=${token({ v: 'meta.k8s.io/v1', start: 'a' })}`],
        ['a huge revision', `continue=${token({ v: 'meta.k8s.io/v1', rv: 1e300, start: 'a' })}`],
        ['no key', `continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: '' })}`],
        ['a key that is none', `continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: 5 })}`],
      ] as const
    ).map(([what, query]): Row => [what, list(query), refusal(400, startingWith('invalid continue token: '))]),
    [
      'out of the list',
      list(`continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: '../secrets/x' })}`),
      refusal(400, 'invalid continue token: continue key is not valid: ../secrets/x'),
    ],
    [
      'with a revision',
      list(`resourceVersion=1&continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a' })}`),
      refusal(400, 'specifying resource version is not allowed when using continue'),
    ],
  ]);
  refuses(
    'API-101 label selectors',
    (
      [
        ['a in', "unable to parse requirement: found '' expected: '('"],
        ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
        ['a=b=c', "found '=', expected: ',' or 'end of string'"],
        [',', "found ',', expected: !, identifier, or 'end of string'"],
        ['!'.repeat(10_000), "unable to parse requirement: found '!', expected: identifier"],
        ['__proto__', /^unable to parse requirement: <nil>: Invalid value: "__proto__": name part must consist of/],
        ['a b', /^unable to parse requirement: found 'b', expected: /],
        ['a>x', /for 'Gt', 'Lt' operators, the value must be an integer/],
        ['\u0000', /Invalid value: "\\x00"/],
      ] as const
    ).flatMap(([selector, message]): Row[] => [
      [selector.slice(0, 20), list(`labelSelector=${encodeURIComponent(selector)}`), refusal(400, message)],
      [
        `delete ${selector.slice(0, 20)}`,
        { method: 'DELETE', target: `${configMaps}?labelSelector=${encodeURIComponent(selector)}` },
        refusal(400, message),
      ],
    ]),
  );
  refuses('API-102 field selectors', [
    ['no operator', list('fieldSelector=x'), refusal(400, "invalid selector: 'x'; can't understand 'x'")],
    [
      'a bad escape',
      list('fieldSelector=metadata.name%3D%5C'),
      refusal(400, String.raw`invalid field selector: invalid escape sequence: \ `.trim()),
    ],
    [
      'unknown',
      list('fieldSelector=data.k%3Dv'),
      refusal(400, '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"'),
    ],
    ['unknown, pods', get(`${ns}/pods?fieldSelector=spec.x%3Dy`), refusal(400, 'field label not supported: spec.x')],
    ['unknown, custom', get(`${widgets}?fieldSelector=spec.x%3Dy`), refusal(400, 'field label not supported: spec.x')],
    ['inherited', list('fieldSelector=constructor%3Dx'), refusal(400, /^"constructor" is not a known field selector/)],
    [
      'delete',
      { method: 'DELETE', target: `${configMaps}?fieldSelector=x%3Dy` },
      refusal(400, /^"x" is not a known field selector/),
    ],
  ]);
  refuses('API-100 API-130 combinations', [
    [
      'match without a revision',
      list('resourceVersionMatch=Exact'),
      refusal(
        422,
        /resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided/,
      ),
    ],
    [
      'unknown match',
      list('resourceVersionMatch=x&resourceVersion=1'),
      refusal(422, /resourceVersionMatch: Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""/),
    ],
    [
      'initial events of a list',
      list('sendInitialEvents=true'),
      refusal(422, /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list/),
    ],
    [
      'initial events without a match',
      watch('sendInitialEvents=true'),
      refusal(
        422,
        /resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
      ),
    ],
  ]);
  refuses(
    'API-006 timeouts',
    ['abc', '-1s', '1', '1x'].map((text): Row => [
      text,
      list(`timeout=${text}`),
      refusal(400, `invalid timeout specified in the request URL - "${text}"`),
    ]),
  );
  refuses('API-230 API-236 options of writes', [
    [
      'dryRun',
      create('dryRun=x'),
      refusal(
        422,
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
      ),
    ],
    [
      'fieldValidation',
      create('fieldValidation=x'),
      refusal(
        422,
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"',
      ),
    ],
    [
      'of a PUT',
      { method: 'PUT', target: `${WITNESS}?dryRun=x`, body: configMap('witness') },
      refusal(422, startingWith('UpdateOptions.meta.k8s.io "" is invalid: dryRun: ')),
    ],
    [
      'of a PATCH',
      {
        method: 'PATCH',
        target: `${WITNESS}?fieldValidation=x`,
        body: '{}',
        headers: { 'content-type': 'application/merge-patch+json' },
      },
      refusal(422, startingWith('PatchOptions.meta.k8s.io "" is invalid: fieldValidation: ')),
    ],
    [
      'two at once',
      create('dryRun=x&fieldValidation=y'),
      refusal(422, /is invalid: \[dryRun: .*, fieldValidation: .*\]$/),
    ],
  ]);
  const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
  const include = `Unable to convert to Table as requested: includeObject: Invalid value: "x": must be 'Metadata', 'Object', 'None', or empty`;
  refuses(
    'API-430 includeObject, before anything is written',
    ['GET', 'PUT', 'POST', 'DELETE'].map((method): Row => {
      const target = method === 'POST' ? configMaps : WITNESS;
      const body = method === 'GET' || method === 'DELETE' ? undefined : configMap(method === 'POST' ? 'x' : 'witness');
      return [method, { method, target: `${target}?includeObject=x`, body, headers: table }, refusal(400, include)];
    }),
  );

  it('API-016 what is no option, or a boolean, never fails', async () => {
    for (const query of ['%', '&&=&', 'a=%E0%A4%A', 'nosuch=1', 'pretty=maybe', 'allowWatchBookmarks=x', '%zz=%zz']) {
      expect((await rig.server.get(`${configMaps}?${query}`)).status).toBe(200);
    }
  });
});

describe('Accept', () => {
  const available = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
  const unknownType = `406: Not Acceptable\n\nAvailable representations: ${available}`;
  const unmet = `only the following media types are accepted: ${available}`;
  refuses('API-022 of nobody', [
    ...['text/html', 'application/*', 'x', ';', 'application/cbor'].map((accept): Row => [
      accept,
      get(WITNESS, accept),
      refusal(406, unknownType),
    ]),
    [
      'a list',
      get(configMaps, 'text/html'),
      refusal(406, startingWith(`${unknownType}, application/json;stream=watch`)),
    ],
    ...[
      'application/json;as=Nosuch;g=meta.k8s.io;v=v1',
      'application/json;as=Table;g=meta.k8s.io;v=v9',
      'application/json;as=Table;g=apps;v=v1',
      'application/json;as=Table',
      'application/json;sv=1',
      'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1',
    ].map((accept): Row => [accept, get(WITNESS, accept), refusal(406, unmet)]),
    [
      'custom',
      get(`${widgets}/w`, 'text/html'),
      refusal(406, startingWith('only the following media types are accepted: ')),
    ],
  ]);

  const asList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  const asObject = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const noList = 'you requested PartialObjectMetadataList, but the requested object is not a list (*v1.ConfigMap)';
  const noObject = 'you requested PartialObjectMetadata, but the requested object is a list (*v1.ConfigMapList)';
  const merge = { 'content-type': 'application/merge-patch+json', accept: asList };
  it('API-027 an error is a plain Status in a media type the client takes', async () => {
    const metadata = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const protobuf = 'application/vnd.kubernetes.protobuf';
    for (const [accept, expected] of [
      [`application/json;as=Table;g=meta.k8s.io;v=v1`, 'application/json'],
      [`${protobuf};${metadata},application/json;${metadata},application/json`, 'application/json'],
      [`${protobuf},application/json`, protobuf],
      ['text/html,application/yaml', 'application/yaml'],
      ['application/json;q=0.1,application/yaml', 'application/yaml'],
      ['text/html', 'application/json'],
    ] as const) {
      const { status, headers } = await rig.server.get('/api/v1/nosuch', { accept });
      expect([accept, status, headers['content-type']]).toEqual([accept, 404, expected]);
    }
    for (const [path, accept] of [
      [`${configMaps}?watch=1`, 'application/yaml,application/json'],
      [`${widgets}/w`, protobuf],
    ] as const) {
      const { status, headers, text } = await rig.server.get(path, { accept });
      expect([path, status, headers['content-type']]).toEqual([path, 406, accept.split(',')[0]]);
      expect(text).toContain('only the following media types are accepted: ');
    }
    const curl = await rig.server.get('/api/v1/nosuch', { 'user-agent': 'curl/8' });
    expect(curl.text).toContain('{\n  "kind": "Status",\n');
  });

  refuses('API-025 in the wrong shape, and before anything is written', [
    ['GET', get(WITNESS, asList), refusal(406, noList)],
    ['list', get(configMaps, asObject), refusal(406, noObject)],
    ['watch', get(`${configMaps}?watch=1`, asList), refusal(406, noList)],
    ['POST', { target: configMaps, body: configMap('x'), headers: { accept: asList } }, refusal(406, noList)],
    [
      'PUT',
      { method: 'PUT', target: WITNESS, body: configMap('witness'), headers: { accept: asList } },
      refusal(406, noList),
    ],
    ['PATCH', { method: 'PATCH', target: WITNESS, body: '{"data":{"k":"w"}}', headers: merge }, refusal(406, noList)],
    ['DELETE', { method: 'DELETE', target: WITNESS, headers: { accept: asList } }, refusal(406, noList)],
    [
      'DELETE of a collection',
      { method: 'DELETE', target: configMaps, headers: { accept: asObject } },
      refusal(406, noObject),
    ],
  ]);
});
