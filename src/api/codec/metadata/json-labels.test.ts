import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labels, members } from '../../../../test/arbitraries/labelled-metadata.ts';
import { JsonLabels } from './json-labels.ts';

const reader = new JsonLabels();

describe('labels in JSON text', () => {
  it('API-101 are read as a parser reads them, or left to it', () => {
    let read = 0;
    fc.assert(
      fc.property(members, labels, (before, given) => {
        const text = Buffer.from(JSON.stringify({ ...before, labels: given }));
        const record = reader.record(text, 0);
        if (record === undefined) return;
        read++;
        expect(Object.entries(record)).toEqual(Object.entries(given));
      }),
      { numRuns: 1_000 },
    );
    expect(read).toBeGreaterThan(300);
  });
});
