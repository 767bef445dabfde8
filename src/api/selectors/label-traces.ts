import type { LabelSelector } from './label-selector.ts';

/**
 * Bytes that the JSON of every object has whose labels match, one row a requirement; none for a selector that can match an object
 * without the label. Looking for them in an object's text is a tenth of the work of reading its metadata, and most objects have none.
 * The text must be as JSON.stringify writes it.
 */
export function labelTraces(selector: LabelSelector): readonly Buffer[] {
  return selector.requirements.flatMap(({ key, operator, values }) => {
    switch (operator) {
      case '!':
      case '!=':
      case 'notin':
        return [];
      default: {
        const only = operator !== 'gt' && operator !== 'lt' && values.length === 1 ? JSON.stringify(values[0]) : '';
        return [Buffer.from(`${JSON.stringify(key)}:${only}`)];
      }
    }
  });
}

export function hasTraces(text: Uint8Array, traces: readonly Buffer[]): boolean {
  const buffer = text instanceof Buffer ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  return traces.every((trace) => buffer.includes(trace));
}
