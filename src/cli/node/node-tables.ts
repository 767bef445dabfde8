import { humanDuration } from '../../api/meta/duration.ts';
import { formatCapacity } from '../../nodegc/images/thresholds.ts';
import { counted, textTable } from '../command/text-table.ts';
import type { ImageDocument, NodePlanDocument } from './node-documents.ts';

const bytes = (count: number): string => formatCapacity(BigInt(Math.max(0, Math.trunc(count))));
const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, 12);

/** The first tag, and the number of others. */
export function nameOf({ tags, digests, id }: Pick<ImageDocument, 'tags' | 'digests' | 'id'>): string {
  const [first] = tags;
  if (first === undefined) return digests[0]?.replace(/@sha256:(\w{12})\w*$/, '@sha256:$1…') ?? `<none> ${shortId(id)}`;
  return tags.length === 1 ? first : `${first} +${tags.length - 1}`;
}

function ago(time: string | null, now: number): string {
  return time === null ? 'never seen' : humanDuration(now - Date.parse(time));
}

const own = ({ ownBytes, sizeBytes }: ImageDocument): string =>
  ownBytes === null ? `~${bytes(sizeBytes)}` : bytes(ownBytes);
const shared = ({ sharedBytes }: ImageDocument): string => (sharedBytes === null ? '?' : bytes(sharedBytes));

/** The disk and its thresholds on one line each. */
export function diskText(plan: NodePlanDocument): string {
  const { imageFilesystem: disk, thresholds, runtime } = plan;
  const { capacityBytes, availableBytes, usagePercent, inodes, inodesFree } = disk;
  const used =
    capacityBytes === null || usagePercent === null
      ? 'the file system does not report it'
      : `${usagePercent}% of ${bytes(capacityBytes)} used, ${bytes(availableBytes ?? 0)} available`;
  const inodeText = inodes === 0 ? '' : `, ${Math.floor((inodesFree * 100) / inodes)}% of inodes free`;
  return (
    `Runtime:       ${runtime.name} ${runtime.version} at ${runtime.endpoint}\n` +
    `Image disk:    ${disk.path}: ${used}${inodeText}\n` +
    `Thresholds:    collect at ${thresholds.highPercent}%, down to ${thresholds.lowPercent}% (${plan.accounting})\n`
  );
}

/** The removals as a table, after a summary line. */
export function removalText(plan: NodePlanDocument, now: number, verb = 'Would remove'): string {
  const { remove } = plan;
  if (remove.length === 0) return `${verb} no images.\n`;
  const total = remove.reduce((sum, each) => sum + each.bytes, 0);
  const exact = remove.every((each) => each.exact);
  const rows = remove.map((each) => [
    nameOf(each),
    shortId(each.id),
    own(each),
    shared(each),
    ago(each.lastUsed, now),
    each.reason,
  ]);
  const tags = remove.filter(({ tags }) => tags.length > 1);
  const more = tags.map((each) => `  ${shortId(each.id)} goes with all its tags: ${each.tags.join(', ')}\n`).join('');
  return (
    `${verb} ${counted(remove.length, 'image')}, ${bytes(total)} (${exact ? 'exact' : 'estimated by the sizes that the runtime tells'}):\n\n` +
    textTable(['IMAGE', 'ID', 'FREES', 'SHARED', 'LAST USED', 'REASON'], rows) +
    more
  );
}

export function stayText(plan: NodePlanDocument): string {
  if (plan.keep.length === 0) return '';
  const rows = plan.keep
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
    .map((each) => [nameOf(each), shortId(each.id), own(each), shared(each), each.rule, each.detail]);
  return `\nStays:\n\n${textTable(['IMAGE', 'ID', 'OWN', 'SHARED', 'RULE', 'WHY'], rows)}`;
}

export function containerText(plan: NodePlanDocument): string {
  const { containers, sandboxes, logDirectories, deadLinks } = plan;
  const parts: string[] = [];
  if (containers.length > 0) {
    const rows = containers.map(({ id, name, pod, reason }) => [shortId(id), name, pod, reason]);
    parts.push(
      `\nDead containers that a pass would remove:\n\n${textTable(['CONTAINER', 'NAME', 'POD', 'REASON'], rows)}`,
    );
  }
  const rest = [
    ...(sandboxes.length > 0 ? [counted(sandboxes.length, 'pod sandbox').replace('sandboxs', 'sandboxes')] : []),
    ...(logDirectories.length > 0
      ? [counted(logDirectories.length, 'log directory').replace('directorys', 'directories')]
      : []),
    ...(deadLinks.length > 0 ? [counted(deadLinks.length, 'dead link')] : []),
  ];
  if (rest.length > 0) parts.push(`\nAnd ${rest.join(', ')}.\n`);
  return parts.join('');
}

/** The findings, each kind with the next step. Nothing of it is ever removed without a person. */
export function findingText({ findings }: Pick<NodePlanDocument, 'findings'>): string {
  const stranded = findings.filter(({ kind }) => kind === 'StrandedImageRecord');
  const dead = findings.filter(({ kind }) => kind !== 'StrandedImageRecord');
  const strandedRows = stranded.map(({ name, bytes: held }) => [name, bytes(held)]);
  const deadRows = dead.map(({ kind, name, bytes: held, keptBy }) => [
    kind === 'DeadBlob' ? 'blob' : 'snapshot',
    name,
    bytes(held),
    keptBy ?? 'nothing',
  ]);
  const strandedText =
    `\nFinding StrandedImageRecord: containerd keeps these, but no image shows them, so no collection removes them.\n` +
    `Remove them with: kubegc node repair --stranded --confirm\n\n${textTable(['RECORD', 'HOLDS'], strandedRows)}`;
  const deadText =
    `\nFinding DeadSnapshot, DeadBlob: no image, container or lease explains these. containerd removes those that nothing keeps when it collects.\n` +
    `kubegc removes none of them. By hand: ctr -n k8s.io snapshots rm KEY, ctr -n k8s.io content rm DIGEST\n\n` +
    textTable(['KIND', 'NAME', 'HOLDS', 'KEPT BY'], deadRows);
  return `${stranded.length === 0 ? '' : strandedText}${dead.length === 0 ? '' : deadText}`;
}
