import type { RuntimeContainer, RuntimeSandbox } from '../inventory/runtime.ts';

/** Knowledge about pods, as for containers. */
export interface SandboxPodVerdicts {
  readonly ready: boolean;
  contentShouldBeRemoved(podUid: string): boolean;
  runtimeShouldBeRemoved(podUid: string): boolean;
}

export interface SandboxRemoval {
  readonly sandbox: RuntimeSandbox;
  readonly reason: 'podDeleted' | 'pressure' | 'older';
}

export interface SandboxPlanFacts {
  readonly sandboxes: readonly RuntimeSandbox[];
  /** Containers in all states, listed after the container step. */
  readonly containers: readonly RuntimeContainer[];
  readonly pods: SandboxPodVerdicts;
  readonly pressure: boolean;
  readonly collectForeign: boolean;
}

const newestFirst = (a: RuntimeSandbox, b: RuntimeSandbox): number =>
  a.createdAt === b.createdAt ? b.attempt - a.attempt || (a.id < b.id ? -1 : 1) : a.createdAt > b.createdAt ? -1 : 1;

/** The sandboxes to remove, the oldest of each pod first (NODE-091, NODE-092). A sandbox that is ready or has a container stays. */
export function planSandboxes({
  sandboxes,
  containers,
  pods,
  pressure,
  collectForeign,
}: SandboxPlanFacts): SandboxRemoval[] {
  const referenced = new Set(containers.map(({ sandboxId }) => sandboxId));
  const byPod = new Map<string, RuntimeSandbox[]>();
  for (const sandbox of sandboxes) {
    if (sandbox.foreign && !collectForeign) continue;
    byPod.set(sandbox.podUid, [...(byPod.get(sandbox.podUid) ?? []), sandbox]);
  }
  return [...byPod].flatMap(([podUid, all]): SandboxRemoval[] => {
    const content = pods.ready && pods.contentShouldBeRemoved(podUid);
    const everything = content || (pods.ready && pressure && pods.runtimeShouldBeRemoved(podUid));
    const reason = content ? 'podDeleted' : everything ? 'pressure' : 'older';
    return all
      .toSorted(newestFirst)
      .slice(everything ? 0 : 1)
      .filter(({ id, ready }) => !ready && !referenced.has(id))
      .toReversed()
      .map((sandbox) => ({ sandbox, reason }));
  });
}
