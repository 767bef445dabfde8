import { CommandError } from '../process/command-error.ts';
import { EXIT_DONE } from '../command/exit-codes.ts';
import { textTable } from '../command/text-table.ts';
import type { Terminal } from '../process/terminal.ts';
import {
  API_VERSION,
  type ImageDocument,
  type ImageExplanationListDocument,
  type NodePlanDocument,
} from './node-documents.ts';
import { nameOf } from './node-tables.ts';
import { openNode } from './open-node.ts';
import { type PlanFlags, readPlan } from './plan.ts';
import { parseReferencePattern } from '../../nodegc/patterns/reference-pattern.ts';
import { formatCapacity } from '../../nodegc/images/thresholds.ts';

type Found = NodePlanDocument['remove'][number] | NodePlanDocument['keep'][number];

/** `kubegc node why IMAGE` */
export async function why(reference: string, flags: PlanFlags, terminal: Terminal): Promise<number> {
  const node = await openNode(flags, terminal, { byHand: true });
  try {
    const document = await readPlan(node, 'garbageCollect', { containers: false, dead: false });
    const pattern = parseReferencePattern(reference);
    const matches = (each: ImageDocument): boolean =>
      pattern.matches({
        id: each.id,
        tags: each.tags,
        digests: each.digests,
        runtimeHandler: '',
        size: 0n,
        pinned: false,
      });
    const found: Found[] = [...document.remove, ...document.keep].filter(matches);
    if (found.length === 0) {
      throw new CommandError(
        `no image on this node is "${reference}"`,
        'Give a reference, a glob in quotes, a digest, or an id. kubegc node plan lists all images.',
      );
    }
    if (flags.output === 'json') {
      const list: ImageExplanationListDocument = {
        apiVersion: API_VERSION,
        kind: 'ImageExplanationList',
        items: found,
      };
      terminal.stdout(`${JSON.stringify(list, undefined, 2)}\n`);
    } else terminal.stdout(found.map((each) => explain(each, document)).join('\n'));
    return EXIT_DONE;
  } finally {
    await node.close();
  }
}

function explain(each: Found, document: NodePlanDocument): string {
  const size = (count: number | null): string => (count === null ? 'not known' : formatCapacity(BigInt(count)));
  const verdict =
    'rule' in each
      ? `stays: ${each.detail} (${each.rule})`
      : `goes in the next pass, by ${each.reason}${document.goalBytes === null ? '' : `: ${formatCapacity(BigInt(document.goalBytes))} have to be freed`}`;
  const rows = [
    ['Id', each.id],
    ['Tags', each.tags.join(', ') || '<none>'],
    [
      'Frees',
      each.ownBytes === null
        ? `about ${size(each.sizeBytes)}, as the runtime reports it`
        : `${size(each.ownBytes)} exactly`,
    ],
    ['Shared', each.sharedBytes === null ? 'not known' : `${size(each.sharedBytes)} with other images`],
    ['First seen', each.firstDetected ?? 'not known'],
    ['Last used', each.lastUsed ?? 'never seen in use'],
  ];
  const lines = textTable(['', ''], rows).split('\n').slice(1).join('\n');
  return `${nameOf(each)} ${verdict}\n${lines}`;
}
