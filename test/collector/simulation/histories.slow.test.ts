import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { KeptHistory } from './plan.ts';
import { runPlan } from './run-plan.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

describe('histories that went wrong once', () => {
  it.each(files.map((name) => ({ name, ...(JSON.parse(readFileSync(folder + name, 'utf8')) as KeptHistory) })))(
    '$title ($name)',
    async ({ plan }) => {
      expect((await runPlan(plan)).wrong).toEqual([]);
    },
  );
});
