import { describe, expect, it } from 'vitest';
import { jsonBody } from './json-body.ts';

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('the body of a document', () => {
  it.each([0, 1, 1000, 1001, 1100, 1150, 9001])('is its JSON, with a list of %i elements', async (length) => {
    const list = Array.from({ length }, (_, n) => ({ name: `é${n}`, text: 'x'.repeat(n % 200), of: [n] }));
    const document = { kind: 'Graph', absent: undefined, nodes: list, few: [1, 2], edges: list };
    const text = await textOf(jsonBody(document));
    expect(text).toBe(JSON.stringify(document));
  });
});
