import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../base/errors/thrown.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type Logger, silentLogger } from '../../base/logs/logger.ts';
import type { NodeConfiguration } from '../config/node-configuration.ts';
import { aggregate } from '../config/validate-configuration.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { type Runtime, RuntimeCallError, type RuntimeContainer } from '../inventory/runtime.ts';
import { containerIdOfLink, deadLinkGoes, logFilesOf, logLinkName, planLogDirectories } from '../logs/log-plan.ts';
import { type KnownPod, type PodKnowledge, podKnowledge } from '../pods/pod-verdicts.ts';
import { planSandboxes, type SandboxRemoval } from '../sandboxes/sandbox-plan.ts';
import { type ContainerRemoval, planContainers, stopGraceSeconds } from './container-plan.ts';

export interface ContainerManagerOptions {
  readonly runtime: Runtime;
  readonly files: FileSystem;
  readonly configuration: NodeConfiguration;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Pods of this node; undefined until the first complete list (NODE-100). */
  readonly knownPods: () => readonly KnownPod[] | undefined;
}

export type Removed =
  | { readonly kind: 'container'; readonly id: string; readonly reason: ContainerRemoval['reason'] }
  | { readonly kind: 'sandbox'; readonly id: string; readonly reason: SandboxRemoval['reason'] }
  | { readonly kind: 'logDirectory'; readonly id: string; readonly reason: 'podDeleted' }
  | { readonly kind: 'deadLink'; readonly id: string; readonly reason: 'dead' };

export interface ContainerCycleResult {
  readonly removed: readonly Removed[];
  /** Items that were skipped or whose removal failed, with the reason. */
  readonly left: readonly { readonly id: string; readonly why: string }[];
  /** The error that the kubelet would return for the cycle. It names only lists and directories that cannot be read. */
  readonly error: string | undefined;
}

export interface ContainerPlan {
  readonly containers: readonly ContainerRemoval[];
  readonly sandboxes: readonly SandboxRemoval[];
  readonly logDirectories: readonly string[];
  readonly deadLinks: readonly string[];
  readonly podsKnown: boolean;
}

const NANOSECONDS_PER_MS = 1_000_000n;

/**
 * Removes dead containers, sandboxes and logs. Invariant: a container is removed only if its status, read just before, shows that it does
 * not run.
 */
export class ContainerManager {
  readonly #options: ContainerManagerOptions;
  readonly #logger: Logger;

  constructor(options: ContainerManagerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
  }

