import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { startCluster } from '../../testing/testing.ts';
import { documentOf } from './command-result.ts';
import { ExactStdioTransport } from './exact-stdio-transport.ts';
import { addTools } from './tools.ts';

const LARGEST = 9_223_372_036_854_775_807n;

describe('the answers of kubegc mcp', () => {
  it('CAS-082 have all digits of an integer, in the document, in its text and on the wire', async () => {
    const result = await documentOf((terminal) => {
      terminal.stdout(`{"seconds":${LARGEST},"few":30}\n`);
      return Promise.resolve(0);
    });
    expect(result.structuredContent).toEqual({ seconds: LARGEST, few: 30 });
    expect(result.content).toEqual([{ type: 'text', text: `{"seconds":${LARGEST},"few":30}` }]);
    const input = new PassThrough();
    const output = new PassThrough();
    const server = new McpServer({ name: 'test', version: '1' });
    server.registerTool('long', { description: 'a long integer' }, () => result);
    await server.connect(new ExactStdioTransport(input, output));
    input.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long","arguments":{}}}\n');
    const line = await new Promise<string>((next) => output.once('data', (bytes: Buffer) => next(bytes.toString())));
    expect(line).toContain(`"structuredContent":{"seconds":${LARGEST},"few":30}`);
    expect(line.endsWith('\n')).toBe(true);
    await server.close();
  });

  it('CAS-082 CAS-054 say in which waves objects go, and apply_plan deletes them so', async () => {
    await using cluster = await startCluster({ clock: 'real', listen: true });
    const folder = await mkdtemp(join(tmpdir(), 'kubegc-mcp-'));
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      await cluster.writeKubeconfig(kubeconfig);
      const annotations = { 'kubegc.io/delete-after': 'configmap/first' };
      for (const metadata of [{ name: 'last', annotations }, { name: 'first' }])
        await cluster.client.create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace: 'default', ...metadata },
        });
      const server = new McpServer({ name: 'kubegc', version: '1' });
      addTools(server, { kubeconfig, recordDir: join(folder, 'records'), requestTimeout: '60s' });
      const agent = new Client({ name: 'test', version: '1' });
      const [here, there] = InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(there), agent.connect(here)]);
      const call = async (name: string, input: object): Promise<CallToolResult> =>
        (await agent.callTool({ name, arguments: { ...input } })) as CallToolResult;
      const input = { objects: ['configmap/last', 'configmap/first'] };
      const waves = [
        { ref: { name: 'first' }, wave: 1 },
        { ref: { name: 'last' }, wave: 2 },
      ];
      expect((await call('preview', input)).structuredContent).toMatchObject({ roots: waves });
      const { structuredContent: planned } = await call('plan', input);
      expect(planned).toMatchObject({ roots: waves, next: expect.stringContaining('wave after wave') as string });
      const { digest } = planned as { digest: string };
      const applied = await call('apply_plan', { ...input, digest });
      expect(applied.structuredContent).toMatchObject({ outcome: 'asPlanned', plan: { roots: waves } });
      await agent.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
