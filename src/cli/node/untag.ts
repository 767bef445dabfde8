import { CommandError } from '../process/command-error.ts';
import { EXIT_DONE, EXIT_ERROR, EXIT_REFUSED } from '../command/exit-codes.ts';
import { counted, textTable } from '../command/text-table.ts';
import type { Terminal } from '../process/terminal.ts';
import { API_VERSION, type StaleTagListDocument } from './node-documents.ts';
import { asCommandError, openNode } from './open-node.ts';
import { type PruneFlags, refuseConfirmWithDryRun } from './prune.ts';

/** `kubegc node prune --untag-only`: removes tags that nobody uses an image by; every image stays (NODE-226). */
export async function untag(flags: PruneFlags, terminal: Terminal): Promise<number> {
  refuseConfirmWithDryRun(flags);
  if (flags.to !== undefined || flags.containers === true) {
    throw new CommandError(
      '--untag-only removes tags alone, so --to and --containers have no meaning',
      'Leave them away, or leave --untag-only away.',
    );
  }
  const node = await openNode(flags, terminal, { byHand: true });
  const { collection, configuration } = node;
  const json = flags.output === 'json';
  try {
    if (!collection.canUntag) {
      throw new CommandError(
        `${collection.info.name} cannot remove a tag and keep its image`,
        'Nothing was removed. --untag-only needs containerd.',
      );
    }
    const stale = await collection.readStaleTags();
    const untagged: string[] = [];
    let [left, failure]: [number, unknown] = [0, undefined];
    if (flags.confirm === true) {
      for (const each of stale) {
        try {
          if (await collection.untag(each)) {
            untagged.push(each.tag);
            if (!json) terminal.stdout(`removed the tag ${each.tag}\n`);
          } else {
            left++;
            terminal.stderr(`left ${each.tag}: it may no longer be removed\n`);
          }
        } catch (error) {
          // The report of the tags that were removed before comes first.
          failure = error;
          break;
        }
      }
    }
    if (json) {
      const items = stale.map(({ tag, imageId, stays }) => ({ tag, imageId, stays, removed: untagged.includes(tag) }));
      const document: StaleTagListDocument = { apiVersion: API_VERSION, kind: 'StaleTagList', items };
      terminal.stdout(`${JSON.stringify(document, undefined, 2)}\n`);
    } else if (stale.length === 0) terminal.stdout('There are no stale tags.\n');
    else if (flags.confirm === true) {
      terminal.stdout(`Removed ${counted(untagged.length, 'tag')}; every image stays.\n`);
    } else {
      const rows = stale.map(({ tag, imageId, stays }) => [tag, imageId.slice(0, 19), stays.join(', ')]);
      terminal.stdout(
        `Would remove ${counted(stale.length, 'tag')}; every image stays:\n\n${textTable(['TAG', 'IMAGE', 'STAYS AS'], rows)}`,
      );
    }
    if (failure !== undefined) throw failure;
    if (flags.confirm === true) return left === 0 ? EXIT_DONE : EXIT_ERROR;
    if (flags.dryRun === true || stale.length === 0) return EXIT_DONE;
    terminal.stderr('Nothing was removed. Give --confirm to remove this, or --dry-run to only look.\n');
    return EXIT_REFUSED;
  } catch (error) {
    throw asCommandError(error, configuration);
  } finally {
    await node.close();
  }
}
