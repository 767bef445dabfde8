import { Command } from 'commander';
import { ignoreFinishedPodsOption } from '../cascade/plan-options.ts';
import { recordFolderOption, secretsOption } from '../cascade/record-options.ts';
import { clusterOptions } from '../command/cluster-options.ts';
import { withOptions } from '../command/command-option.ts';
import type { Terminal } from '../process/terminal.ts';
import type { McpFlags } from './mcp-flags.ts';

/** `kubegc mcp` */
export function mcpCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('mcp')
    .summary('Serve the cascade commands to an AI agent, over the Model Context Protocol')
    .description(
      'Serve the cascade commands to an AI agent, over the Model Context Protocol on stdin and stdout.\n\n' +
        'Tools: tree, explain, lint, preview, plan, apply_plan and undo. Only apply_plan deletes: it takes the digest of a plan, and deletes nothing\n' +
        'when the cluster gives another one. Everything that it deletes is recorded first, and undo brings it back.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # As an MCP host starts it
  kubegc mcp --context staging

  # For an agent that must not change anything
  kubegc mcp --read-only

  # As a service account with few rights
  kubegc mcp --kubeconfig agent.kubeconfig -n shop`,
    )
    .allowExcessArguments(false)
    .option('--read-only', 'offer neither apply_plan nor undo')
    .action(async (flags: McpFlags) => {
      const { mcp } = await import('./mcp.ts');
      setExitCode(await mcp(flags, terminal));
    });
  return withOptions(command, [ignoreFinishedPodsOption, recordFolderOption, secretsOption, ...clusterOptions]);
}
