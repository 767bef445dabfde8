// Bundles test/cascade/preview-truth-main.ts, so that nothing is loaded while it runs, and runs it with the same arguments.
import { bundledProgram } from './bundled-program.mjs';

await import(await bundledProgram('test/cascade/preview-truth-main.ts'));
