import { describe, expect, it } from 'vitest';
import { decodeContinueToken, encodeContinueToken, INCONSISTENT } from './continue-token.ts';

const prefix = '/registry/core/pods/';

describe('continue token', () => {
  it('API-098 comes back as it went, also without a snapshot', () => {
    for (const revision of [1, 4711, INCONSISTENT]) {
      const token = { revision, startKey: '/registry/core/pods/ns/p\u0000' };
      expect(decodeContinueToken(encodeContinueToken(token, prefix), prefix)).toEqual(token);
    }
  });

  it('API-098 a key with a slash in front is below the range, and any negative revision means the newest', () => {
    const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":-2,"start":"/registry/core/secrets"}').toString('base64url');
    expect(decodeContinueToken(token, prefix)).toEqual({
      revision: INCONSISTENT,
      startKey: '/registry/core/pods/registry/core/secrets',
    });
  });

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  it.each([
    ['%%%', 'illegal base64 data at input byte 0'],
    ['ab!', 'illegal base64 data at input byte 2'],
    ['x', 'illegal base64 data at input byte 0'],
    ['', 'unexpected end of JSON input'],
    ['\r\n', 'unexpected end of JSON input'],
    ['garbage', String.raw`invalid character '\u0081' looking for beginning of value`],
    [Buffer.of(0xff).toString('base64url'), "invalid character 'ÿ' looking for beginning of value"],
    ['AB\nCD', String.raw`invalid character '\x00' looking for beginning of value`],
    [Buffer.from('nope').toString('base64url'), "invalid character 'o' in literal null (expecting 'u')"],
    [encode([]), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [encode({ v: 1 }), 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
    [encode({ rv: '1' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [encode({ rv: 1.5 }), 'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64'],
    [encode({ V: 'v9', x: 1 }), 'server does not recognize this encoded version v9'],
    [encode({ v: null }), 'server does not recognize this encoded version '],
    [encode({}), 'server does not recognize this encoded version '],
    [encode({ v: 'v9' }), 'server does not recognize this encoded version v9'],
    [encode({ v: 'meta.k8s.io/v1', rv: 1, start: '../x' }), '../x'],
    [encode({ v: 'meta.k8s.io/v1', rv: 1, start: 'a/./b' }), 'a/./b'],
    [encode({ v: 'meta.k8s.io/v1', rv: 1, start: 'a//b' }), 'a//b'],
    [encode({ v: 'meta.k8s.io/v1', rv: 1, start: 'a/' }), 'a/'],
  ])('API-098 %j is refused in the words of kube-apiserver', (text, why) => {
    expect(() => decodeContinueToken(text, prefix)).toThrow(
      `invalid continue token: continue key is not valid: ${why}`,
    );
  });

  it.each([
    ['nonsense', '%%%'],
    ['not an object', encode(3)],
    ['another version', encode({ v: 'v9', rv: 1, start: 'a' })],
    ['revision zero', encode({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' })],
    ['revision as text', encode({ v: 'meta.k8s.io/v1', rv: '1', start: 'a' })],
    ['no key', encode({ v: 'meta.k8s.io/v1', rv: 1 })],
    ['a key outside the range', encode({ v: 'meta.k8s.io/v1', rv: 1, start: '../secrets/a' })],
  ])('API-098 %s is 400', (_name, text) => {
    expect(() => decodeContinueToken(text, prefix)).toThrow(/continue key is not valid/);
    expect(() => decodeContinueToken(text, prefix)).toThrow(expect.objectContaining({ code: 400 }));
  });
});
