/** A container runtime: its reports, and the calls that this room makes. Sizes in bytes, times in nanoseconds since the epoch. */

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown';

export interface RuntimeImage {
  readonly id: string;
  readonly runtimeHandler: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  /** As the runtime says: compressed layers, shared ones included, on most. */
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
  /** The reference that it was started by, as a pod names it; empty where the runtime reports the id alone (NODE-226). */
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
  /** Made by somebody else than a kubelet: it does not carry the uid of a pod as a label (NODE-047). */
  readonly foreign: boolean;
  readonly ready: boolean;
  readonly createdAt: bigint;
  readonly attempt: number;
}

export interface RuntimeInfo {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: string;
  /** The image of pod sandboxes, where the runtime reports it (NODE-046). */
  readonly sandboxImage: string | undefined;
}

/** A container runtime. Every call rejects with a {@link RuntimeCallError}; removing what is not there is success (NODE-016). */
export interface Runtime {
  info(): Promise<RuntimeInfo>;
  listImages(): Promise<readonly RuntimeImage[]>;
  listContainers(): Promise<readonly RuntimeContainer[]>;
  listSandboxes(): Promise<readonly RuntimeSandbox[]>;
  /** Undefined when there is no such container. */
  containerStatus(id: string): Promise<RuntimeContainerStatus | undefined>;
  /** Undefined when there is no such image. */
  imageStatus(reference: string): Promise<RuntimeImage | undefined>;
  /** Mount point of the first image file system; undefined when the runtime reports none (NODE-073). */
  imageFilesystem(): Promise<string | undefined>;
  /** @param graceSeconds until the runtime kills it */
  stopContainer(id: string, graceSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  stopSandbox(id: string): Promise<void>;
  removeSandbox(id: string): Promise<void>;
  /** Yields at each event of a container, until `signal` is aborted. An event says only that it is time to look. */
  containerEvents(signal: AbortSignal): AsyncIterable<void>;
  /** Removes the image with all its tags. Is never cancelled once sent (NODE-228). */
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
