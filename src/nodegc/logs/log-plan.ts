import type { ContainerState } from '../inventory/runtime.ts';

/** Longest name of a link before `.log`, in bytes (NODE-096). */
const MAX_LINK_BYTES = 251;

/**
 * The pod uid in the name of a log directory, `<namespace>_<pod>_<uid>`. Undefined for a name of another form; that entry is left alone
 * (NODE-095).
 */
export function podUidOfLogDirectory(name: string): string | undefined {
  const parts = name.split('_');
  const uid = parts.at(-1);
  return parts.length < 3 || uid === '' ? undefined : uid;
}

/** The entries to remove from the directory of pod logs (NODE-094). */
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

/** The log files of one container: its log and the rotated files of that log (NODE-089). */
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

/** The container id in the name of a link; undefined when the name has none, so that no status can be read. */
export function containerIdOfLink(name: string): string | undefined {
  if (!name.endsWith('.log')) return undefined;
  const id = name.slice(0, -'.log'.length).split('-').at(-1) ?? '';
  return id.length < 6 ? undefined : id;
}

/**
 * Whether a link without a target is removed. It stays while its container exists and is not dead, because a log is missing for a moment
 * while it is rotated.
 * @param state of the container; `unreadable` when the link names no container or the container does not exist, `absent` when its status is
 * not known
 */
export function deadLinkGoes(state: ContainerState | 'unreadable' | 'absent'): boolean {
  return state === 'exited' || state === 'unreadable';
}
