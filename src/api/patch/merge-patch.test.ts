import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { copyJson, isJsonObject } from '../codec/json/json-value.ts';
import { applyMergePatch } from './merge-patch.ts';

const json = (text: string): unknown => JSON.parse(text);

describe('merge patch', () => {
  // The rows of RFC 7396, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    [
      '{"data":{"__proto__":"x"}}',
      '{"data":{"__proto__":"y","constructor":"z"}}',
      '{"data":{"__proto__":"y","constructor":"z"}}',
    ],
  ])('API-193 %s merged with %s is %s', (document, patch, expected) => {
    expect(JSON.stringify(applyMergePatch(json(document), json(patch)))).toBe(JSON.stringify(json(expected)));
  });

  it('COL-161 null removes the whole list of owner references, a list replaces it', () => {
    const object = { metadata: { uid: 'u', ownerReferences: [{ uid: 'a' }, { uid: 'b' }] } };
    expect(applyMergePatch(object, { metadata: { resourceVersion: '7', ownerReferences: null } })).toEqual({
      metadata: { uid: 'u', resourceVersion: '7' },
    });
    expect(applyMergePatch(object, { metadata: { ownerReferences: [{ uid: 'b' }] } })).toEqual({
      metadata: { uid: 'u', ownerReferences: [{ uid: 'b' }] },
    });
  });

  it('COL-163 all references of the node, no longer blocking, replace the list', () => {
    const owner = (uid: string, blockOwnerDeletion: boolean): object => ({ uid, blockOwnerDeletion, controller: true });
    const object = {
      metadata: { uid: 'u', resourceVersion: '4', ownerReferences: [owner('a', true), owner('b', true)] },
    };
    const patch = { metadata: { resourceVersion: '4', ownerReferences: [owner('a', false), owner('b', false)] } };
    expect(applyMergePatch(object, patch)).toEqual({ metadata: { uid: 'u', ...patch.metadata } });
  });

  it('COL-164 the remaining finalizers replace the list', () => {
    const object = { metadata: { finalizers: ['orphan', 'x/y'], resourceVersion: '4' } };
    expect(applyMergePatch(object, { metadata: { resourceVersion: '4', finalizers: ['x/y'] } })).toEqual({
      metadata: { finalizers: ['x/y'], resourceVersion: '4' },
    });
  });

  const value = fc.jsonValue({ maxDepth: 4 });
  const withoutNulls = (v: unknown): boolean =>
    v !== null && (isJsonObject(v) ? Object.values(v).every(withoutNulls) : true);

  it('API-193 applying a patch twice is applying it once, and neither input changes', () => {
    fc.assert(
      fc.property(value, value, (document, patch) => {
        const before = [copyJson(document), copyJson(patch)];
        const once = applyMergePatch(document, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect([document, patch]).toEqual(before);
      }),
    );
  });

  it('API-193 a document without nulls, given as a patch of nothing, is itself', () => {
    fc.assert(
      fc.property(value.filter(withoutNulls), (document) => {
        expect(applyMergePatch(undefined, document)).toEqual(document);
      }),
    );
  });
});
