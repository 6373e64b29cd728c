/** Canned answers for `npm start -- --demo-models`, in the forms that the built-in workflows expect. */
import type { Question } from './dialect.ts';

const LENGTH = 300;

export function cannedResponse({ model, prompt }: Question): string {
  const shown = prompt.length > LENGTH ? `${prompt.slice(0, LENGTH)}…` : prompt;
  const output = `[Canned answer: npm start -- --demo-models does not call ${model}.] The prompt was: ${shown}`;
  return [...firstLine(prompt), output, ...lastLine(prompt)].join('\n\n');
}

/** Returns the verdict with which the prompt expects a review to start. */
function firstLine(prompt: string): readonly string[] {
  return ['NO FINDINGS', 'APPROVED'].filter((verdict) => prompt.includes(`the line ${verdict}`));
}

/** Returns the ranking with which a judge's answer must end, as in the example in the prompt. */
function lastLine(prompt: string): readonly string[] {
  return /letters, best first: ([A-Z](?: > [A-Z])+)/.exec(prompt)?.slice(1) ?? [];
}
