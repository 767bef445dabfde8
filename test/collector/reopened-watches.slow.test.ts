import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransportError } from '../../src/client/http/transport.ts';
import { refuse } from './faults.ts';
import { configMap, widget } from './kinds.ts';
import { Rig } from './rig.ts';

/** Watches that did not break while the server was away (designs/0025). */
let rig: Rig;
let opened: string[];
beforeEach(async () => {
  rig = await Rig.start();
  opened = [];
  rig.weather = (request, next) => {
    const resource = /([a-z]+)\?.*watch=true/.exec(request.target)?.[1];
    if (resource !== undefined) opened.push(resource);
    return next(request);
  };
  rig.serve(widget);
  await rig.startCollector();
  await rig.rest();
  opened.length = 0;
});
afterEach(() => rig.stop());

const refused = (): Promise<never> => Promise.reject(new TransportError('refused', 'connect ECONNREFUSED'));

describe('watches that did not break', () => {
  it('COL-116 are opened anew, once, where they were, after two others broke', async () => {
    const all = rig.streams.open;
    expect(rig.streams.cut(/\/(?:configmaps|secrets)\?/)).toBe(2);
    await rig.advance(25_000);
    const others = opened.filter((resource) => resource !== 'configmaps' && resource !== 'secrets');
    expect(others.length).toBe(all - 2);
    expect(new Set(others).size).toBe(all - 2);
    expect(rig.recorder.counts).toEqual({});
    await rig.advance(25_000);
    expect(opened.length).toBeLessThanOrEqual(all + 2);
  });

  it('COL-116 are opened anew after a connection was refused', async () => {
    rig.faults.on({ target: /configmaps\?.*watch=true/ }, refused, 1);
    rig.streams.cut(/\/configmaps\?/);
    await rig.advance(25_000);
    expect(opened).toContain('secrets');
    expect(opened).toContain('widgets');
  });

  it('COL-048 stay open when one kind is cut every 1.5 s, with one 410 after each cut', async () => {
    for (let round = 0; round < 20; round++) {
      rig.faults.on({ target: /widgets\?.*resourceVersion=\d/ }, refuse(410, 'Expired'), 1);
      rig.streams.cut(/widgets/);
      await rig.advance(1500);
    }
    expect(opened.filter((resource) => resource !== 'widgets')).toEqual([]);
  });

  it('COL-048 stay open when two kinds are answered with errors', async () => {
    rig.faults.on({ target: /(?:widgets|configmaps)\?/ }, refuse(500, 'InternalError'), 20);
    rig.streams.end(/(?:widgets|configmaps)\?/);
    await rig.advance(30_000);
    expect(opened).not.toContain('secrets');
  });

  it('COL-116 are not believed after the server was away until they were opened anew and have shown something', async () => {
    await rig.create(configMap, 'a');
    await rig.rest();
    expect(rig.collector.currentGraph).toBeDefined();
    rig.streams.cut(/\/(?:secrets|widgets)\?/);
    await rig.settle();
    // The watch of ConfigMaps did not break, and goes on.
    await rig.patch(configMap, 'a', { labels: { shown: 'yes' } });
    await rig.settle();
    expect(rig.collector.currentGraph).toBeUndefined();
    expect(rig.collector.follows('v1', 'ConfigMap')).toBe(false);
    await rig.advance(1000);
    await rig.patch(configMap, 'a', { labels: { shown: 'again' } });
    await rig.settle();
    expect(rig.collector.follows('v1', 'ConfigMap')).toBe(true);
  });
});
