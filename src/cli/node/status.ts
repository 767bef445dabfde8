import { EXIT_DONE, EXIT_FINDINGS } from '../command/exit-codes.ts';
import { textTable } from '../command/text-table.ts';
import type { Terminal } from '../process/terminal.ts';
import { findKubelet } from './find-kubelet.ts';
import { API_VERSION, type NodeStatusDocument } from './node-documents.ts';
import { diskText, findingText } from './node-tables.ts';
import { openNode } from './open-node.ts';
import { type PlanFlags, readPlan } from './plan.ts';
import { nodeStatusImages } from '../../nodegc/inventory/node-status-images.ts';
import { formatCapacity } from '../../nodegc/images/thresholds.ts';

export interface StatusFlags extends PlanFlags {
  readonly check?: boolean;
}

/** `kubegc node status`: the disk, its usage, and findings. With `--check`, a full disk or a finding gives exit code 2. */
export async function status(flags: StatusFlags, terminal: Terminal): Promise<number> {
  const node = await openNode(flags, terminal, { byHand: true });
  try {
    const document = await readPlan(node, 'deleteUnused', { containers: true, dead: true });
    const kubelet = (await findKubelet()) ?? null;
    const sum = (list: readonly { readonly sizeBytes: number }[]): number =>
      list.reduce((total, each) => total + each.sizeBytes, 0);
    const inUse = document.keep.filter(({ rule }) => rule === 'inUse');
    const kept = document.keep.filter(({ rule }) => rule !== 'inUse');
    const groups = [
      { group: 'in use', images: inUse.length, bytes: sum(inUse) },
      { group: 'protected or young', images: kept.length, bytes: sum(kept) },
      {
        group: 'unused',
        images: document.remove.length,
        bytes: document.remove.reduce((total, each) => total + each.bytes, 0),
      },
    ];
    const { usagePercent } = document.imageFilesystem;
    const full = usagePercent !== null && usagePercent >= document.thresholds.highPercent;
    if (flags.output === 'json') {
      const listed = [...node.collection.images.inventory.values()].map(({ image }) => image);
      const reported = nodeStatusImages(listed, node.configuration.nodeStatusMaxImages).map((each) => ({
        names: each.names,
        sizeBytes: Number(each.sizeBytes),
      }));
      const { runtime, imageFilesystem, thresholds, findings } = document;
      const shown: NodeStatusDocument = {
        apiVersion: API_VERSION,
        kind: 'NodeStatus',
        runtime,
        kubelet,
        imageFilesystem,
        thresholds,
        aboveThreshold: full,
        images: groups,
        nodeStatusImages: reported,
        findings,
      };
      terminal.stdout(`${JSON.stringify(shown, undefined, 2)}\n`);
    } else {
      const rows = groups.map(({ group, images, bytes }) => [group, String(images), formatCapacity(BigInt(bytes))]);
      const dead = document.containers.length + document.sandboxes.length;
      terminal.stdout(
        `${diskText(document)}Kubelet:       ${kubelet === null ? 'none' : `runs (${kubelet}); containers are left to it`}\n` +
          `Verdict:       ${full ? 'the disk is above the threshold: kubegc node plan shows what would go' : 'the disk is below the threshold'}\n\n` +
          `${textTable(['IMAGES', 'COUNT', 'SIZE'], rows)}` +
          `${dead === 0 ? '' : `\nDead containers and sandboxes that may go: ${dead}. See kubegc node plan --containers.\n`}${findingText(document)}`,
      );
    }
    return flags.check === true && (full || document.findings.length > 0) ? EXIT_FINDINGS : EXIT_DONE;
  } finally {
    await node.close();
  }
}
