import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/time/clock.ts';
import { connect } from '../../src/client/http/connect.ts';
import { loadClientConfig } from '../../src/client/kubeconfig/client-config.ts';
import { RestClient } from '../../src/client/rest/rest-client.ts';
import { systemKubeconfigIo } from '../../src/cli/process/system-kubeconfig-io.ts';
import { kubegcCommand, KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

/** Plays an AI agent that uses `kubegc mcp`, by the protocol's own client, against the built program. */
describe('kubegc mcp', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let server: KubegcProcess;
  let kube: RestClient;
  let agent: Client;
  const agents: Client[] = [];

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const command = ['up', '--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    server = new KubegcProcess(command, { cwd: directory.path });
    await server.ready();
    const config = await loadClientConfig({ io: systemKubeconfigIo, clock: systemClock, path: kubeconfig });
    kube = new RestClient({
      transport: connect({ ...config, clock: systemClock }),
      clock: systemClock,
      userAgent: 'test',
    });
    const owner = await create('app', []);
    await create('part', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'app', uid: owner }]);
    agent = await connected([]);
  }, 60_000);

  afterAll(async () => {
    for (const each of agents) await each.close();
    await kube.close();
    await server.stop();
    await directory[Symbol.asyncDispose]();
  });

  async function create(name: string, ownerReferences: readonly object[]): Promise<string> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ownerReferences } };
    const { metadata } = await kube.create({ gvr: configMaps, namespace: 'default' }, body as never);
    return metadata?.uid ?? '';
  }

  async function connected(flags: readonly string[]): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const kubeconfig = join(directory.path, 'kubeconfig');
    const records = join(directory.path, 'records');
    const args = [kubegcCommand, 'mcp', '--kubeconfig', kubeconfig, '--record-dir', records, ...flags];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' }));
    agents.push(client);
    return client;
  }

  async function call(name: string, input: Record<string, unknown>): Promise<CallToolResult> {
    return (await agent.callTool({ name, arguments: input })) as CallToolResult;
  }

  const textOf = ({ content }: CallToolResult): string =>
    content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

  it('CAS-082 offers no bare delete, and marks what deletes', async () => {
    const { tools } = await agent.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['tree', 'explain', 'lint', 'preview', 'plan', 'apply_plan', 'undo']);
    const destructive = tools.filter(({ annotations }) => annotations?.destructiveHint === true);
    expect(destructive.map(({ name }) => name)).toEqual(['apply_plan']);
    expect(destructive[0]?.inputSchema.required).toEqual(expect.arrayContaining(['objects', 'digest']));
    const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true);
    expect(reading.map(({ name }) => name)).toEqual(['tree', 'explain', 'lint', 'preview', 'plan']);
  });

  it('CAS-082 offers only what reads with --read-only', async () => {
    const { tools } = await (await connected(['--read-only'])).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['tree', 'explain', 'lint', 'preview', 'plan']);
  });

  it('CAS-082 answers with the documents of the commands', async () => {
    const objects = ['configmap/app'];
    expect((await call('tree', { objects })).structuredContent).toMatchObject({ kind: 'Graph', nodes: { length: 2 } });
    expect((await call('explain', { object: 'configmap/part' })).structuredContent).toMatchObject({
      kind: 'Explanation',
      state: 'alive',
      owners: [{ class: 'solid' }],
    });
    expect((await call('lint', { allNamespaces: true })).structuredContent).toMatchObject({
      kind: 'LintReport',
      findings: [],
    });
    const { structuredContent: plan } = await call('preview', { objects });
    expect(plan).toMatchObject({ kind: 'CascadePlan', summary: { byOutcome: { deleted: 2 } } });
  });

  it('CAS-082 says in words what it cannot do', async () => {
    const missing = await call('preview', { objects: ['configmap/nobody'] });
    expect(missing.isError).toBe(true);
    expect(textOf(missing)).toContain('configmaps "nobody" not found');
    const unknown = await call('undo', { id: '19990101t0000' });
    expect(unknown.isError).toBe(true);
    expect(textOf(unknown)).toContain('19990101t0000');
    const bad = await call('plan', { objects: ['configmaps'] });
    expect(bad.isError).toBe(true);
  });

  it('CAS-082 deletes by digest alone, names the record, and brings everything back', async () => {
    const input = { objects: ['configmap/app'], cascade: 'background' };
    expect((await call('apply_plan', input)).isError).toBe(true);
    const refused = await call('apply_plan', { ...input, digest: '000000000000' });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain('nothing was deleted');
    const planned = await call('plan', input);
    const { digest } = planned.structuredContent as { digest: string };
    const beyond = await call('apply_plan', { ...input, digest, budget: 1 });
    expect(beyond.isError).toBe(true);
    expect(textOf(beyond)).toContain('2 objects would go, and the budget is 1');
    expect((await kube.list({ gvr: configMaps, namespace: 'default' })).items.map(nameOf)).toEqual(
      expect.arrayContaining(['app', 'part']),
    );

    const applied = await call('apply_plan', { ...input, digest });
    expect(applied.isError, textOf(applied)).not.toBe(true);
    expect(applied.structuredContent).toMatchObject({ kind: 'CascadeRecord', outcome: 'asPlanned' });
    const { id } = applied.structuredContent as { id: string };
    expect((await kube.list({ gvr: configMaps, namespace: 'default' })).items.map(nameOf)).not.toContain('part');
    const again = await call('apply_plan', { ...input, digest });
    expect(again.isError).toBe(true);

    expect((await call('undo', { id, dryRun: true })).structuredContent).toMatchObject({ summary: { create: 2 } });
    expect((await call('undo', { id })).structuredContent).toMatchObject({ summary: { created: 2, failed: 0 } });
    expect((await kube.list({ gvr: configMaps, namespace: 'default' })).items.map(nameOf)).toEqual(
      expect.arrayContaining(['app', 'part']),
    );
  });
});

const nameOf = ({ metadata }: { readonly metadata?: { readonly name?: string } }): string => metadata?.name ?? '';
