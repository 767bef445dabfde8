import { describe, expect, it } from 'vitest';

import { StatusError } from '../status-error.ts';
import type { DecodeRequestOptions } from './decode-request.ts';
import { decodeRequestBody, mediaTypeOf } from './decode-request.ts';
import { decodeProtobuf, encodeProtobuf } from './protobuf/protobuf.ts';
import { yamlSteps } from './yaml/yaml.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const codecs = { yaml: yamlSteps, protobuf: decodeProtobuf };
const CONFIG_MAP: DecodeRequestOptions = { kind: 'ConfigMap', protobuf: 'accepted', codecs };
const CUSTOM: DecodeRequestOptions = { kind: 'Widget', protobuf: 'refused', codecs };
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function failure(body: Uint8Array, contentType: string | undefined, options = CONFIG_MAP): StatusError {
  try {
    decodeRequestBody(body, contentType, options);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('the body was accepted');
}

describe('request bodies', () => {
  it.each([undefined, '', 'application/json', 'Application/JSON; charset=utf-8'])(
    'API-028 JSON by %j',
    (contentType) => {
      const text = '{"kind":"ConfigMap","data":{"a":"1","a":"2"}}';
      expect(decodeRequestBody(bytes(text), contentType, CONFIG_MAP)).toEqual({
        object: { kind: 'ConfigMap', data: { a: '2' } },
        duplicates: ['data.a'],
        repeated: [],
        text,
      });
    },
  );

  it.each(['application/yaml', PROTOBUF])('needs the codec of %s brought along', (contentType) => {
    expect(() => decodeRequestBody(bytes('{}'), contentType, { kind: 'ConfigMap', protobuf: 'accepted' })).toThrow(
      TypeError,
    );
  });

  it('API-028 YAML 1.1, with duplicates', () => {
    expect(decodeRequestBody(bytes('data:\n  a: yes\n  b: x\n  b: "no"\n'), 'application/yaml', CONFIG_MAP)).toEqual({
      object: { data: { a: true, b: 'no' } },
      duplicates: [],
      repeated: ['line 4: key "b" already set in map'],
    });
  });

  it('API-029 protobuf', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } };
    expect(decodeRequestBody(encodeProtobuf(object), PROTOBUF, CONFIG_MAP)).toMatchObject({ object, duplicates: [] });
  });

  it.each([
    ['text/plain', CONFIG_MAP, 'application/json, application/yaml, application/vnd.kubernetes.protobuf'],
    ['application/cbor', CONFIG_MAP, 'application/json, application/yaml, application/vnd.kubernetes.protobuf'],
    ['application/merge-patch+json', CUSTOM, 'application/json, application/yaml'],
    [PROTOBUF, CUSTOM, 'application/json, application/yaml'],
  ])('API-028 API-030 API-032 %s is 415', (contentType, options, accepted) => {
    const error = failure(bytes('{}'), contentType, options);
    expect([error.code, error.reason]).toEqual([415, 'UnsupportedMediaType']);
    expect(error.message).toBe(
      `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
    );
  });

  it.each([
    ['', undefined, "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"],
    ['{"kind":', undefined, `couldn't get version/kind; json parse error: unexpected end of JSON input ({"kind":)`],
    [
      '[1]',
      undefined,
      `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b315d)`,
    ],
    [
      '{"kind":1}',
      undefined,
      `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})`,
    ],
    ['true', undefined, 'json: cannot unmarshal bool into Go value of type struct'],
    ['{"kind":[1]}', undefined, 'json: cannot unmarshal array into Go struct field .kind of type string'],
    [`{"a":"${'x'.repeat(40)}`, undefined, '({"a":"xxxxxxxxxxxxxxxxxxxxxxxx ...)'],
    ['a: b: c', 'application/yaml', 'error converting YAML to JSON: yaml: '],
    [
      'nonsense',
      PROTOBUF,
      'ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (6e6f6e73656e7365)',
    ],
    ['', PROTOBUF, 'ConfigMap): empty data (<empty>)'],
    ['k8s\0', PROTOBUF, 'ConfigMap): empty body (6b387300)'],
  ])('API-150 %j as %s is 400', (body, contentType, text) => {
    const error = failure(bytes(body), contentType);
    expect([error.code, error.reason]).toEqual([400, 'BadRequest']);
    expect(error.message).toMatch(/^the object provided is unrecognized \(must be of type ConfigMap\): /);
    expect(error.message).toContain(text);
  });

  it.each([
    ['null', 'application/json'],
    ['null', 'application/yaml'],
    ['', 'application/yaml'],
    ['# nothing', 'application/yaml'],
  ])('API-150 API-240 %j as %s is an object without fields, or no options', (body, contentType) => {
    const options: DecodeRequestOptions = { ...CONFIG_MAP, kind: 'DeleteOptions' };
    expect(decodeRequestBody(bytes(body), contentType, options).object).toEqual({});
    expect(decodeRequestBody(bytes(body), contentType, CONFIG_MAP).object).toEqual({});
  });

  it('API-150 null as kind is no kind', () => {
    expect(decodeRequestBody(bytes('{"kind":null}'), undefined, CONFIG_MAP).object).toEqual({});
  });

  it('parameters of a media type are cut off', () => {
    expect(mediaTypeOf(' application/YAML ;x=y')).toBe('application/yaml');
  });
});
