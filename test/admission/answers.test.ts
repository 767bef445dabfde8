import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConversionAnswerError, convertedObjects } from '../../src/apiserver/apiextensions/conversion-review.ts';
import { deniedBy } from '../../src/apiserver/admission/webhook/webhook-errors.ts';
import { verifyReview } from '../../src/apiserver/admission/webhook/admission-review.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';

/** Whatever a webhook answers is an answer or a reason why it is none: nothing it can say breaks the server. */
const uid = 'u';
const review = (group: string, response: unknown): unknown => ({
  kind: group === 'admission.k8s.io' ? 'AdmissionReview' : 'ConversionReview',
  apiVersion: `${group}/v1`,
  response,
});

/** A JSON value, now and then with a part of a real answer in it. */
const anything = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom<unknown>(undefined, [], {}, '', 'W10=', true));

describe('API-351 API-464 answers of any shape', () => {
  it('an AdmissionReview', () => {
    const fields = fc.record(
      {
        uid: fc.oneof(fc.constant(uid), anything),
        allowed: fc.oneof(fc.boolean(), anything),
        status: fc.oneof(
          anything,
          fc.record({ message: anything, reason: anything, code: anything, details: anything }, { requiredKeys: [] }),
        ),
        patch: anything,
        patchType: fc.oneof(fc.constant('JSONPatch'), anything),
        warnings: anything,
        auditAnnotations: anything,
      },
      { requiredKeys: [] },
    );
    const answers = fc.oneof(
      anything,
      fields.map((response) => review('admission.k8s.io', response)),
    );
    fc.assert(
      fc.property(
        answers,
        fc.boolean(),
        fc.constantFrom('v1' as const, 'v1beta1' as const),
        (answer, mutating, version) => {
          const verified = verifyReview(answer, { version, uid, mutating });
          if (verified.outcome === 'invalid') {
            expect(verified.why).not.toBe('');
            return;
          }
          const { response } = verified;
          expect(typeof response.allowed).toBe('boolean');
          expect(response.patch === undefined || (mutating && typeof response.patch.text === 'string')).toBe(true);
          const denial = deniedBy('hook', response.result);
          expect(denial.code).toBeGreaterThanOrEqual(400);
          expect(denial.message).toMatch(/^admission webhook "hook" denied the request/);
          expect(response.warnings.every((warning) => typeof warning === 'string')).toBe(true);
        },
      ),
    );
  });

  it('a ConversionReview', () => {
    const original: KubeObject = {
      apiVersion: 'g.io/v1',
      kind: 'A',
      metadata: { name: 'a', namespace: 'n', uid: '1', labels: { x: 'y' }, finalizers: ['f/g'] },
    };
    const object = fc.record(
      {
        apiVersion: fc.oneof(fc.constant('g.io/v2'), anything),
        kind: fc.oneof(fc.constant('A'), anything),
        metadata: fc.oneof(
          fc.record(
            {
              name: fc.constant('a'),
              namespace: fc.constant('n'),
              uid: fc.constant('1'),
              labels: fc.oneof(fc.dictionary(fc.string(), fc.string()), anything),
              annotations: anything,
              finalizers: anything,
            },
            { requiredKeys: ['name', 'namespace', 'uid'] },
          ),
          anything,
        ),
        spec: anything,
      },
      { requiredKeys: [] },
    );
    const response = fc.record(
      {
        uid: fc.oneof(fc.constant(uid), anything),
        result: fc.oneof(fc.constant({ status: 'Success' }), anything),
        convertedObjects: fc.oneof(fc.array(fc.oneof(object, anything), { maxLength: 2 }), anything),
      },
      { requiredKeys: [] },
    );
    const answers = fc.oneof(
      anything,
      response.map((said) => review('apiextensions.k8s.io', said)),
    );
    const desired = { group: 'g.io', version: 'v2' };
    fc.assert(
      fc.property(answers, (answer) => {
        let converted: readonly KubeObject[];
        try {
          converted = convertedObjects(answer, 'v1', { uid, desired, objects: [original] });
        } catch (error) {
          expect(error).toBeInstanceOf(ConversionAnswerError);
          return;
        }
        expect(converted).toHaveLength(1);
        const { labels: _labels, annotations: _annotations, ...kept } = converted[0]?.metadata ?? {};
        expect(kept).toEqual({ name: 'a', namespace: 'n', uid: '1', finalizers: ['f/g'] });
        expect([converted[0]?.apiVersion, converted[0]?.kind]).toEqual(['g.io/v2', 'A']);
      }),
      { numRuns: 300 },
    );
  });
});
