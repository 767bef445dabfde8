import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineCounter, Parser } from 'yaml';
import { TextLines } from './yaml-lines.ts';

describe('lines of a text', () => {
  it('are those that the library counts', () => {
    const text = fc.array(fc.constantFrom('a', ' ', '\n', '\r\n', '\r', '- ', ': ', '|\n', '"'), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.nat(), (parts, at) => {
        const whole = parts.join('');
        const counter = new LineCounter();
        for (const _token of new Parser(counter.addNewLine).parse(whole));
        const offset = at % (whole.length + 1);
        expect(new TextLines(whole).linePos(offset)).toEqual(counter.linePos(offset));
      }),
    );
  });
});
