import type { ContainerState } from '../inventory/runtime.ts';

/** Longest name of a link before `.log`, in bytes (NODE-096). */
const MAX_LINK_BYTES = 251;

/** Pod uid of a directory of pod logs, `<namespace>_<pod>_<uid>`; undefined for a name of another form, which is left alone (NODE-095). */
export function podUidOfLogDirectory(name: string): string | undefined {
  const parts = name.split('_');
  const uid = parts.at(-1);
  return parts.length < 3 || uid === '' ? undefined : uid;
}

/** Which entries of the directory of pod logs go (NODE-094). */
export function planLogDirectories(
  entries: readonly string[],
  pods: { readonly ready: boolean; contentShouldBeRemoved(podUid: string): boolean },
): string[] {
  if (!pods.ready) return [];
  return entries.filter((entry) => {
    const uid = podUidOfLogDirectory(entry);
    return uid !== undefined && pods.contentShouldBeRemoved(uid);
  });
}

/** Files that belong to the log of one container: the log, and what it was rotated to (NODE-089). */
export function logFilesOf(logName: string, entries: readonly string[]): string[] {
  return logName === '' ? [] : entries.filter((entry) => entry.startsWith(logName)).toSorted();
}

/** Name of the link to a container's log (NODE-096). */
export function logLinkName(container: {
  readonly podName: string;
  readonly podNamespace: string;
  readonly name: string;
  readonly id: string;
}): string {
  const name = `${container.podName}_${container.podNamespace}_${container.name}-${container.id}`;
  return `${Buffer.from(name).subarray(0, MAX_LINK_BYTES).toString()}.log`;
}

/** Container id in the name of a link; undefined when it has none, and nobody can be asked. */
export function containerIdOfLink(name: string): string | undefined {
  if (!name.endsWith('.log')) return undefined;
  const id = name.slice(0, -'.log'.length).split('-').at(-1) ?? '';
  return id.length < 6 ? undefined : id;
}

/**
 * Whether a link whose target is gone goes too. It stays while its container is there and not dead, because a log is away for a moment
 * while it is rotated.
 * @param state of the container; `unreadable` when it could not be asked or is not there, `absent` for an answer without a status
 */
export function deadLinkGoes(state: ContainerState | 'unreadable' | 'absent'): boolean {
  return state === 'exited' || state === 'unreadable';
}
