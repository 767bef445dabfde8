import { describe, expect, it } from 'vitest';
import { defaultPod } from './defaults-pod.ts';

function defaulted(resources: object, containers: object[]): unknown {
  const pod = { spec: { resources, containers: containers.map((own) => ({ name: 'c', image: 'i', resources: own })) } };
  defaultPod(pod);
  return pod.spec.resources;
}

describe('API-500 resources that a pod has as a whole', () => {
  it('requests are those of the containers together, else the limits', () => {
    expect(
      defaulted({ limits: { cpu: '2', memory: '1Gi', 'hugepages-2Mi': '4Mi' } }, [
        { requests: { cpu: '100m' } },
        { limits: { cpu: '200m' } },
      ]),
    ).toEqual({
      limits: { cpu: '2', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
      requests: { cpu: '300m', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
    });
  });

  it('limits of huge pages are those of the containers, unless the pod requests some', () => {
    const pages = { limits: { 'hugepages-2Mi': '2Mi' } };
    expect(defaulted({ requests: { cpu: '1' } }, [pages, pages])).toEqual({
      requests: { cpu: '1', 'hugepages-2Mi': '4Mi' },
      limits: { 'hugepages-2Mi': '4Mi' },
    });
    expect(defaulted({ requests: { 'hugepages-2Mi': '8Mi' } }, [pages])).toEqual({
      requests: { 'hugepages-2Mi': '8Mi' },
    });
  });

  it('nothing is made up where the pod says nothing, or only what it requests', () => {
    expect(defaulted({}, [{ requests: { cpu: '1' } }])).toEqual({});
    expect(defaulted({ requests: { cpu: '1' } }, [{ requests: { memory: '1Gi' } }])).toEqual({
      requests: { cpu: '1' },
    });
  });
});
