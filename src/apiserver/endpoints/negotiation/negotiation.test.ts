import { describe, expect, it } from 'vitest';
import { negotiate, transformMismatch, wantsPretty, type Representable } from './negotiation.ts';

const object: Representable = { shape: 'object', custom: false, hasMetadata: true };
const list: Representable = { ...object, shape: 'list' };
const watch: Representable = { ...object, shape: 'watch' };
const custom: Representable = { ...object, custom: true };
const review: Representable = { ...object, hasMetadata: false };

const kubectlGet =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
const metadataList =
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const metadataGet = metadataList.replaceAll('PartialObjectMetadataList', 'PartialObjectMetadata');

describe('negotiation', () => {
  const accepted: readonly [string, string | undefined, Representable, object][] = [
    ['no Accept', undefined, object, { mediaType: 'application/json' }],
    ['empty Accept', '', object, { mediaType: 'application/json' }],
    ['*/*', '*/*', object, { mediaType: 'application/json' }],
    ['yaml', 'application/yaml', object, { mediaType: 'application/yaml' }],
    ['kubectl get', kubectlGet, list, { mediaType: 'application/json', transform: { kind: 'Table', version: 'v1' } }],
    [
      'kubectl get -w',
      kubectlGet,
      watch,
      { mediaType: 'application/json', transform: { kind: 'Table', version: 'v1' } },
    ],
    [
      'kubectl typed',
      'application/vnd.kubernetes.protobuf,application/json',
      object,
      { mediaType: 'application/vnd.kubernetes.protobuf' },
    ],
    [
      'kubectl typed on a custom resource',
      'application/vnd.kubernetes.protobuf,application/json',
      custom,
      { mediaType: 'application/json' },
    ],
    [
      'metadata list',
      metadataList,
      list,
      {
        mediaType: 'application/vnd.kubernetes.protobuf',
        transform: { kind: 'PartialObjectMetadataList', version: 'v1' },
      },
    ],
    [
      'metadata get of a custom resource',
      metadataGet,
      custom,
      { mediaType: 'application/vnd.kubernetes.protobuf', transform: { kind: 'PartialObjectMetadata', version: 'v1' } },
    ],
    [
      'e2e typed client',
      'application/vnd.kubernetes.protobuf, */*',
      watch,
      { mediaType: 'application/vnd.kubernetes.protobuf' },
    ],
    [
      'protobuf table falls to the next clause',
      'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json',
      list,
      { mediaType: 'application/json' },
    ],
    ['quality sorts', 'application/json;q=0.5,application/yaml;q=0.9', object, { mediaType: 'application/yaml' }],
    ['unknown parameters are tolerated', 'application/json; charset=utf-8', object, { mediaType: 'application/json' }],
    ['pretty=1', 'application/json;pretty=1', object, { mediaType: 'application/json', pretty: true }],
    ['stream=watch', 'application/json;stream=watch', watch, { mediaType: 'application/json' }],
    ['stream=watch of a list', 'application/json;stream=watch', list, { mediaType: 'application/json' }],
    [
      'stream=watch of an object',
      'application/vnd.kubernetes.protobuf;stream=watch',
      object,
      { mediaType: 'application/vnd.kubernetes.protobuf' },
    ],
    [
      'YAML has no streaming form, the next clause counts',
      'application/yaml;stream=watch,application/json',
      list,
      { mediaType: 'application/json' },
    ],
    [
      'another server version is refused, the next clause counts',
      'application/json;sv=v2,application/yaml',
      object,
      { mediaType: 'application/yaml' },
    ],
    ['the server version of the API', 'application/json;sv=v1', object, { mediaType: 'application/json' }],
    ['empty parameters', 'application/json;as=;g=;v=;sv=;stream=', object, { mediaType: 'application/json' }],
    ['application/* on a custom resource', 'application/*', custom, { mediaType: 'application/json' }],
    ['unknown first', 'text/html, application/json', object, { mediaType: 'application/json' }],
    ['quality 0 refuses', 'application/json;q=0,application/yaml', object, { mediaType: 'application/yaml' }],
    ['review kinds have no table', `${kubectlGet}`, review, { mediaType: 'application/json' }],
  ];
  it.each(accepted)('API-021 API-023 API-024 %s', (_name, accept, target, expected) => {
    expect(negotiate(accept, target)).toEqual({ outcome: 'accepted', representation: { pretty: false, ...expected } });
  });

  const plain = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
  const stream = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
  const refused: readonly [string, Representable, string][] = [
    ['text/html', object, `406: Not Acceptable\n\nAvailable representations: ${plain}`],
    ['application/*', object, `406: Not Acceptable\n\nAvailable representations: ${plain}`],
    ['text/html', list, `406: Not Acceptable\n\nAvailable representations: ${plain}, ${stream}`],
    ['application/json;as=Nosuch;g=meta.k8s.io;v=v1', object, `only the following media types are accepted: ${plain}`],
    ['application/json;as=Table;g=meta.k8s.io;v=v9', list, `only the following media types are accepted: ${plain}`],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', review, `only the following media types are accepted: ${plain}`],
    ['application/json;stream=list', list, `only the following media types are accepted: ${plain}`],
    ['application/json;stream=list', watch, `only the following media types are accepted: ${plain}`],
    ['application/json;v=v1', object, `only the following media types are accepted: ${plain}`],
    ['application/yaml;stream=watch', object, `only the following media types are accepted: ${plain}`],
    ['application/yaml;stream=watch', watch, `only the following media types are accepted: ${plain}`],
    ['application/yaml', watch, `only the following media types are accepted: ${stream}`],
    ['application/yaml,application/json', watch, `only the following media types are accepted: ${stream}`],
    ['text/html', custom, `only the following media types are accepted: ${plain}`],
    ['application/vnd.kubernetes.protobuf', custom, `only the following media types are accepted: ${plain}`],
  ];
  it.each(refused)('API-022 API-434 %s is not acceptable', (accept, target, message) => {
    expect(negotiate(accept, target)).toEqual({ outcome: 'notAcceptable', message });
  });

  it('API-025 an object asked as a list, and a list asked as an object', () => {
    const asList = negotiate('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', object);
    if (asList.outcome !== 'accepted') throw new Error('not accepted');
    expect(transformMismatch(asList.representation, object, '*v1.Pod')).toBe(
      'you requested PartialObjectMetadataList, but the requested object is not a list (*v1.Pod)',
    );
    expect(transformMismatch(asList.representation, list, '*v1.PodList')).toBeUndefined();
    const asObject = negotiate('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', list);
    if (asObject.outcome !== 'accepted') throw new Error('not accepted');
    expect(transformMismatch(asObject.representation, list, '*v1.PodList')).toBe(
      'you requested PartialObjectMetadata, but the requested object is a list (*v1.PodList)',
    );
    expect(transformMismatch(asObject.representation, watch, '*v1.Pod')).toBeUndefined();
  });

  it.each([
    ['pretty=true', 'kubectl/v1.33', true],
    ['pretty=false', 'curl/8', false],
    ['', 'curl/8', true],
    ['', 'Wget/1', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['', 'kubectl/v1.33', false],
    ['', undefined, false],
  ])('API-011 %s with user agent %s: %s', (query, agent, expected) => {
    expect(wantsPretty(new URLSearchParams(query), agent)).toBe(expected);
  });
});
