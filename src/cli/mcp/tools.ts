import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { CascadePlan } from '../../cascade/documents/cascade-plan.ts';
import { deleteObjects } from '../cascade/delete.ts';
import { preview } from '../cascade/preview.ts';
import { tree } from '../cascade/tree.ts';
import { explainObject } from '../take-back/explain.ts';
import { lint } from '../take-back/lint.ts';
import { undo } from '../take-back/undo.ts';
import { answer, documentOf, warningsOf } from './command-result.ts';
import type { McpFlags } from './mcp-flags.ts';

const objects = z
  .array(z.string().regex(/^[^\s/]+\/[^\s/]+$/, 'TYPE/NAME, for example deployment/web'))
  .min(1)
  .describe('objects as TYPE/NAME, for example deployment/web');
const namespace = z.string().optional().describe('namespace; that of the context unless given');
const deletion = {
  objects,
  namespace,
  cascade: z
    .enum(['background', 'foreground', 'orphan'])
    .optional()
    .describe('propagation policy; the default of each type unless given'),
  gracePeriodSeconds: z.number().int().min(0).optional().describe('for pods; each its own unless given'),
};

const READS = { readOnlyHint: true, openWorldHint: true } as const;

interface Deletion {
  readonly objects: readonly string[];
  readonly namespace?: string | undefined;
  readonly cascade?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/**
 * Adds the tools. Each runs a command of `kubectl cascade` with `-o json` and the credentials of the program. Without a digest nothing
 * deletes.
 */
export function addTools(server: McpServer, flags: McpFlags): void {
  const within = <T extends { readonly namespace?: string | undefined }>({ namespace: other }: T): McpFlags =>
    other === undefined ? flags : { ...flags, namespace: other };
  const planFlags = ({ cascade, gracePeriodSeconds, ...rest }: Deletion) => ({
    ...within(rest),
    assumeFinalizers: 'removed' as const,
    ...(cascade === undefined ? {} : { cascade }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriod: String(gracePeriodSeconds) }),
  });

  server.registerTool(
    'tree',
    {
      title: 'Ownership tree',
      description:
        'Shows what objects own, all the way down, or who owns them; with how many objects die with each (dies). Returns a Graph.',
      inputSchema: {
        objects,
        namespace,
        up: z.boolean().optional().describe('owners above instead of dependents below'),
        depth: z.number().int().min(1).optional().describe('levels; all unless given'),
      },
      annotations: READS,
    },
    (input) => {
      const depth = input.depth === undefined ? {} : { depth: String(input.depth) };
      const up = input.up === true ? { up: true } : {};
      return documentOf((terminal) =>
        tree(input.objects, { ...within(input), output: 'json', ...up, ...depth }, terminal),
      );
    },
  );
  server.registerTool(
    'explain',
    {
      title: 'Why an object is alive or stuck',
      description:
        'Why an object is alive, or why it does not go away: owners with proofs, finalizers with who set them, the first cause, and the next safe step. Returns an Explanation.',
      inputSchema: { object: z.string().describe('TYPE/NAME, for example namespace/shop'), namespace },
      annotations: READS,
    },
    (input) => documentOf((terminal) => explainObject([input.object], { ...within(input), output: 'json' }, terminal)),
  );
  server.registerTool(
    'lint',
    {
      title: 'Wrong ownership',
      description:
        'Owner references that are wrong, objects that a collector would delete now, objects that are stuck. Returns a LintReport.',
      inputSchema: {
        namespace,
        allNamespaces: z.boolean().optional(),
        olderThan: z.string().optional().describe('report objects that have been terminating longer, for example 5m'),
      },
      annotations: READS,
    },
    ({ olderThan = '5m', allNamespaces = false, ...input }) =>
      documentOf((terminal) => lint({ ...within(input), olderThan, allNamespaces, output: 'json' }, terminal)),
  );
  server.registerTool(
    'preview',
    {
      title: 'Preview of a deletion',
      description:
        'Every object that a deletion would touch, with its outcome, reason and order; roots with their wave where they go one after another. Changes nothing. Returns a CascadePlan.',
      inputSchema: deletion,
      annotations: READS,
    },
    (input) => documentOf((terminal) => preview(input.objects, { ...planFlags(input), output: 'json' }, terminal)),
  );
  server.registerTool(
    'plan',
    {
      title: 'Plan a deletion',
      description:
        'The same in short, to ask a person with: roots with their waves, counts, data that would be lost, and the digest that apply_plan needs. Changes nothing.',
      inputSchema: deletion,
      annotations: READS,
    },
    async (input) => {
      const result = await documentOf((terminal) =>
        preview(input.objects, { ...planFlags(input), output: 'json' }, terminal),
      );
      if (result.isError === true) return result;
      const { objects: touched, ...short } = result.structuredContent as unknown as CascadePlan;
      const inWaves = short.roots.some(({ wave = 1 }) => wave > 1);
      const next = `apply_plan with the same input and this digest${inWaves ? '; it deletes wave after wave' : ''}`;
      const notDeleted = touched.filter(({ outcome }) => outcome !== 'deleted').slice(0, MOST_SHOWN);
      return answer({ ...short, notDeleted, next }, warningsOf(result));
    },
  );
  if (flags.readOnly === true) return;
  server.registerTool(
    'apply_plan',
    {
      title: 'Carry a plan out',
      description:
        'Deletes what plan has shown, if the cluster still gives the same digest; else nothing. Records every object first, waits for the end, and returns the CascadeRecord: undo takes its id.',
      inputSchema: {
        ...deletion,
        digest: z
          .string()
          .regex(/^[0-9a-f]{12,64}$/)
          .describe('digest of the plan, 12 hex characters or more'),
        budget: z.number().int().min(1).optional().describe('refuse a plan that removes more objects'),
        timeoutSeconds: z.number().int().min(1).max(3600).optional().describe('limit of the wait; 60 unless given'),
      },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ digest, budget, timeoutSeconds = 60, ...input }) =>
      documentOf((terminal) =>
        deleteObjects(
          input.objects,
          {
            ...planFlags(input),
            digest,
            ...(budget === undefined ? {} : { budget: [String(budget)] }),
            timeout: `${timeoutSeconds}s`,
            output: 'json',
          },
          terminal,
        ),
      ),
  );
  server.registerTool(
    'undo',
    {
      title: 'Take a deletion back',
      description:
        'Brings back what a recorded deletion removed, owners first. Deletes nothing. With dryRun it returns an UndoPlan, else an UndoResult.',
      inputSchema: {
        id: z.string().min(1).describe('id of the record, from apply_plan'),
        dryRun: z.boolean().optional(),
        onConflict: z
          .enum(['fail', 'skip'])
          .optional()
          .describe('a name that is taken: fail creates nothing, skip keeps it'),
      },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ id, dryRun = false, onConflict = 'fail' }) =>
      documentOf((terminal) =>
        undo({ id }, { ...flags, managed: 'rebuild', onConflict, dryRun, yes: true, output: 'json' }, terminal),
      ),
  );
}

/** Maximum number of objects in a short plan that are not simply deleted. */
const MOST_SHOWN = 20;
