import { EXIT_DONE } from '../command/exit-codes.ts';
import type { Terminal } from '../process/terminal.ts';
import { planDocument, type NodePlanDocument } from './node-documents.ts';
import type { NodeFlags } from './node-options.ts';
import { containerText, diskText, findingText, removalText, stayText } from './node-tables.ts';
import { asCommandError, openNode, type OpenNode } from './open-node.ts';
import type { ImageOperation } from '../../nodegc/images/image-cycle.ts';

export interface PlanFlags extends NodeFlags {
  readonly output?: 'json';
  readonly containers?: boolean;
}

/**
 * The removals of one pass on this node, as a document.
 * @param parts `containers`: plan containers too; `dead`: find dead snapshots and blobs too, which lists everything that containerd keeps
 */
export async function readPlan(
  node: OpenNode,
  operation: ImageOperation,
  parts: { readonly containers: boolean; readonly dead: boolean },
): Promise<NodePlanDocument> {
  const { collection, configuration } = node;
  try {
    const images = await collection.images.plan(operation);
    const containers = parts.containers ? await collection.containers.plan() : undefined;
    const { name, version } = collection.info;
    return planDocument({
      runtime: { name, version, endpoint: configuration.containerRuntimeEndpoint },
      imagePath: collection.imagePath,
      configuration,
      images,
      containers,
      stranded: collection.stranded,
      dead: parts.dead ? await collection.readDead() : [],
    });
  } catch (error) {
    throw asCommandError(error, configuration);
  }
}

/** `kubegc node plan` */
export async function plan(flags: PlanFlags, terminal: Terminal): Promise<number> {
  const node = await openNode(flags, terminal, { byHand: true });
  try {
    const document = await readPlan(node, 'garbageCollect', { containers: flags.containers === true, dead: true });
    if (flags.output === 'json') terminal.stdout(`${JSON.stringify(document, undefined, 2)}\n`);
    else {
      const now = Date.now();
      terminal.stdout(
        `${diskText(document)}\n${removalText(document, now)}${goalText(document)}${stayText(document)}${containerText(document)}${findingText(document)}`,
      );
    }
    return EXIT_DONE;
  } finally {
    await node.close();
  }
}

function goalText({ goalBytes, goalMet, thresholds, imageFilesystem }: NodePlanDocument): string {
  if (goalBytes === null) {
    return imageFilesystem.usagePercent === null
      ? ''
      : `The disk is below ${thresholds.highPercent}%: nothing has to be freed.\n`;
  }
  return goalMet ? '' : `That is not enough: ${goalBytes} bytes have to be freed to reach ${thresholds.lowPercent}%.\n`;
}
