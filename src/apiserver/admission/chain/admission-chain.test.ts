import { describe, expect, it } from 'vitest';
import { findResource } from '../../../api/kinds/builtin-resources.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { AdmissionChain, type AdmissionPlugin } from './admission-chain.ts';
import { type AdmissionAttributes, replaceContent } from './attributes.ts';
import { Reinvocation } from './reinvocation.ts';

function attributes(object: KubeObject): AdmissionAttributes {
  const info = findResource('', 'v1', 'configmaps')!;
  return {
    operation: 'CREATE',
    info,
    kind: info,
    subresource: '',
    namespace: 'default',
    name: 'a',
    object,
    user: { username: 'u', groups: [] },
    dryRun: false,
    interfaces: {
      equivalents: () => [],
      kindOf: () => undefined,
      convert: (tree) => tree,
      merge: (tree) => tree,
      decode: (tree) => tree,
    },
    reinvocation: new Reinvocation(),
    warn: () => undefined,
    annotate: () => undefined,
  };
}

describe('the chain', () => {
  it('API-340 asks plug-ins in their order, mutating ones first, and ends with the first refusal', async () => {
    const asked: string[] = [];
    const plugin = (name: string, refuses?: 'admit' | 'validate'): AdmissionPlugin => ({
      name,
      admit() {
        asked.push(`admit ${name}`);
        if (refuses === 'admit') throw new Error(name);
      },
      async validate() {
        asked.push(`validate ${name}`);
        if (refuses === 'validate') throw new Error(name);
      },
    });
    await new AdmissionChain([plugin('a'), plugin('b')]).admitAndValidate(attributes({}));
    expect(asked).toEqual(['admit a', 'admit b', 'validate a', 'validate b']);
    asked.length = 0;
    const refusing = new AdmissionChain([plugin('a', 'validate'), plugin('b')]);
    await expect(refusing.admitAndValidate(attributes({}))).rejects.toThrow('a');
    expect(asked).toEqual(['admit a', 'admit b', 'validate a']);
    asked.length = 0;
    const early = new AdmissionChain([plugin('a', 'admit'), plugin('b')]);
    // No plug-in had to wait, so the chain throws the refusal synchronously.
    expect(() => early.admitAndValidate(attributes({}))).toThrow('a');
    expect(asked).toEqual(['admit a']);
  });

  it('API-340 asks a plug-in about its operations only', async () => {
    const asked: string[] = [];
    const plugin = (name: string, operations?: AdmissionPlugin['operations']): AdmissionPlugin => ({
      name,
      ...(operations === undefined ? {} : { operations }),
      admit: ({ operation }) => void asked.push(`${name} admits ${operation}`),
      validate: ({ operation }) => void asked.push(`${name} validates ${operation}`),
    });
    const chain = new AdmissionChain([plugin('all'), plugin('creations', ['CREATE'])]);
    for (const operation of ['CREATE', 'DELETE'] as const) {
      await chain.admitAndValidate({ ...attributes({}), operation });
    }
    expect(asked).toEqual([
      'all admits CREATE',
      'creations admits CREATE',
      'all validates CREATE',
      'creations validates CREATE',
      'all admits DELETE',
      'all validates DELETE',
    ]);
  });

  it('API-355 runs the mutating phase a second time when it is asked to, and never a third', async () => {
    const rounds: string[] = [];
    const chain = new AdmissionChain([
      { name: 'first', admit: ({ reinvocation }) => void rounds.push(`first ${reinvocation.round}`) },
      {
        name: 'insatiable',
        admit({ reinvocation }) {
          rounds.push(`insatiable ${reinvocation.round}`);
          reinvocation.request();
        },
      },
    ]);
    await chain.admit(attributes({}));
    expect(rounds).toEqual(['first first', 'insatiable first', 'first second', 'insatiable second']);
  });

  it('starts and stops the plug-ins that want to know', async () => {
    const told: string[] = [];
    const chain = new AdmissionChain([
      {
        name: 'a',
        start: async () => void told.push('start'),
        stop: () => void told.push('stop'),
      },
      { name: 'b' },
    ]);
    await chain.start();
    chain.stop();
    expect(told).toEqual(['start', 'stop']);
  });
});

describe('replaceContent', () => {
  it('leaves the same tree with other content, whatever the keys', () => {
    const object: KubeObject = { kind: 'A', gone: 1 };
    const content = JSON.parse('{"kind":"B","__proto__":{"x":1}}') as KubeObject;
    replaceContent(object, content);
    expect(Object.keys(object)).toEqual(['kind', '__proto__']);
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  });
});
