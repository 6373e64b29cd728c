/** Switches for approvals, each for one or more tools. */
import type { z } from 'zod/mini';
import type { workspaceDocument } from '../../live/documents.ts';

export type ApprovalRule = NonNullable<z.output<typeof workspaceDocument>['approvals']>[number];

interface Asked {
  readonly name: 'code' | 'models' | 'pullRequests' | 'commits';
  readonly tools: readonly string[];
}

export const ASKED: readonly Asked[] = [
  { name: 'code', tools: ['coding.create_task'] },
  {
    name: 'models',
    tools: ['orchestrate', 'orchestrate_workflow', 'orchestrate_parallel', 'execute_code', 'execute_task'].map(
      (tool) => `orchestration.${tool}`,
    ),
  },
  { name: 'pullRequests', tools: ['github.createPR'] },
  { name: 'commits', tools: ['github.commitFiles', 'github.createBranch'] },
];

/** Returns the rules with or without rules for the tools. Rules that exist keep their limit and the person they ask. */
export function withRule(
  rules: readonly ApprovalRule[],
  tools: readonly string[],
  isOn: boolean,
): readonly ApprovalRule[] {
  if (!isOn) return rules.filter(({ tool }) => !tools.includes(tool));
  const missing = tools.filter((tool) => rules.every((rule) => rule.tool !== tool));
  return [...rules, ...missing.map((tool) => ({ tool, above_usd: null, asks: null }))];
}
