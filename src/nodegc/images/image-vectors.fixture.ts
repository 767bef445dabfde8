/** Threshold arithmetic. Sizes are decimal text, because some are above 2^53. An undefined `goal` means that the pass does not run. */
export const thresholdVectors: readonly {
  readonly id: string;
  readonly capacity: string | undefined;
  readonly available: string;
  readonly high: number;
  readonly low: number;
  readonly usage: number | undefined;
  readonly goal: string | undefined;
}[] = [
  ['TH-01', '107374182400', '16106127360', 85, 80, 85, '5368709120'],
  ['TH-02', '107374182400', '16106127361', 85, 80, 85, '5368709119'],
  ['TH-03', '1000', '159', 85, 80, 85, '41'],
  ['TH-04', '1000', '160', 85, 80, 84, undefined],
  ['TH-05', '1000', '1200', 85, 80, 0, undefined],
  ['TH-06', '0', '0', 85, 80, undefined, undefined],
  ['TH-07', '241081344', '25190400', 90, 80, 90, '23025868'],
  ['TH-08', '100', '0', 100, 80, 100, '20'],
  ['TH-09', '100', '1', 100, 99, 99, undefined],
  ['TH-10', '999', '100', 90, 0, 90, '899'],
  ['TH-11', '10000000000000', '1400000000000', 85, 80, 86, '600000000000'],
  ['TH-12', '9007199254740993', '900719925474099', 85, 80, 91, '900719925474099'],
  ['TH-13', '3', '1', 66, 50, 67, '0'],
  ['TH-14', '3', '1', 68, 50, 67, undefined],
  ['TH-15', undefined, '5', 85, 80, undefined, undefined],
].map(([id, capacity, available, high, low, usage, goal]) => ({
  id: id as string,
  capacity: capacity as string | undefined,
  available: available as string,
  high: high as number,
  low: low as number,
  usage: usage as number | undefined,
  goal: goal as string | undefined,
}));

/** Times in seconds. */
export interface VectorImage {
  readonly id: string;
  readonly size: number;
  readonly first: number;
  readonly used?: number;
  readonly inUse?: true;
  readonly pinned?: true;
  readonly handler?: string;
}

export const baseSet: readonly VectorImage[] = [
  { id: 'a', size: 100, first: 0, used: 9000 },
  { id: 'b', size: 200, first: 10, used: 8000 },
  { id: 'c', size: 300, first: 20 },
  { id: 'd', size: 400, first: 5 },
  { id: 'e', size: 500, first: 0, used: 10000, inUse: true },
  { id: 'f', size: 600, first: 0, pinned: true },
  { id: 'g', size: 700, first: 9950 },
];

export interface ImageVector {
  readonly id: string;
  readonly images: readonly VectorImage[];
  /** A test has either this disk, or a goal in bytes from which a disk is made. */
  readonly disk?: {
    readonly capacity: number;
    readonly available: number;
    readonly high: number;
    readonly low: number;
  };
  readonly goal?: number;
  readonly operation?: 'deleteUnused';
  readonly maximumAge?: number;
  readonly startTime?: number;
  readonly failing?: Readonly<Record<string, string>>;
  readonly order: string;
  readonly age: string;
  /** Undefined: the space pass does not run. */
  readonly space: string | undefined;
  readonly freed: number;
  readonly error?: string;
  readonly event?: 'FreeDiskSpaceFailed';
}

const A = baseSet;
const INSUFFICIENT =
  "Insufficient free disk space on the node's image filesystem (90% of 97.7 KiB used). Failed to free sufficient space by deleting unused images " +
  '(freed 1000 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.';

/** `now` is 10000 s, the minimum age 120 s. */
export const imageVectors: readonly ImageVector[] = [
  { id: 'IM-01', images: A, goal: 1, order: 'd c g b a', age: '', space: 'd', freed: 400 },
  { id: 'IM-02', images: A, goal: 400, order: 'd c g b a', age: '', space: 'd', freed: 400 },
  { id: 'IM-03', images: A, goal: 401, order: 'd c g b a', age: '', space: 'd c', freed: 700 },
  { id: 'IM-04', images: A, goal: 1000, order: 'd c g b a', age: '', space: 'd c b a', freed: 1000 },
  { id: 'IM-05', images: A, operation: 'deleteUnused', order: 'd c g b a', age: '', space: 'd c b a', freed: 1000 },
  {
    id: 'IM-06',
    images: A,
    goal: 500,
    failing: { c: 'boom' },
    order: 'd c g b a',
    age: '',
    space: 'd b',
    freed: 600,
    error: 'wanted to free 500 bytes, but freed 600 bytes space with errors in image deletion: boom',
  },
  { id: 'IM-07', images: A, goal: 50, maximumAge: 1500, order: 'd c g b a', age: 'd c g b', space: 'a', freed: 100 },
  {
    id: 'IM-08',
    images: A,
    goal: 50,
    maximumAge: 1500,
    startTime: 8500,
    order: 'd c g b a',
    age: '',
    space: 'd',
    freed: 400,
  },
  {
    id: 'IM-09',
    goal: 5,
    order: 'y z x',
    age: '',
    space: 'y z',
    freed: 6,
    images: [
      { id: 'x', first: 7, size: 1 },
      { id: 'y', first: 3, size: 2 },
      { id: 'z', first: 5, size: 4 },
    ],
  },
  {
    id: 'IM-10',
    goal: 10,
    order: 'x y',
    age: '',
    space: 'x',
    freed: 1,
    event: 'FreeDiskSpaceFailed',
    images: [
      { id: 'x', first: 9880, size: 1 },
      { id: 'y', first: 9881, size: 1 },
    ],
  },
  {
    id: 'IM-11',
    goal: 10,
    order: 'x',
    age: '',
    space: '',
    freed: 0,
    event: 'FreeDiskSpaceFailed',
    images: [{ id: 'x', first: 0, used: 10000, size: 1 }],
  },
  {
    id: 'IM-12',
    images: A,
    goal: 50,
    maximumAge: 1500,
    failing: { d: 'boom' },
    order: 'd c g b a',
    age: 'c g b',
    space: undefined,
    freed: 0,
    error: 'wanted to free images older than 25m0s, encountered errors in image deletion: boom',
  },
  {
    id: 'IM-13',
    images: A,
    disk: { capacity: 1000, available: 160, high: 85, low: 80 },
    order: 'd c g b a',
    age: '',
    space: undefined,
    freed: 0,
  },
  {
    id: 'IM-14',
    images: A,
    disk: { capacity: 100000, available: 10000, high: 90, low: 85 },
    order: 'd c g b a',
    age: '',
    space: 'd c b a',
    freed: 1000,
    event: 'FreeDiskSpaceFailed',
    error: INSUFFICIENT,
  },
];
