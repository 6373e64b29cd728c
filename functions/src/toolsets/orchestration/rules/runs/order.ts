/** What a run is to do, as it was asked and with its agents chosen. */

import { nodeKey } from '../../../../graph/rules/node.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { canonicalJson, requireSize } from '../../../../kernel/json.ts';
import type { Hashing } from '../../../../kernel/ports.ts';
import type { Chance } from '../agents/standing.ts';
import { isCacheable } from '../workflows/definition.ts';
import { progressOf } from '../workflows/progress.ts';
import { assignAgents } from './assignment.ts';
import type { RunRequest } from './newRun.ts';
import type { RunOrder } from './run.ts';

/** An input with its context and workflow is one document. */
const MAX_ORDER_BYTES = 600_000;

/**
 * @param chance of the run
 * @returns `asked` is the same for the same request; `order` has the agents that were chosen for this run
 * @throws MusterError VALIDATION_ERROR where it is too much for one document, or for a prompt of the first steps;
 * FORBIDDEN where the workspace allows no agent
 */
export function ordersOf(
  { workflow, input, context, budget, parallel, situation }: RunRequest,
  chance: Chance,
): { readonly asked: RunOrder; readonly order: RunOrder; readonly reasons: readonly string[] } {
  const { forbidden } = situation.routing;
  const asked = { workflow, input, context, budget, parallel, forbidden };
  requireSize('A run', 'input', asked, MAX_ORDER_BYTES);
  const { next } = progressOf(workflow, asked, new Map());
  if (next.kind === 'failed' && next.reason === 'PROMPT_TOO_LARGE') {
    throw new MusterError('VALIDATION_ERROR', `Step "${next.at.name}": ${next.error}`, {
      field: 'workflow',
      reason: next.reason,
      suggestion: 'Name what is long once in a template, or send less of it.',
    });
  }
  const { workflow: assigned, reasons } = assignAgents(workflow, input, situation, chance);
  return { asked, order: { ...asked, workflow: assigned }, reasons };
}

/**
 * Returns the key under which the answer is cached; undefined if it is not. The key has the owner, since callers must not
 * learn what others have asked, and the models, since an answer of another model is another answer. It does not have the
 * agents that were chosen: the same question has one answer, whoever gave it.
 */
export function answerKeyOf(
  hashing: Hashing,
  { cache, situation, partOf }: Pick<RunRequest, 'cache' | 'situation' | 'partOf'>,
  asked: RunOrder,
  {
    ownerUid,
    workspace,
    models,
  }: { readonly [Name in 'ownerUid' | 'workspace']: string } & {
    readonly models: readonly string[];
  },
): string | undefined {
  if (!cache || !isCacheable(asked.workflow)) return undefined;
  const forWhat = partOf === undefined ? [] : [nodeKey(partOf)];
  return hashing.sha256(canonicalJson([ownerUid, workspace, asked, models, situation.routing, ...forWhat]));
}
