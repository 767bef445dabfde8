import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Readable, Writable } from 'node:stream';
import { stringifyExactJson } from '../../base/json/exact-json.ts';

/** The library's transport over stdin and stdout, except that integers of 64 bits are written with all their digits. */
export class ExactStdioTransport extends StdioServerTransport {
  readonly #output: Writable;

  constructor(input: Readable, output: Writable) {
    super(input, output);
    this.#output = output;
  }

  override send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.write(`${stringifyExactJson(message)}\n`)) resolve();
      else this.#output.once('drain', resolve);
    });
  }
}
