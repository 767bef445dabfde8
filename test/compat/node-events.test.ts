import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time/clock.ts';
import { CriRuntime } from '../../src/nodegc/cri/cri-runtime.ts';
import { until } from '../program/until.ts';
import { ContainerdProcess, containerdReleases, PAUSE_IMAGE } from './containerd-process.ts';

describe.each(containerdReleases)('the container events of containerd $version', (release) => {
  let node: ContainerdProcess;
  let runtime: CriRuntime;
  beforeAll(async () => {
    node = await ContainerdProcess.start(release, 96);
    runtime = new CriRuntime({ endpoint: node.endpoint, timeoutMs: 60_000, clock: systemClock });
  });
  afterAll(async () => {
    runtime?.close();
    await node?.close();
  });

  // The stream came with containerd 1.7. Where it is missing, node collection goes by its loops alone.
  if (release.version === '1.6') {
    it('NODE-223 are reported as unsupported', async () => {
      const stream = runtime.containerEvents(new AbortController().signal);
      await expect(stream.next()).rejects.toMatchObject({ failure: 'unsupported' });
    });
    return;
  }

  it('NODE-223 come when a container starts and stops, until nobody follows them', async () => {
    const stop = new AbortController();
    let events = 0;
    const followed = (async () => {
      for await (const _ of runtime.containerEvents(stop.signal)) events++;
    })();
    const pod = await node.runPod('starter');
    let attempt = 0;
    const startOne = async (): Promise<string> => await node.runContainer(pod, PAUSE_IMAGE, { attempt: attempt++ });
    // The stream may open after the first containers have started.
    await until('an event of a start', async () => {
      await startOne();
      return events > 0;
    });
    const containerId = await startOne();
    const before = events;
    await node.runtime.stopContainer({ containerId });
    await until('an event of the stop', () => events > before);
    stop.abort();
    await followed;
  });
});
