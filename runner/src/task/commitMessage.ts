import { cut } from '../text.ts';

const MAX_SUBJECT_CHARACTERS = 72;

/** Returns the message of the commit in which the runner stores an agent's work. */
export function commitMessage(description: string, taskId: string): string {
  const [subject = ''] = description.trim().split('\n');
  return `${cut(subject, MAX_SUBJECT_CHARACTERS)}\n\nMuster-Task: ${taskId}\n`;
}
