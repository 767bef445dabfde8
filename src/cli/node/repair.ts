import { CommandError } from '../process/command-error.ts';
import { EXIT_DONE, EXIT_REFUSED } from '../command/exit-codes.ts';
import { counted } from '../command/text-table.ts';
import type { Terminal } from '../process/terminal.ts';
import { findingText } from './node-tables.ts';
import { asCommandError, openNode } from './open-node.ts';
import { type PlanFlags, readPlan } from './plan.ts';

export interface RepairFlags extends PlanFlags {
  readonly stranded?: boolean;
  readonly confirm?: boolean;
}

/** `kubegc node repair --stranded`: removes records that hold space although no image shows them (NODE-229). */
export async function repair(flags: RepairFlags, terminal: Terminal): Promise<number> {
  if (flags.stranded !== true) throw new CommandError('nothing to repair was named', 'Give --stranded.');
  const node = await openNode(flags, terminal, { byHand: true });
  try {
    const document = await readPlan(node, 'garbageCollect', { containers: false, dead: false });
    const { stranded } = node.collection;
    if (stranded.length === 0) {
      terminal.stdout('There are no stranded image records.\n');
      return EXIT_DONE;
    }
    if (flags.confirm !== true) {
      const findings = document.findings.filter(({ kind }) => kind === 'StrandedImageRecord');
      terminal.stdout(findingText({ findings }).trimStart());
      terminal.stderr('Nothing was removed. Give --confirm to remove these records.\n');
      return EXIT_REFUSED;
    }
    let removed = 0;
    for (const record of stranded) {
      if (await node.collection.removeStranded(record)) {
        removed++;
        terminal.stdout(`removed the record ${record.name}\n`);
      } else terminal.stderr(`left ${record.name}: it is no longer stranded\n`);
    }
    terminal.stdout(`Removed ${counted(removed, 'stranded image record')}.\n`);
    return EXIT_DONE;
  } catch (error) {
    throw asCommandError(error, node.configuration);
  } finally {
    await node.close();
  }
}