  /**
   * The removals that a pass would make, without making them.
   * @throws RuntimeCallError
   */
  async plan(pressure = false): Promise<ContainerPlan> {
    const { runtime } = this.#options;
    const containers = await runtime.listContainers();
    const pods = this.#knowledge(containers);
    const planned = await this.#planContainers(containers, pods, pressure);
    const gone = new Set(planned.map(({ container }) => container.id));
    const sandboxes = this.#planSandboxes(
      await runtime.listSandboxes(),
      containers.filter(({ id }) => !gone.has(id)),
      pods,
      pressure,
    );
    const logs = await this.#planLogs(pods, containers);
    return { containers: planned, sandboxes, ...logs, podsKnown: pods.ready };
  }

  /** One pass: containers, then sandboxes, then logs. A step that fails does not stop the next one (NODE-080). */
  async collect(
    options: { readonly pressure?: boolean; readonly stop?: AbortSignal } = {},
  ): Promise<ContainerCycleResult> {
    const { pressure = false, stop } = options;
    const removed: Removed[] = [];
    const left: { id: string; why: string }[] = [];
    const errors: string[] = [];
    const steps = [
      () => this.#collectContainers(pressure, stop, removed, left),
      () => this.#collectSandboxes(pressure, stop, removed, left),
      () => this.#collectLogs(stop, removed, left),
    ];
    for (const step of steps) {
      if (stop?.aborted === true) break;
      try {
        await step();
      } catch (error) {
        if (!(error instanceof RuntimeCallError) && !isSystemError(error)) throw error;
        errors.push(messageOf(error));
      }
    }
    return { removed, left, error: errors.length === 0 ? undefined : aggregate(errors) };
  }

  /**
   * Removes logs of dead containers of terminated pods, oldest first, until `enough` is true. Used where nothing else would help
   * (NODE-224).
   */
  async trimDeadLogs(enough: () => Promise<boolean>): Promise<readonly string[]> {
    const { runtime, files } = this.#options;
    const containers = await runtime.listContainers();
    const pods = this.#knowledge(containers);
    const trimmed: string[] = [];
    const dead = containers
      .filter(
        ({ state, podUid }) => state === 'exited' && podUid !== '' && pods.ready && pods.runtimeShouldBeRemoved(podUid),
      )
      .toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    for (const { id } of dead) {
      if (await enough()) break;
      const status = await runtime.containerStatus(id);
      if (status === undefined || status.state === 'running' || status.logPath === '') continue;
      const names = await files.list(dirname(status.logPath)).catch(() => []);
      for (const name of logFilesOf(basename(status.logPath), names)) {
        await files.removeFile(join(dirname(status.logPath), name));
        trimmed.push(join(dirname(status.logPath), name));
      }
    }
    return trimmed;
  }

  #knowledge(containers: readonly RuntimeContainer[]): PodKnowledge {
    const running = new Set(containers.filter(({ state }) => state === 'running').map(({ podUid }) => podUid));
    return podKnowledge(this.#options.knownPods(), running);
  }

  async #planContainers(
    containers: readonly RuntimeContainer[],
    pods: PodKnowledge,
    pressure: boolean,
  ): Promise<ContainerRemoval[]> {
    const { configuration, clock, runtime } = this.#options;
    const { containerGC, collectForeign } = configuration;
    const finishedAt = new Map<string, bigint>();
    if (containerGC.minAgeFrom === 'finished') {
      for (const { id, state } of containers) {
        if (state === 'running') continue;
        const status = await runtime.containerStatus(id);
        if (status !== undefined) finishedAt.set(id, status.finishedAt);
      }
    }
    return planContainers({
      containers,
      pods,
      now: BigInt(Math.trunc(clock.now())) * NANOSECONDS_PER_MS,
      pressure,
      collectForeign,
      ...containerGC,
      finishedAt,
    });
  }

  #planSandboxes(
    sandboxes: Awaited<ReturnType<Runtime['listSandboxes']>>,
    containers: readonly RuntimeContainer[],
    pods: PodKnowledge,
    pressure: boolean,
  ): SandboxRemoval[] {
    const { collectForeign } = this.#options.configuration;
    return planSandboxes({ sandboxes, containers, pods, pressure, collectForeign });
  }

  async #collectContainers(
    pressure: boolean,
    stop: AbortSignal | undefined,
    removed: Removed[],
    left: { id: string; why: string }[],
  ): Promise<void> {
    const containers = await this.#options.runtime.listContainers();
    for (const removal of await this.#planContainers(containers, this.#knowledge(containers), pressure)) {
      if (stop?.aborted === true) return;
      const { id } = removal.container;
      try {
        const why = await this.#removeContainer(removal.container);
        if (why === undefined) removed.push({ kind: 'container', id, reason: removal.reason });
        else left.push({ id, why });
      } catch (error) {
        if (!(error instanceof RuntimeCallError) && !isSystemError(error)) throw error;
        if (error instanceof RuntimeCallError) await this.#throwIfSilent(error);
        left.push({ id, why: messageOf(error) });
        this.#logger.warn('unable to remove a container, will retry', { container: id, error: messageOf(error) });
      }
    }
  }

  /**
   * Throws this error again if the runtime answers no other call either. A runtime that hangs must not be asked for each container, but one
   * container that hangs must not keep the others (NODE-019).
   */
  async #throwIfSilent(error: RuntimeCallError): Promise<void> {
    if (error.failure !== 'unreachable') return;
    await this.#options.runtime.info().catch(() => {
      throw error;
    });
  }

  /** Returns the reason why the container stays; undefined once it is removed (NODE-089). */
  async #removeContainer(container: RuntimeContainer): Promise<string | undefined> {
    const { runtime, files, configuration } = this.#options;
    const status = await runtime.containerStatus(container.id);
    if (status?.state === 'running') return 'it runs by now';
    if (status?.state === 'unknown') await runtime.stopContainer(container.id, stopGraceSeconds(container.annotations));
    if (status !== undefined && status.logPath !== '') {
      const directory = dirname(status.logPath);
      const entries = await files.list(directory).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      for (const entry of logFilesOf(basename(status.logPath), entries)) await files.removeFile(join(directory, entry));
    }
    await files.removeFile(join(configuration.containerLogsDir, logLinkName(container)));
    await runtime.removeContainer(container.id);
    return undefined;
  }

  async #collectSandboxes(
    pressure: boolean,
    stop: AbortSignal | undefined,
    removed: Removed[],
    left: { id: string; why: string }[],
  ): Promise<void> {
    const { runtime } = this.#options;
    const sandboxes = await runtime.listSandboxes();
    const containers = await runtime.listContainers();
    for (const { sandbox, reason } of this.#planSandboxes(
      sandboxes,
      containers,
      this.#knowledge(containers),
      pressure,
    )) {
      if (stop?.aborted === true) return;
      try {
        await runtime.stopSandbox(sandbox.id);
        await runtime.removeSandbox(sandbox.id);
        removed.push({ kind: 'sandbox', id: sandbox.id, reason });
      } catch (error) {
        if (!(error instanceof RuntimeCallError)) throw error;
        await this.#throwIfSilent(error);
        left.push({ id: sandbox.id, why: error.message });
        this.#logger.warn('unable to remove a sandbox, will retry', { sandbox: sandbox.id, error: error.message });
      }
    }
  }

  async #planLogs(
    pods: PodKnowledge,
    containers: readonly RuntimeContainer[],
  ): Promise<{ readonly logDirectories: string[]; readonly deadLinks: string[] }> {
    const { files, configuration } = this.#options;
    const { podLogsDir } = configuration;
    // Without a complete list of pods, the directory is not even read.
    const entries = !pods.ready
      ? []
      : await files.list(podLogsDir).catch((error: unknown) => {
          throw Object.assign(new Error(`failed to read podLogsDirectory "${podLogsDir}": ${messageOf(error)}`), {
            syscall: 'readdir',
          });
        });
    return { logDirectories: planLogDirectories(entries, pods), deadLinks: await this.#deadLinks(containers) };
  }

  async #deadLinks(containers: readonly RuntimeContainer[]): Promise<string[]> {
    const { files, configuration, runtime } = this.#options;
    const listed = new Set(containers.map(({ id }) => id));
    const gone: string[] = [];
    for (const link of await files.deadLinks(configuration.containerLogsDir)) {
      const id = containerIdOfLink(link);
      const state =
        id === undefined
          ? 'unreadable'
          : await runtime.containerStatus(id).then(
              (status) => status?.state ?? (listed.has(id) ? 'absent' : 'unreadable'),
              async (error: unknown) => {
                if (!(error instanceof RuntimeCallError)) throw error;
                await this.#throwIfSilent(error);
                // A failed call proves nothing about the container: the link stays.
                return 'absent' as const;
              },
            );
      if (deadLinkGoes(state)) gone.push(link);
    }
    return gone;
  }

  async #collectLogs(
    stop: AbortSignal | undefined,
    removed: Removed[],
    left: { id: string; why: string }[],
  ): Promise<void> {
    const { files, configuration, runtime } = this.#options;
    const containers = await runtime.listContainers();
    const { logDirectories, deadLinks } = await this.#planLogs(this.#knowledge(containers), containers);
    const attempt = async (id: string, done: Removed, remove: () => Promise<void>): Promise<void> => {
      if (stop?.aborted === true) return;
      try {
        await remove();
        removed.push(done);
      } catch (error) {
        if (!isSystemError(error)) throw error;
        left.push({ id, why: messageOf(error) });
        this.#logger.warn('unable to remove logs, will retry', { path: id, error: messageOf(error) });
      }
    };
    for (const entry of logDirectories) {
      const path = join(configuration.podLogsDir, entry);
      await attempt(path, { kind: 'logDirectory', id: path, reason: 'podDeleted' }, () => files.removeTree(path));
    }
    for (const link of deadLinks) {
      const path = join(configuration.containerLogsDir, link);
      await attempt(path, { kind: 'deadLink', id: path, reason: 'dead' }, () => files.removeFile(path));
    }
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && ('syscall' in error || ('code' in error && /^E[A-Z]+$/.test(String(error.code))));
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
