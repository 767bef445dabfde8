import { type Client, createClient } from '@connectrpc/connect';
import type { Clock } from '../../base/time/clock.ts';
import { type Counter, type Histogram, type Metrics, noMetrics } from '../../base/metrics/metrics.ts';
import {
  type Runtime,
  type RuntimeContainer,
  type RuntimeContainerStatus,
  type RuntimeImage,
  type RuntimeInfo,
  type RuntimeSandbox,
  RuntimeCallError,
} from '../inventory/runtime.ts';
import { type ImageLabels, labelsOfInfo, parsedObject } from '../patterns/image-labels.ts';
import { listedContainers, listedImages, stateOf } from './listed-items.ts';
import { ImageService as ImageLists, RuntimeService as RuntimeLists } from './lists.generated.ts';
import { type Image, ImageService, type PodSandbox, RuntimeService } from './runtime.generated.ts';
import { callError, isMissing, isUnimplemented, UnixGrpc } from './unix-grpc.ts';

export interface CriRuntimeOptions {
  /** `unix://…`. */
  readonly endpoint: string;
  /** Endpoint of the image service; the same as `endpoint` when empty. */
  readonly imageEndpoint?: string;
  /** Applies to every call except the removal of an image, which has no timeout. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly metrics?: Metrics;
}

const UID_LABEL = 'io.kubernetes.pod.uid';
const SANDBOX_READY = 0;

function imageOf(image: Image): RuntimeImage {
  return {
    id: image.id,
    runtimeHandler: image.spec?.runtimeHandler ?? '',
    tags: image.repoTags,
    digests: image.repoDigests,
    size: image.size,
    pinned: image.pinned,
  };
}

function sandboxOf(sandbox: PodSandbox): RuntimeSandbox {
  return {
    id: sandbox.id,
    podUid: sandbox.metadata?.uid ?? '',
    foreign: (sandbox.labels[UID_LABEL] ?? '') === '',
    ready: sandbox.state === SANDBOX_READY,
    createdAt: sandbox.createdAt,
    attempt: sandbox.metadata?.attempt ?? 0,
  };
}

/** The field `sandboxImage` of the configuration that some runtimes report. */
function sandboxImageOf(info: Readonly<Record<string, string>>): string | undefined {
  const image = parsedObject(info['config'] ?? '')?.['sandboxImage'];
  return typeof image === 'string' && image !== '' ? image : undefined;
}

type List = 'images' | 'containers' | 'sandboxes';

/** A container runtime over CRI v1 (NODE-010). It remembers which streams the runtime lacks, until the runtime becomes unreachable. */
export class CriRuntime implements Runtime {
  readonly #options: CriRuntimeOptions;
  readonly #runtimeGrpc: UnixGrpc;
  readonly #imageGrpc: UnixGrpc;
  readonly #runtime: Client<typeof RuntimeService>;
  readonly #images: Client<typeof ImageService>;
  readonly #runtimeLists: Client<typeof RuntimeLists>;
  readonly #imageLists: Client<typeof ImageLists>;
  readonly #listedImages = listedImages();
  readonly #listedContainers = listedContainers();
  readonly #withoutStream = new Set<List>();
  readonly #operations: Counter;
  readonly #errors: Counter;
  readonly #durations: Histogram;

