import { CommandError } from '../process/command-error.ts';
import { EXIT_DONE, EXIT_ERROR, EXIT_REFUSED } from '../command/exit-codes.ts';
import { counted } from '../command/text-table.ts';
import type { Terminal } from '../process/terminal.ts';
import { findKubelet } from './find-kubelet.ts';
import { API_VERSION, type NodePlanDocument, type NodePruneResultDocument } from './node-documents.ts';
import { containerText, diskText, nameOf, removalText } from './node-tables.ts';
import { asCommandError, openNode } from './open-node.ts';
import { type PlanFlags, readPlan } from './plan.ts';
import { formatCapacity } from '../../nodegc/images/thresholds.ts';

export interface PruneFlags extends PlanFlags {
  readonly to?: string;
  readonly confirm?: boolean;
  readonly dryRun?: boolean;
}

/** Throws a {@link CommandError} when a prune should both remove and only print. */
export function refuseConfirmWithDryRun(flags: PruneFlags): void {
  if (flags.confirm === true && flags.dryRun === true) {
    throw new CommandError('--confirm and --dry-run exclude each other', 'Give one of the two.');
  }
}

/** `kubegc node prune`: removes every unused image, or as many as needed for `--to`. Without `--confirm` it only prints them. */
export async function prune(flags: PruneFlags, terminal: Terminal): Promise<number> {
  refuseConfirmWithDryRun(flags);
  const low = flags.to === undefined ? undefined : Number(flags.to);
  if (low !== undefined && !(Number.isInteger(low) && low >= 0 && low < 100)) {
    throw new CommandError(`invalid --to "${flags.to}"`, 'Give a percentage from 0 to 99.');
  }
  if (flags.containers === true) {
    const kubelet = await findKubelet();
    if (kubelet !== undefined) {
      terminal.stderr(
        `error: --containers is refused: a kubelet runs on this node (${kubelet}), and it may need its dead containers\n` +
          'Leave --containers away; the kubelet removes dead containers itself.\n',
      );
      return EXIT_REFUSED;
    }
  }
  const json = flags.output === 'json';
  const node = await openNode(flags, terminal, {
    byHand: true,
    adjust: (configuration) =>
      low === undefined
        ? configuration
        : { ...configuration, imageGCHighThresholdPercent: Math.min(100, low + 1), imageGCLowThresholdPercent: low },
    onRemoval: ({ record }, outcome) => {
      if (json) return;
      const name = nameOf(record.image);
      if (outcome.outcome === 'removed') terminal.stdout(`removed ${name}\n`);
      else terminal.stderr(`left ${name}: ${outcome.outcome === 'failed' ? outcome.message : outcome.why}\n`);
    },
  });
  try {
    const operation = low === undefined ? 'deleteUnused' : 'garbageCollect';
    if (flags.confirm !== true) {
      const document = await readPlan(node, operation, { containers: flags.containers === true, dead: json });
      if (json) terminal.stdout(`${JSON.stringify(document, undefined, 2)}\n`);
      else terminal.stdout(`${diskText(document)}\n${removalText(document, Date.now())}${containerText(document)}`);
      if (flags.dryRun === true || removesNothing(document)) return EXIT_DONE;
      terminal.stderr('Nothing was removed. Give --confirm to remove this, or --dry-run to only look.\n');
      return EXIT_REFUSED;
    }
    const containers = flags.containers === true ? await node.collection.containers.collect() : undefined;
    const result = await node.collection.images.collect(operation);
    await node.collection.memoryFile?.write(node.collection.images.inventory).catch(() => undefined);
    const { measuredFreed, estimatedFreed, removed, failed } = result;
    const ok = failed.length === 0 && containers?.error === undefined && (containers?.left.length ?? 0) === 0;
    if (json) {
      const document: NodePruneResultDocument = {
        apiVersion: API_VERSION,
        kind: 'NodePruneResult',
        removed: removed.map(({ record }) => ({ id: record.image.id, tags: record.image.tags })),
        failed: failed.map(({ record, message }) => ({ id: record.image.id, message })),
        containers: (containers?.removed ?? []).map(({ kind, id, reason }) => ({ kind, id, reason })),
        estimatedBytes: Number(estimatedFreed),
        measuredBytes: measuredFreed === undefined ? null : Number(measuredFreed),
      };
      terminal.stdout(`${JSON.stringify(document, undefined, 2)}\n`);
    } else {
      const freed =
        measuredFreed === undefined
          ? `about ${formatCapacity(estimatedFreed)}`
          : formatCapacity(measuredFreed < 0n ? 0n : measuredFreed);
      const dead =
        containers === undefined
          ? ''
          : `, ${counted(containers.removed.length, 'container, sandbox and log').replace(/s$/, 's')}`;
      terminal.stdout(
        `Removed ${counted(removed.length, 'image')}${dead}; ${freed} came back${failed.length === 0 ? '' : `; ${failed.length} failed`}.\n`,
      );
      for (const { id, why } of containers?.left ?? []) terminal.stderr(`left ${id}: ${why}\n`);
      if (result.error !== undefined) terminal.stderr(`${result.error}\n`);
    }
    return ok && (low === undefined || result.outcome === 'success' || result.outcome === 'noop')
      ? EXIT_DONE
      : EXIT_ERROR;
  } catch (error) {
    throw asCommandError(error, node.configuration);
  } finally {
    await node.close();
  }
}

function removesNothing({ remove, containers, sandboxes, logDirectories, deadLinks }: NodePlanDocument): boolean {
  return [remove, containers, sandboxes, logDirectories, deadLinks].every(({ length }) => length === 0);
}
