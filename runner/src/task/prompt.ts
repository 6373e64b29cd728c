import type { ClaimedTask } from '../hub/hub.ts';

/** What the agent is told. */
export function promptFor(task: ClaimedTask, acceptance: string | undefined): string {
  const { description, instructions, branch, previous } = task;
  const rules = [
    `You are in a git worktree on the branch "${branch}". Stay on it. You may commit; what you leave uncommitted is committed for you.`,
  ];
  if (acceptance !== undefined) rules.push(`When you are done, this command must succeed: ${acceptance}`);
  if (previous !== undefined)
    rules.push(
      `An earlier attempt ended early (${previous.failure.class}). Its work is on this branch: look at it first, and go on from there.`,
    );
  return `${description}\n\n${instructions}\n\n${rules.join('\n')}\n`;
}
