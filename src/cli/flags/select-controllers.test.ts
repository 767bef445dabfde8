import { describe, expect, it } from 'vitest';
import { controllerNames, offByDefault } from '../../assembly/controller-names.ts';
import { selectControllers } from './select-controllers.ts';

const gc = 'garbage-collector-controller';
const others = controllerNames.filter((name) => name !== gc && !offByDefault.has(name));

describe('--controllers (COL-200)', () => {
  it.each([
    { words: ['*'], expected: [gc, ...others] },
    { words: [`*,-${gc}`], expected: others },
    { words: ['*', '-garbagecollector'], expected: others },
    { words: [gc], expected: [gc] },
    { words: ['garbagecollector, namespace'], expected: [gc, 'namespace-controller'] },
    { words: [`-${gc}`, '*', gc], expected: others },
    { words: [''], expected: [] },
  ])('$words selects $expected', ({ words, expected }) => {
    expect([...selectControllers(words)]).toEqual(expected);
  });

  it('LIFE-731 not built, refused: PodGroups are not protected, and the name of their controller is unknown', () => {
    const select = () => selectControllers(['podgroup-protection-controller']);
    expect(select).toThrow('"podgroup-protection-controller" is not in the list of known controllers');
  });

  it('refuses a name it does not know and lists those it knows', () => {
    expect(() => selectControllers(['*', 'garbage'])).toThrow('"garbage" is not in the list of known controllers');
  });
});
