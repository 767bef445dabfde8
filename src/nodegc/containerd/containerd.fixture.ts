import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import { ImageService, RuntimeService } from '../cri/runtime.generated.ts';
import { Containers } from './containers.generated.ts';
import { Content } from './content.generated.ts';
import { Images } from './images.generated.ts';
import { Leases } from './leases.generated.ts';
import { Snapshots } from './snapshots.generated.ts';

/** A containerd with one image, one container that uses it, and an empty lease. It counts the calls that a test may want to see. */
export class SimulatedContainerd {
  readonly calls: string[] = [];
  readonly blobs: { digest: string; size: bigint; labels: Record<string, string> }[] = [
    { digest: 'manifest', size: 1n, labels: { 'containerd.io/gc.ref.content.config': 'config' } },
    { digest: 'config', size: 2n, labels: { 'containerd.io/gc.ref.snapshot.overlayfs': 'top' } },
  ];
  readonly images = ['team/app:1', 'sha256:config'].map((name) => ({ name, target: { digest: 'manifest' } }));
  /** Ids of the images that the runtime interface lists. */
  readonly listed = ['config'];
  /** The content of blobs, in the pieces in which they are sent. */
  readonly contents = new Map<string, readonly string[]>();
  /** Called before each answer, with the name of the call. An error that it throws becomes the answer. */
  before: (call: string) => void = () => undefined;

  /** The services of the runtime interface and those of containerd itself. */
  readonly routes = (router: ConnectRouter): void => {
    const { calls, blobs, contents, images, listed } = this;
    const called = (call: string): void => {
      this.before(call);
      calls.push(call);
    };
    router.service(Images, {
      list: () => (called('images'), { images: images.map((each) => ({ ...each, createdAt: { seconds: 1n } })) }),
      delete: ({ name }) => {
        called(`delete ${name}`);
        images.splice(0, images.length, ...images.filter((each) => each.name !== name));
        return {};
      },
    });
    router.service(Content, {
      async *list() {
        called('blobs');
        yield { info: blobs };
      },
      async *read({ digest }) {
        called(`read ${digest}`);
        const parts = contents.get(digest);
        if (parts === undefined) throw new ConnectError('no such blob', Code.NotFound);
        for (const part of parts) yield { data: Buffer.from(part) };
      },
    });
    router.service(Snapshots, {
      async *list({ snapshotter }) {
        called(`snapshots of ${snapshotter}`);
        yield { info: snapshotter === 'overlayfs' ? [{ name: 'top', kind: 3 }] : [{ name: 'writable', kind: 2 }] };
      },
      usage: ({ key }) => (called(`size of ${key}`), { size: 100n }),
    });
    router.service(Containers, {
      list: () => (called('containers'), { containers: [{ id: 'c', snapshotter: 'native', snapshotKey: 'writable' }] }),
    });
    router.service(Leases, {
      list: () => (called('leases'), { leases: [{ id: 'l' }] }),
      listResources: ({ id }) => (called(`resources of ${id}`), { resources: [] }),
    });
    router.service(RuntimeService, {
      version: () => ({ runtimeName: 'containerd', runtimeVersion: 'v2.0.0', runtimeApiVersion: 'v1' }),
      status: () => ({}),
      listContainers: () => ({
        containers: [
          { id: 'c', imageRef: 'config', imageId: 'config', image: { image: 'team/app:1' }, metadata: { name: 'app' } },
        ],
      }),
      containerStatus: () => ({ status: { id: 'c', state: 1 } }),
      listPodSandbox: () => ({ items: [] }),
    });
    router.service(ImageService, {
      listImages: () => {
        called('listed images');
        const tags = images.map(({ name }) => name).filter((name) => name.startsWith('team/'));
        return { images: listed.map((id) => ({ id, size: 103n, repoTags: id === 'config' ? tags : [] })) };
      },
      imageFsInfo: () => ({ imageFilesystems: [{ fsId: { mountpoint: '/' } }] }),
    });
  };
}
