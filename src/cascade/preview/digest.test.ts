import fc from 'fast-check';
import { expect, it } from 'vitest';
import { orderByUid } from './digest.ts';

/** uids as of a cluster, uids that begin with the same digits, and texts that nobody would take for a uid. */
const uid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((text) => `00000000${text.slice(8)}`),
  fc.string({ maxLength: 12 }),
);

it('CAS-016 takes objects for the digest in the order of the JSON texts of their uids', () => {
  const arrays = [fc.uniqueArray(uid), fc.uniqueArray(fc.uuid(), { maxLength: 200 })];
  fc.assert(
    fc.property(fc.oneof(...arrays), (uids) => {
      const found = Array.from(
        orderByUid(uids.length, (place) => uids[place]!),
        (place) => JSON.stringify(uids[place]),
      );
      expect(found).toEqual(uids.map((each) => JSON.stringify(each)).toSorted());
    }),
  );
});