  constructor(options: CriRuntimeOptions) {
    this.#options = options;
    const { endpoint, imageEndpoint = '', metrics = noMetrics } = options;
    this.#runtimeGrpc = new UnixGrpc(endpoint);
    this.#imageGrpc = ['', endpoint].includes(imageEndpoint) ? this.#runtimeGrpc : new UnixGrpc(imageEndpoint);
    this.#runtime = createClient(RuntimeService, this.#runtimeGrpc.transport);
    this.#images = createClient(ImageService, this.#imageGrpc.transport);
    this.#runtimeLists = createClient(RuntimeLists, this.#runtimeGrpc.transport);
    this.#imageLists = createClient(ImageLists, this.#imageGrpc.transport);
    const labelNames = ['operation'];
    this.#operations = metrics.counter({
      name: 'kubegc_node_runtime_operations_total',
      help: 'Calls to the container runtime',
      labelNames,
    });
    this.#errors = metrics.counter({
      name: 'kubegc_node_runtime_operations_errors_total',
      help: 'Calls to the container runtime that failed',
      labelNames,
    });
    this.#durations = metrics.histogram({
      name: 'kubegc_node_runtime_operations_duration_seconds',
      help: 'Time of calls to the container runtime',
      labelNames,
    });
  }

  close(): void {
    this.#runtimeGrpc.close();
    this.#imageGrpc.close();
  }

  async info(): Promise<RuntimeInfo> {
    const version = await this.#call('version', (options) => this.#runtime.version({ version: 'v1' }, options)).catch(
      (error: unknown) => {
        if (!(error instanceof RuntimeCallError) || error.failure !== 'unsupported') throw error;
        throw new RuntimeCallError(
          'version',
          'unsupported',
          `validate CRI v1 runtime API for endpoint "${this.#options.endpoint}": rpc error: code = Unimplemented desc = ${error.message}`,
          { cause: error },
        );
      },
    );
    const status = await this.#call('status', (options) => this.#runtime.status({ verbose: true }, options));
    return {
      name: version.runtimeName,
      version: version.runtimeVersion,
      apiVersion: version.runtimeApiVersion,
      sandboxImage: sandboxImageOf(status.info),
    };
  }

  async listImages(): Promise<RuntimeImage[]> {
    return await this.#list(
      'images',
      'list_images',
      async (options) => (await this.#imageLists.listImages({}, options)).items,
      async function* (this: CriRuntime, options) {
        for await (const { items } of this.#imageLists.streamImages({}, options)) yield items;
      },
      (items) => this.#listedImages.read(items),
    );
  }

  async listContainers(): Promise<RuntimeContainer[]> {
    return await this.#list(
      'containers',
      'list_containers',
      async (options) => (await this.#runtimeLists.listContainers({}, options)).items,
      async function* (this: CriRuntime, options) {
        for await (const { items } of this.#runtimeLists.streamContainers({}, options)) yield items;
      },
      (items) => this.#listedContainers.read(items),
    );
  }

  async listSandboxes(): Promise<RuntimeSandbox[]> {
    return await this.#list(
      'sandboxes',
      'list_podsandbox',
      async (options) => (await this.#runtime.listPodSandbox({}, options)).items,
      async function* (this: CriRuntime, options) {
        for await (const { podSandboxes } of this.#runtime.streamPodSandboxes({}, options)) yield podSandboxes;
      },
      (items) => items.map(sandboxOf),
    );
  }

  async containerStatus(containerId: string): Promise<RuntimeContainerStatus | undefined> {
    const answer = await this.#unlessMissing('container_status', (options) =>
      this.#runtime.containerStatus({ containerId }, options),
    );
    if (answer?.status === undefined) return undefined;
    const { state, finishedAt, logPath, mounts } = answer.status;
    const volumeImages = mounts.flatMap(({ image }) =>
      image === undefined || image.image === '' ? [] : [image.image],
    );
    return { state: stateOf(state), finishedAt, logPath, volumeImages };
  }

  async imageStatus(reference: string): Promise<RuntimeImage | undefined> {
    const answer = await this.#unlessMissing('image_status', (options) =>
      this.#images.imageStatus({ image: { image: reference } }, options),
    );
    return answer?.image && imageOf(answer.image);
  }

  async imageLabels(reference: string): Promise<ImageLabels | undefined> {
    const answer = await this.#unlessMissing('image_status', (options) =>
      this.#images.imageStatus({ image: { image: reference }, verbose: true }, options),
    );
    return answer && labelsOfInfo(answer.info);
  }

  async imageFilesystem(): Promise<string | undefined> {
    const { imageFilesystems } = await this.#call('image_fs_info', (options) => this.#images.imageFsInfo({}, options));
    return imageFilesystems[0]?.fsId?.mountpoint;
  }

  async stopContainer(containerId: string, graceSeconds: number): Promise<void> {
    const timeoutMs = this.#options.timeoutMs + graceSeconds * 1000;
    await this.#unlessMissing(
      'stop_container',
      (options) => this.#runtime.stopContainer({ containerId, timeout: BigInt(graceSeconds) }, options),
      timeoutMs,
    );
  }

  async removeContainer(containerId: string): Promise<void> {
    await this.#unlessMissing('remove_container', (options) => this.#runtime.removeContainer({ containerId }, options));
  }

  async stopSandbox(podSandboxId: string): Promise<void> {
    await this.#unlessMissing('stop_podsandbox', (options) => this.#runtime.stopPodSandbox({ podSandboxId }, options));
  }

  async removeSandbox(podSandboxId: string): Promise<void> {
    await this.#unlessMissing('remove_podsandbox', (options) =>
      this.#runtime.removePodSandbox({ podSandboxId }, options),
    );
  }

  async *containerEvents(signal: AbortSignal): AsyncGenerator<void> {
    try {
      for await (const _ of this.#runtime.getContainerEvents({}, { signal })) yield;
    } catch (error) {
      if (signal.aborted) return;
      throw callError('container_events', error);
    }
  }

  async removeImage(id: string, runtimeHandler: string): Promise<void> {
    await this.#unlessMissing(
      'remove_image',
      (options) => this.#images.removeImage({ image: { image: id, runtimeHandler } }, options),
      undefined,
    );
  }

  /**
   * Reads a list as one stream where the runtime has it, else as one answer (NODE-013, NODE-230). A broken stream yields no items at all.
   */
  async #list<Wire, T>(
    list: List,
    operation: string,
    unary: (options: CallTimeout) => Promise<readonly Wire[]>,
    stream: (this: CriRuntime, options: CallTimeout) => AsyncGenerator<readonly Wire[]>,
    convert: (wire: readonly Wire[]) => T[],
  ): Promise<T[]> {
    if (!this.#withoutStream.has(list)) {
      try {
        return await this.#call(operation, async (options) => {
          const all: Wire[] = [];
          for await (const part of stream.call(this, options)) for (const each of part) all.push(each);
          // Only a whole list shows which items are gone.
          return convert(all);
        });
      } catch (error) {
        if (!(error instanceof RuntimeCallError) || error.failure !== 'unsupported') throw error;
        this.#withoutStream.add(list);
      }
    }
    return await this.#call(operation, async (options) => convert(await unary(options)));
  }

  async #unlessMissing<T>(
    operation: string,
    send: (options: CallTimeout) => Promise<T>,
    timeoutMs: number | undefined = operation === 'remove_image' ? undefined : this.#options.timeoutMs,
  ): Promise<T | undefined> {
    return await this.#call(
      operation,
      async (options) => {
        try {
          return await send(options);
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      },
      timeoutMs,
    );
  }

  async #call<T>(
    operation: string,
    send: (options: CallTimeout) => Promise<T>,
    timeoutMs: number | undefined = operation === 'remove_image' ? undefined : this.#options.timeoutMs,
  ): Promise<T> {
    const { clock } = this.#options;
    const from = clock.monotonic();
    try {
      return await send(timeoutMs === undefined ? {} : { timeoutMs });
    } catch (error) {
      const failed = callError(operation, error, timeoutMs);
      // The next runtime on this socket may be a newer one that has the streams.
      if (failed.failure === 'unreachable') this.#withoutStream.clear();
      if (!isUnimplemented(error)) this.#errors.inc({ operation });
      throw failed;
    } finally {
      this.#operations.inc({ operation });
      this.#durations.observe((clock.monotonic() - from) / 1000, { operation });
    }
  }
}

interface CallTimeout {
  readonly timeoutMs?: number;
}
