/** A container runtime: its reports, and the calls that this room makes. Sizes in bytes, times in nanoseconds since the epoch. */

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

export interface RuntimeImage {
  readonly id: string;
  readonly runtimeHandler: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** The size that the runtime reports. On most runtimes it is the compressed layers, shared ones included. */
  readonly size: bigint;
  readonly pinned: boolean;
}

export interface RuntimeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly attempt: number;
  readonly podUid: string;
  readonly podName: string;
  readonly podNamespace: string;
  /** `image_id`, or `image_ref` where the runtime leaves that empty (NODE-014). */
  readonly imageId: string;
  /** The reference that the container was started with, as a pod names it. Empty where the runtime reports only the id (NODE-226). */
  readonly reference: string;
  readonly runtimeHandler: string;
  readonly state: ContainerState;
  readonly createdAt: bigint;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuntimeContainerStatus {
  readonly state: ContainerState;
  readonly finishedAt: bigint;
  readonly logPath: string;
  /** Images that are mounted as volumes, by id or by reference. */
  readonly volumeImages: readonly string[];
}

export interface RuntimeSandbox {
  readonly id: string;
  readonly podUid: string;
  /** True when the creator is not a kubelet: the sandbox has no label with the uid of a pod (NODE-047). */
  readonly foreign: boolean;
  readonly ready: boolean;
  readonly createdAt: bigint;
  readonly attempt: number;
}

export interface RuntimeInfo {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
  /** The image of pod sandboxes; undefined where the runtime does not report it (NODE-046). */
  readonly sandboxImage: string | undefined;
}

/**
 * A container runtime. A call that fails rejects with a {@link RuntimeCallError}. Removing an object that does not exist succeeds
 * (NODE-016).
 */
export interface Runtime {
  info(): Promise<RuntimeInfo>;
  listImages(): Promise<readonly RuntimeImage[]>;
  listContainers(): Promise<readonly RuntimeContainer[]>;
  listSandboxes(): Promise<readonly RuntimeSandbox[]>;
  /** Undefined when the container does not exist. */
  containerStatus(id: string): Promise<RuntimeContainerStatus | undefined>;
  /** Undefined when the image does not exist. */
  imageStatus(reference: string): Promise<RuntimeImage | undefined>;
  /** The labels in the configuration of an image; undefined when the runtime does not report them, or the image does not exist. */
  imageLabels(reference: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Mount point of the first image file system; undefined when the runtime reports none (NODE-073). */
  imageFilesystem(): Promise<string | undefined>;
  /** @param graceSeconds time until the runtime kills the container */
  stopContainer(id: string, graceSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  stopSandbox(id: string): Promise<void>;
  removeSandbox(id: string): Promise<void>;
  /** Yields at each event of a container, until `signal` is aborted. An event carries no data: it means only that something changed. */
  containerEvents(signal: AbortSignal): AsyncIterable<void>;
  /** Removes the image with all its tags. The call is never cancelled once it is sent (NODE-228). */
  removeImage(id: string, runtimeHandler: string): Promise<void>;
}

export type RuntimeFailure = 'unreachable' | 'unsupported' | 'refused' | 'failed';

/** A call that the runtime did not answer, or answered with an error. */
export class RuntimeCallError extends Error {
  /** The call, as metrics name it. */
  readonly operation: string;
  /** The kind of the failure. */
  readonly failure: RuntimeFailure;

  constructor(operation: string, failure: RuntimeFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RuntimeCallError';
    this.operation = operation;
    this.failure = failure;
  }
}
