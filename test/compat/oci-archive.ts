import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

/** One entry of a tar archive. */
export interface TarEntry {
  readonly name: string;
  readonly content?: Uint8Array;
  /** A symbolic link to this. */
  readonly link?: string;
  readonly mode?: number;
}

const BLOCK = 512;

function header({ name, content, link, mode = 0o755 }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(name, 0, 100);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(content?.length ?? 0, 11), 124);
  block.write(octal(0, 11), 136);
  block.write('        ', 148);
  block.write(link === undefined ? (name.endsWith('/') ? '5' : '0') : '2', 156);
  if (link !== undefined) block.write(link, 157, 100);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(
    octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    ),
    148,
  );
  return block;
}

/** A tar archive (ustar). Names and links are shorter than 100 characters. */
export function tar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = entry.content ?? new Uint8Array();
    return [header(entry), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

export interface Layer {
  readonly digest: string;
  readonly diffId: string;
  readonly bytes: Buffer;
  readonly mediaType: string;
}

const sha256 = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** @param compressed as most images are; what is in it then counts a multiple on the disk */
export function layer(entries: readonly TarEntry[], compressed = false): Layer {
  const plain = tar(entries);
  const bytes = compressed ? gzipSync(plain) : plain;
  const mediaType = `application/vnd.oci.image.layer.v1.tar${compressed ? '+gzip' : ''}`;
  return { digest: sha256(bytes), diffId: sha256(plain), bytes, mediaType };
}

/** A layer with the shell and its commands, from a busybox that needs no library. */
export async function busyboxLayer(busybox: string): Promise<Layer> {
  const commands = ['sh', 'sleep', 'true', 'false', 'echo', 'cat'];
  return layer([
    { name: 'bin/' },
    { name: 'bin/busybox', content: await readFile(busybox) },
    ...commands.map((name) => ({ name: `bin/${name}`, link: 'busybox' })),
  ]);
}

/** A layer of this many bytes: random ones, or with `compressible` three quarters of zeros under compression. */
export function fillerLayer(bytes: number, compressible = false): Layer {
  const content = compressible
    ? Buffer.concat([randomBytes(bytes / 4), Buffer.alloc(bytes - bytes / 4)])
    : randomBytes(bytes);
  return layer([{ name: 'filler', content }], compressible);
}

export interface ArchivedImage {
  /** With registry and tag. */
  readonly name: string;
  readonly layers: readonly Layer[];
  readonly command?: readonly string[];
  /** Besides the label `name`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Takes the place of the configuration: one that nobody can read. */
  readonly brokenConfig?: string;
}

function configOf({ name, layers, command = ['/bin/sleep', 'infinity'], labels, brokenConfig }: ArchivedImage): Buffer {
  const config = {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Cmd: command, Labels: { name, ...labels } },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
  };
  return Buffer.from(brokenConfig ?? JSON.stringify(config));
}

/** The digest of an image's configuration, which is its id. */
export const imageIdOf = (image: ArchivedImage): string => sha256(configOf(image));

/** An OCI archive of images that share what layers they share. */
export function ociArchive(images: readonly ArchivedImage[]): Buffer {
  const blobs = new Map<string, Buffer>();
  const put = (bytes: Buffer): { digest: string; size: number } => {
    const digest = sha256(bytes);
    blobs.set(digest, bytes);
    return { digest, size: bytes.length };
  };
  const manifests = images.map((image) => {
    const { name, layers } = image;
    const config = put(configOf(image));
    for (const { digest, bytes } of layers) blobs.set(digest, bytes);
    const manifest = put(
      Buffer.from(
        JSON.stringify({
          schemaVersion: 2,
          mediaType: 'application/vnd.oci.image.manifest.v1+json',
          config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
          layers: layers.map(({ digest, mediaType, bytes }) => ({ mediaType, digest, size: bytes.length })),
        }),
      ),
    );
    return {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      ...manifest,
      annotations: { 'io.containerd.image.name': name },
    };
  });
  return tar([
    { name: 'oci-layout', content: Buffer.from('{"imageLayoutVersion":"1.0.0"}') },
    { name: 'index.json', content: Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })) },
    ...[...blobs].map(([digest, content]) => ({ name: `blobs/sha256/${digest.slice('sha256:'.length)}`, content })),
  ]);
}
