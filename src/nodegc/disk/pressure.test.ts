import { describe, expect, it } from 'vitest';
import { reclaimSteps, signalsUnderPressure } from './pressure.ts';

const disk = (available: bigint, inodesFree = 100n) => ({ capacity: 1000n, available, inodes: 100n, inodesFree });

describe('pressure', () => {
  it('NODE-110 finds the signals whose threshold is met, and no other', () => {
    const thresholds = {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '150',
    };
    const signals = (nodefs: ReturnType<typeof disk>, imagefs: ReturnType<typeof disk>) =>
      signalsUnderPressure(thresholds, { nodefs, imagefs });
    expect(signals(disk(100n), disk(150n))).toEqual([]);
    expect(signals(disk(99n), disk(149n))).toEqual(['imagefs.available', 'nodefs.available']);
    expect(signals(disk(500n, 4n), disk(500n))).toEqual(['nodefs.inodesFree']);
    expect(
      signalsUnderPressure(thresholds, {
        nodefs: undefined,
        imagefs: { ...disk(1n), capacity: undefined, available: undefined },
      }),
    ).toEqual([]);
  });

  it('NODE-111 reclaims by where images lie', () => {
    const table = (['one', 'separateImages', 'split'] as const).map((layout) =>
      (['nodefs.available', 'imagefs.inodesFree'] as const).map((signal) =>
        reclaimSteps(signal, layout, { trimLogs: false }).join(' '),
      ),
    );
    expect(table).toEqual([
      ['containers images', 'containers images'],
      ['', 'containers images'],
      ['containers', 'images'],
    ]);
  });

  it('NODE-112, 224 trims dead logs where the kubelet reclaims nothing', () => {
    expect(reclaimSteps('nodefs.available', 'separateImages', { trimLogs: true })).toEqual(['deadLogs']);
    expect(reclaimSteps('memory.available', 'one', { trimLogs: true })).toEqual([]);
  });
});
