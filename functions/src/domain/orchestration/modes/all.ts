/** Every answer, failures included, in the order of the request. */
import { allFailed, askAll, failureWarnings, isValid, type ModeResult, type Round, reasonOf } from './ask.ts';

export async function all(round: Round): Promise<ModeResult> {
  const answers = await askAll(round);
  const valid = answers.filter(isValid);
  if (valid.length === 0) return allFailed(answers);
  const sections = answers.map(
    (result) =>
      `## ${result.agent}\n\n${isValid(result) ? result.answer.text : `Failed: ${reasonOf(result)}`}`,
  );
  return {
    answers,
    output: sections.join('\n\n'),
    explanation: `${valid.length} of ${answers.length} agents answered.`,
    warnings: failureWarnings(answers),
    furtherCalls: [],
  };
}
