/** Containers as `id@created`, in seconds. A last character `!` means running, `+` created, `?` unknown state. */
export interface ContainerVector {
  readonly id: string;
  readonly units: Readonly<Record<string, string>>;
  readonly perUnit: number;
  readonly total: number;
  readonly removed: string;
  readonly kept: string;
  /** Pods that no source knows. */
  readonly unknownPods?: readonly string[];
  /** Pods that are terminated but not deleted. */
  readonly terminatedPods?: readonly string[];
  readonly sourcesReady?: false;
  readonly pressure?: true;
  readonly minAge?: number;
  /** The containers that stay when every place is filled; given only where that differs from `kept`. */
  readonly keptWithAllPlaces?: string;
}

const three = { 'p1/a': 'a0@0 a1@1 a2@2' };
const twice = { ...three, 'p2/b': 'b0@3 b1@4 b2@5' };
const singles = { 'p1/a': 'a0@0', 'p2/b': 'b0@3', 'p3/c': 'c0@1' };
const pairs = { 'p1/a': 'a0@0 a1@9', 'p2/b': 'b0@3 b1@4' };
const fives = {
  'p1/a': 'a0@0 a1@1 a2@2 a3@3 a4@4',
  'p2/b': 'b0@5 b1@6 b2@7 b3@8 b4@9',
  'p3/c': 'c0@10 c1@11 c2@12 c3@13 c4@14',
};

/** `now` is 100 s. */
export const containerVectors: readonly ContainerVector[] = [
  { id: 'CT-01', units: three, perUnit: 1, total: -1, removed: 'a0 a1', kept: 'a2' },
  { id: 'CT-02', units: three, perUnit: -1, total: -1, removed: '', kept: 'a0 a1 a2' },
  { id: 'CT-03', units: twice, perUnit: 2, total: 4, removed: 'a0 b0', kept: 'a1 a2 b1 b2' },
  {
    id: 'CT-04',
    units: twice,
    perUnit: 2,
    total: 3,
    removed: 'a0 b0 a1 b1',
    kept: 'a2 b2',
    keptWithAllPlaces: 'a2 b1 b2',
  },
  {
    id: 'CT-05',
    units: { ...three, 'p2/b': 'b0@3' },
    perUnit: -1,
    total: 3,
    removed: 'a0 a1',
    kept: 'a2 b0',
    keptWithAllPlaces: 'a1 a2 b0',
  },
  { id: 'CT-06', units: singles, perUnit: 1, total: 2, removed: 'a0', kept: 'b0 c0' },
  { id: 'CT-07', units: singles, perUnit: 1, total: 0, removed: 'a0 c0 b0', kept: '' },
  { id: 'CT-08', units: pairs, perUnit: 0, total: -1, removed: 'a0 a1 b0 b1', kept: '' },
  { id: 'CT-09', units: pairs, perUnit: 2, total: -1, unknownPods: ['p2'], removed: 'b0 b1', kept: 'a0 a1' },
  {
    id: 'CT-10',
    units: pairs,
    perUnit: 2,
    total: -1,
    unknownPods: ['p2'],
    sourcesReady: false,
    removed: '',
    kept: 'a0 a1 b0 b1',
  },
  {
    id: 'CT-11',
    units: { 'p1/a': 'a0@0 a1@1 a2@2 a3@3 a4@4 a5@5 a6@6', 'p2/b': 'b0@7', 'p3/c': 'c0@8' },
    perUnit: -1,
    total: 5,
    removed: 'a0 a1 a2 a3 a4 a5',
    kept: 'a6 b0 c0',
    keptWithAllPlaces: 'a4 a5 a6 b0 c0',
  },
  {
    id: 'CT-12',
    units: fives,
    perUnit: 4,
    total: 10,
    removed: 'a0 b0 c0 a1 b1 c1',
    kept: 'a2 a3 a4 b2 b3 b4 c2 c3 c4',
    keptWithAllPlaces: 'a3 a4 b1 b2 b3 b4 c1 c2 c3 c4',
  },
  {
    id: 'CT-13',
    units: { 'p1/a': 'a0@0 a1@1 a2@2 a3@3', 'p1/b': 'b0@0.5 b1@1.5 b2@2.5 b3@3.5' },
    perUnit: 3,
    total: 1,
    removed: 'a0 b0 a1 a2 b1 b2 a3',
    kept: 'b3',
  },
  {
    id: 'CT-14',
    units: { 'p1/a': 'a0@0 a1@1 a2@2', 'p2/b': 'b0@3 b1@4 b2@5', 'p3/c': 'c0@6 c1@7 c2@8' },
    perUnit: 3,
    total: 9,
    removed: '',
    kept: 'a0 a1 a2 b0 b1 b2 c0 c1 c2',
  },
  { id: 'CT-15', units: { 'p1/a': 'a0@100 a1@50 a2@75' }, perUnit: 1, total: -1, removed: 'a1 a2', kept: 'a0' },
  { id: 'CT-16', units: { 'p1/a': 'r@0! x@1 y@2' }, perUnit: 1, total: -1, removed: 'x', kept: 'r y' },
  { id: 'CT-17', units: { 'p1/a': 'x@40 y@41' }, perUnit: 0, total: -1, minAge: 60, removed: 'x', kept: 'y' },
  { id: 'CT-18', units: { 'p1/a': 'k@0+' }, perUnit: 0, total: -1, removed: 'k', kept: '' },
  { id: 'CT-19', units: { 'p1/a': 'u@0?' }, perUnit: 1, total: -1, unknownPods: ['p1'], removed: 'u', kept: '' },
  {
    id: 'CT-20 periodic',
    units: { 'p1/a': 'a0@0 a1@1' },
    perUnit: 1,
    total: -1,
    terminatedPods: ['p1'],
    removed: 'a0',
    kept: 'a1',
  },
  {
    id: 'CT-20 pressure',
    units: { 'p1/a': 'a0@0 a1@1' },
    perUnit: 1,
    total: -1,
    terminatedPods: ['p1'],
    pressure: true,
    removed: 'a0 a1',
    kept: '',
  },
];
