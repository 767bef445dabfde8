import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import { EXIT_REFUSED, EXIT_TIMED_OUT } from '../command/exit-codes.ts';
import { CommandError } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';

/** Runs a command. Its document becomes the result, with all digits of its numbers, and its other output text. */
export async function documentOf(command: (terminal: Terminal) => Promise<number>): Promise<CallToolResult> {
  const out: string[] = [];
  const beside: string[] = [];
  const terminal: Terminal = {
    stdout: (text) => void out.push(text),
    stderr: (text) => void beside.push(text),
    columns: 120,
  };
  try {
    const code = await command(terminal);
    const said = beside.join('').trim();
    const text = out.join('');
    if (text === '')
      return { isError: code !== 0, content: [{ type: 'text', text: said === '' ? 'nothing to do' : said }] };
    const result = answer(parseExactJson(text) as Record<string, unknown>, said);
    return code === EXIT_REFUSED || code === EXIT_TIMED_OUT ? { ...result, isError: true } : result;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const parts = [`error: ${error.message}`, error.advice, beside.join('').trim()];
    return { isError: true, content: [{ type: 'text', text: parts.filter(Boolean).join('\n') }] };
  }
}

/** @param said other output of the command, such as warnings */
export function answer(document: Record<string, unknown>, said: string): CallToolResult {
  return {
    structuredContent: document,
    content: [
      { type: 'text', text: stringifyExactJson(document) },
      ...(said === '' ? [] : [{ type: 'text' as const, text: said }]),
    ],
  };
}

export const warningsOf = ({ content }: CallToolResult): string => {
  const [, second] = content;
  return second?.type === 'text' ? second.text : '';
};
