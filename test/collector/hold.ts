import type { Rig } from './rig.ts';

/** Lists and watches whose target matches wait until the returned function is called. */
export function holdIntake(rig: Rig, target: RegExp): () => void {
  const waiting: (() => void)[] = [];
  let open = false;
  rig.faults.on({ method: 'GET', target }, async (request, next) => {
    if (!open) await new Promise<void>((go) => waiting.push(go));
    return next(request);
  });
  return () => {
    open = true;
    for (const go of waiting) go();
  };
}
